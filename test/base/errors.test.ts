import { describe, expect, it } from "vitest";
import * as errors from "../../src/base/errors.ts";

const FACTS = { url: "http://h/" };
const status = (code: number) => new errors.HttpStatusError("refused", { ...FACTS, status: code });
const EXAMPLES: [string, errors.MirrorError, number][] = [
  ["MirrorError", new errors.MirrorError("x"), 1],
  ["ConfigError", new errors.ConfigError("x"), 2],
  ["UpstreamError", new errors.UpstreamError("x", FACTS), 5],
  ["NotFoundError", new errors.NotFoundError("x"), 12],
  ["HttpStatusError", status(404), 5],
  ["NetworkError", new errors.NetworkError("x", FACTS), 5],
  ["LastingNetworkError", new errors.LastingNetworkError("x", FACTS), 5],
  ["TimeoutError", new errors.TimeoutError("x", FACTS), 5],
  ["UnexpectedShapeError", new errors.UnexpectedShapeError("x", FACTS), 6],
  ["WrongAddressError", new errors.WrongAddressError("x", FACTS), 6],
  ["StoreError", new errors.StoreError("x"), 4],
  ["SchemaVersionError", new errors.SchemaVersionError("x"), 7],
  ["UnprintedError", new errors.UnprintedError("x"), 8],
  ["LockedError", new errors.LockedError("x"), 10],
  ["StoppedError", new errors.StoppedError("SIGINT"), 130],
  ["StoppedError", new errors.StoppedError("SIGTERM"), 143],
];

describe("the errors", () => {
  it("are all among the examples of this test", () => {
    const classes = Object.keys(errors).filter((name) => /^[A-Z].*Error$/.test(name));
    expect(classes.sort()).toEqual([...new Set(EXAMPLES.map(([name]) => name))].sort());
  });

  it.each(EXAMPLES)("%s carries its name and the exit code of the contract", (name, error, exitCode) => {
    expect(error).toBeInstanceOf(errors.MirrorError);
    expect({ name: error.name, exitCode: error.exitCode }).toEqual({ name, exitCode });
  });

  it("keep cause and hint, and have no cause where none was given", () => {
    const cause = new Error("below");
    const facts = { cause, hint: "do" };
    expect(new errors.ConfigError("x", facts)).toMatchObject({ ...facts, message: "x" });
    expect(Object.hasOwn(new errors.ConfigError("x"), "cause")).toBe(false);
  });
});
