import { expect, test } from "vitest";
import { nearestChoices } from "../../../src/page/parts/choices.ts";

const LABELS = { good: "Good", main: "Main docs fail", stuck: "Stuck builds" };
const near = (wrong: string) =>
  nearestChoices(wrong, Object.keys(LABELS) as (keyof typeof LABELS)[], (name) => LABELS[name]);

test.each([
  ["godo", ["good"]],
  ["main docs fial", ["main"]],
  ["Stuck build", ["stuck"]],
  ["xyzzyxyzzyxyzzy", []],
])("%j may mean %j, by a value or by its label, each once", (wrong, choices) => {
  expect(near(wrong)).toEqual(choices);
});

test("a value that is the label of another means itself", () => {
  expect(nearestChoices("swap", ["swap", "other"], (name) => (name === "other" ? "swap" : "else"))).toEqual([
    "swap",
  ]);
});
