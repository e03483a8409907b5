import { expect, test } from "vitest";
import { describeBuild } from "../../src/builds/describe-build.ts";
import { explainBuild } from "../../src/builds/explain-build.ts";
import { pieceText } from "../../src/builds/piece.ts";
import { askForBuild, renderBuild } from "../../src/page/build-page.ts";
import { createToldBuild, withTold } from "../support/told-build.ts";

const ESCAPED: Readonly<Record<string, string>> = {
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&amp;": "&",
};
const textOf = (html: string) =>
  html.replace(/<[^>]*>/g, "").replace(/&(?:lt|gt|quot|#39|amp);/g, (name) => ESCAPED[name] ?? name);

test("the page of a build shows every line that explain prints", async () => {
  await using told = await createToldBuild();
  const { build, quarantine } = await withTold(told, (sql) => explainBuild(sql, "42", "America/Chicago"));
  if (build === null) throw new Error("there is no build 42");
  const description = describeBuild(build, quarantine);
  const page = textOf(String(await renderBuild("42", description, undefined, askForBuild("42"), new Date())));
  const { state, facts, states, changes, quarantine: rows } = description;
  const entries = [...facts, ...states.flatMap((section) => section.entries), ...changes, ...rows];
  const lines = entries.flatMap((entry) => entry.lines.map((line) => line.map(pieceText).join("")));
  expect(lines.length).toBeGreaterThan(40);
  const shown = [state, ...states.map(({ title }) => title), ...lines];
  expect(shown.filter((text) => !page.includes(text))).toEqual([]);
});
