import { describe, expect, it } from "vitest";
import { prettyMessage } from "../../../src/base/log.ts";

const BASE = { level: 30, time: "2026-03-01T00:00:00.000Z" };

describe("a line of the log for people", () => {
  it.each([
    [{ msg: "stopping" }, "stopping"],
    [{ run_id: 7, msg: "run opened", kind: "full" }, "run 7: run opened kind=full"],
    [{ run_id: 7, resource: "build", msg: "walk broke off" }, "run 7 build: walk broke off"],
    [{ resource: "build", msg: "the mirror is too old" }, "build: the mirror is too old"],
  ])("has the run and the list in front: %j", (line, shown) => {
    expect(prettyMessage({ ...BASE, ...line })).toBe(shown);
  });

  it("has short facts behind the sentence, and each long one below, as it is", () => {
    const line = { msg: "up", port: 5432, connect_with: `PGPASSWORD="$(cat x)" psql`, lists: { build: 1 } };
    expect(prettyMessage({ ...BASE, ...line })).toBe(
      `up port=5432\n    connect_with: PGPASSWORD="$(cat x)" psql\n    lists: {"build":1}`,
    );
  });

  it("has no line that foreign text made", () => {
    const line = { msg: "request failed", error: "a\r\n[00:00:00] INFO: sync succeeded" };
    expect(prettyMessage({ ...BASE, ...line })).toBe(
      "request failed\n    error: a\\r\\n[00:00:00] INFO: sync succeeded",
    );
  });

  it("has the stack of an error, indented", () => {
    const err = { type: "Error", message: "m", stack: "Error: m\n    at f" };
    expect(prettyMessage({ ...BASE, msg: "a request failed", err })).toBe(
      "a request failed\n    err: Error: m\n          at f",
    );
  });
});
