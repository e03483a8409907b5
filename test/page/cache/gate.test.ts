import { describe, expect, it } from "vitest";
import { BusyError, createGate } from "../../../src/page/cache/gate.ts";

const STAYS = new AbortController().signal;
const BOUNDS = { atOnce: 2, waiting: 2, patienceMs: 60_000 };

/** Work that is inside until it is let go. */
function createWork() {
  const inside: (() => void)[] = [];
  const begun: string[] = [];
  const work = (name: string) => () => {
    begun.push(name);
    return new Promise<string>((resolve) => {
      inside.push(() => resolve(name));
    });
  };
  return { work, begun, letGo: () => inside.shift()?.() };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe("a gate", () => {
  it("lets in a few at once and the others in the order in which they came", async () => {
    const { work, begun, letGo } = createWork();
    const gate = createGate(BOUNDS);
    const all = ["a", "b", "c", "d"].map((name) => gate.pass(work(name), STAYS));
    await settle();
    expect(begun).toEqual(["a", "b"]);
    letGo();
    await settle();
    expect(begun).toEqual(["a", "b", "c"]);
    letGo();
    await settle();
    letGo();
    letGo();
    expect(await Promise.all(all)).toEqual(["a", "b", "c", "d"]);
  });

  it("refuses who comes when enough wait", async () => {
    const { work, begun, letGo } = createWork();
    const gate = createGate(BOUNDS);
    const others = ["a", "b", "c", "d"].map((name) => gate.pass(work(name), STAYS));
    await expect(gate.pass(work("e"), STAYS)).rejects.toThrow(BusyError);
    expect(begun).toEqual(["a", "b"]);
    for (const _other of others) {
      letGo();
      await settle();
    }
    await Promise.all(others);
  });

  it("gives up for one who has waited too long", async () => {
    const { work, begun, letGo } = createWork();
    const gate = createGate({ atOnce: 1, waiting: 1, patienceMs: 1 });
    const first = gate.pass(work("a"), STAYS);
    await expect(gate.pass(work("b"), STAYS)).rejects.toThrow(BusyError);
    letGo();
    await first;
    expect(begun).toEqual(["a"]);
  });

  it("forgets who leaves while waiting, so that his place is free", async () => {
    const { work, begun, letGo } = createWork();
    const gate = createGate({ ...BOUNDS, atOnce: 1 });
    const leaving = new AbortController();
    const first = gate.pass(work("a"), STAYS);
    const left = ["b", "c"].map((name) => gate.pass(work(name), leaving.signal));
    leaving.abort(new Error("gone"));
    for (const one of left) await expect(one).rejects.toThrow("gone");
    const last = gate.pass(work("d"), STAYS);
    letGo();
    await first;
    await settle();
    expect(begun).toEqual(["a", "d"]);
    letGo();
    expect(await last).toBe("d");
    await expect(gate.pass(work("e"), leaving.signal)).rejects.toThrow("gone");
  });

  it("is left by work that fails", async () => {
    const gate = createGate({ ...BOUNDS, atOnce: 1 });
    for (let round = 0; round < 3; round++) {
      await expect(gate.pass(() => Promise.reject(new Error("broken")), STAYS)).rejects.toThrow("broken");
    }
    expect(await gate.pass(async () => "whole", STAYS)).toBe("whole");
  });
});
