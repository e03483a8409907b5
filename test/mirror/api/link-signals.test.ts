import { getEventListeners } from "node:events";
import { expect, it } from "vitest";
import { withSignals } from "../../../src/mirror/api/link-signals.ts";

it.each([
  ["succeeds", async () => "done"],
  ["fails", async () => Promise.reject(new Error("no"))],
])("signals that are linked are let go when what runs %s", async (_, run) => {
  const outer = [new AbortController(), new AbortController()].map(({ signal }) => signal);
  await withSignals(outer, run).catch(() => {});
  expect(outer.map((signal) => getEventListeners(signal, "abort"))).toEqual([[], []]);
});
