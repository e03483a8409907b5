import v8 from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createIdSet } from "../../../src/mirror/walk/id-set.ts";

const id = fc.oneof(
  fc.nat(200).map(String),
  fc.constantFrom(..."0 00 007 7 -1 +1 1.0 1e3 4294967295 4294967296 9999999999".split(" "), " 1", ""),
  fc.integer({ min: 0, max: 0xffffffff }).map(String),
  fc.constantFrom(65_535, 65_536, 31, 32, 63, 64, 511, 512, 513, 131_071).map(String),
  fc.string({ maxLength: 4 }),
);

describe("createIdSet", () => {
  it("holds just what a plain Set holds", () => {
    fc.assert(
      fc.property(fc.array(id, { maxLength: 300 }), fc.array(id, { maxLength: 50 }), (added, asked) => {
        const plain = new Set<string>();
        const ids = createIdSet();
        for (const one of added) {
          expect(ids.add(one)).toBe(!plain.has(one));
          plain.add(one);
          expect(ids.size).toBe(plain.size);
        }
        for (const one of [...added, ...asked]) expect(ids.has(one)).toBe(plain.has(one));
      }),
    );
  });

  const heapMb = () => {
    globalThis.gc?.();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return (heapUsed + arrayBuffers) / 1e6;
  };

  it.each([
    ["a million ids in a row", 1_000_000, (n: number) => n + 1, 10],
    // Fibonacci hashing spreads them over all 32 bits.
    ["100,000 ids that are far apart", 100_000, (n: number) => (n * 2_654_435_761) % 2 ** 32, 30],
  ])("takes %s in little memory", { tags: ["long"] }, (_, count, idOf, mostMb) => {
    v8.setFlagsFromString("--expose-gc");
    globalThis.gc ??= runInNewContext("gc") as typeof globalThis.gc;
    const ids = createIdSet();
    const before = heapMb();
    for (let n = 0; n < count; n++) ids.add(String(idOf(n)));
    expect(heapMb() - before).toBeLessThan(mostMb);
    expect(ids.size).toBe(count);
  });
});
