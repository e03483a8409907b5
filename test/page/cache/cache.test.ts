import { describe, expect, it } from "vitest";
import { BusyError, createGate } from "../../../src/page/cache/gate.ts";
import { createPageCache } from "../../../src/page/cache/kept-pages.ts";
import { createSingleFlight } from "../../../src/page/cache/single-flight.ts";

/** Makings that are under way, each of which ends when the test says so. */
function createMaker<T>() {
  const made: { signal?: AbortSignal; resolve(value: T): void; reject(error: Error): void }[] = [];
  const make = (signal?: AbortSignal) =>
    new Promise<T>((resolve, reject) => {
      made.push({ ...(signal && { signal }), resolve, reject });
    });
  return { make, made };
}

const createReader = () => {
  const reader = new AbortController();
  return { signal: reader.signal, leave: () => reader.abort(new Error("gone")) };
};

const page = (body: string) => ({ status: 200 as const, body });
type Page = ReturnType<typeof page>;

describe("a single flight", () => {
  it("gives one result to all who ask for a key meanwhile, and makes the next one anew", async () => {
    const { make, made } = createMaker<string>();
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
    const { make, made } = createMaker<string>();
    const flights = createSingleFlight<string>();
    const [first, second] = [createReader(), createReader()];
    const replies = [first, second].map(({ signal }) => flights.join("a", make, signal));
    first.leave();
    await expect(replies[0]).rejects.toThrow("gone");
    expect(made[0]?.signal?.aborted).toBe(false);
    second.leave();
    await expect(replies[1]).rejects.toThrow("gone");
    expect(made[0]?.signal?.aborted).toBe(true);
    // A caller that comes after that does not wait for what is being stopped.
    const anew = flights.join("a", make, createReader().signal);
    made[0]?.reject(new Error("stopped"));
    made[1]?.resolve("new");
    expect(await anew).toBe("new");
  });

  it("fails for all who share it", async () => {
    const { make, made } = createMaker<string>();
    const flights = createSingleFlight<string>();
    const { signal } = createReader();
    const both = [flights.join("a", make, signal), flights.join("a", make, signal)];
    made[0]?.reject(new Error("no database"));
    for (const one of both) await expect(one).rejects.toThrow("no database");
  });
});

describe("a page cache", () => {
  it("makes a page once for all who ask meanwhile, and not again until the revision changes", async () => {
    const { make, made } = createMaker<Page>();
    const cache = createPageCache();
    const both = [cache.find("/", "1", make), cache.find("/", "1", make)];
    made[0]?.resolve(page("a page"));
    const [first, second] = await Promise.all(both);
    expect(first).toBe(second);
    expect(await cache.find("/", "1", make)).toBe(first);
    expect(made).toHaveLength(1);
    const anew = cache.find("/", "2", make);
    made[1]?.resolve(page("another page"));
    expect((await anew).etag).not.toBe(first?.etag);
    expect(made).toHaveLength(2);
  });

  it("forgets a page that could not be made", async () => {
    const { make, made } = createMaker<Page>();
    const cache = createPageCache();
    const failed = cache.find("/", "1", make);
    made[0]?.reject(new Error("no database"));
    await expect(failed).rejects.toThrow("no database");
    const again = cache.find("/", "1", make);
    made[1]?.resolve(page("a page"));
    expect((await again).body).toBe("a page");
  });

  it("gives a page to all who wait for it, also when the cache has let go of it meanwhile", async () => {
    const { make, made } = createMaker<Page>();
    const cache = createPageCache(30);
    const slow = cache.find("slow", "1", make);
    for (const key of ["a", "b", "c"]) {
      await cache.find(key, "1", async () => page("0123456789"));
    }
    made[0]?.resolve(page("a page"));
    expect((await slow).body).toBe("a page");
  });

  it("lets go of what was asked for least lately when it is full", async () => {
    const cache = createPageCache(30);
    const made: string[] = [];
    const find = (key: string) =>
      cache.find(key, "1", async () => {
        made.push(key);
        return page("0123456789");
      });
    for (const key of ["a", "b", "a", "c", "a", "b"]) await find(key);
    expect(made).toEqual(["a", "b", "c", "b"]);
    await cache.find("big", "1", async () => page("x".repeat(100)));
    // A page that is larger than the cache leaves the others in it.
    await find("b");
    expect(made).toEqual(["a", "b", "c", "b"]);
  });
});

const STAYS = new AbortController().signal;
const BOUNDS = { atOnce: 2, waiting: 2, patienceMs: 60_000 };

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
