import { expect, it } from "vitest";
import { walkLists } from "../../../src/mirror/lists/walk-lists.ts";

it("ends all else of the run where the walks cannot be opened", async () => {
  const abort = new AbortController();
  const lost = new Error("the database is away");
  const run = { abort, clock: { now: () => new Date() }, patience: () => Promise.reject(lost) };
  const options = { turns: [[{ resource: "build", kind: "full" }]], settings: {}, resumable: [] };
  const walked = walkLists(run as never, options as never);
  await expect(walked).rejects.toBe(lost);
  expect(abort.signal.reason).toBe(lost);
});
