import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createIdSet } from "../../src/walk/id-set.ts";

const id = fc.oneof(
  fc.nat(200).map(String),
  fc.constantFrom(
    "0",
    "00",
    "007",
    "7",
    "-1",
    "+1",
    "1.0",
    "1e3",
    " 1",
    "",
    "4294967295",
    "4294967296",
    "9999999999",
  ),
  fc.integer({ min: 0, max: 0xffffffff }).map(String),
  fc.constantFrom(65_535, 65_536, 31, 32, 63, 64, 131_071).map(String),
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

  it("takes a million ids in a row in little memory", () => {
    const ids = createIdSet();
    const before = process.memoryUsage();
    for (let number = 1; number <= 1_000_000; number++) ids.add(String(number));
    const after = process.memoryUsage();
    expect(ids.size).toBe(1_000_000);
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(1024 * 1024);
  });
});
