import { describe, expect, it } from "vitest";
import { createSingleFlight } from "../../../src/page/cache/single-flight.ts";

/** Pages under way, each of which ends when the test says so. */
function createMaker() {
  const made: { signal: AbortSignal; resolve(value: string): void; reject(error: Error): void }[] = [];
  const make = (signal: AbortSignal) =>
    new Promise<string>((resolve, reject) => {
      made.push({ signal, resolve, reject });
    });
  return { make, made };
}

const createReader = () => {
  const reader = new AbortController();
  return { signal: reader.signal, leave: () => reader.abort(new Error("gone")) };
};

describe("a single flight", () => {
  it("gives one result to all who ask for a key meanwhile, and makes the next one anew", async () => {
    const { make, made } = createMaker();
    const flights = createSingleFlight<string>();
    const { signal } = createReader();
    const both = [flights.join("a", make, signal), flights.join("a", make, signal)];
    const other = flights.join("b", make, signal);
    made[0]?.resolve("one");
    made[1]?.resolve("other");
    expect(await Promise.all(both)).toEqual(["one", "one"]);
    expect(await other).toBe("other");
    const next = flights.join("a", make, signal);
    made[2]?.resolve("two");
    expect(await next).toBe("two");
    expect(made).toHaveLength(3);
  });

  it("goes on while one reader stays, and is stopped when the last one leaves", async () => {
    const { make, made } = createMaker();
    const flights = createSingleFlight<string>();
    const [first, second] = [createReader(), createReader()];
    const replies = [first, second].map(({ signal }) => flights.join("a", make, signal));
    first.leave();
    await expect(replies[0]).rejects.toThrow("gone");
    expect(made[0]?.signal.aborted).toBe(false);
    second.leave();
    await expect(replies[1]).rejects.toThrow("gone");
    expect(made[0]?.signal.aborted).toBe(true);
    // Who comes after that does not wait for what is being stopped.
    const anew = flights.join("a", make, createReader().signal);
    made[0]?.reject(new Error("stopped"));
    made[1]?.resolve("new");
    expect(await anew).toBe("new");
  });

  it("fails for all who share it", async () => {
    const { make, made } = createMaker();
    const flights = createSingleFlight<string>();
    const { signal } = createReader();
    const both = [flights.join("a", make, signal), flights.join("a", make, signal)];
    made[0]?.reject(new Error("no database"));
    for (const one of both) await expect(one).rejects.toThrow("no database");
  });
});
