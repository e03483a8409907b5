import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hashRecord } from "../../../src/mirror/normalize/record-hash.ts";
import { canonicalJson } from "../../support/canonical-json.ts";
import { jsonNumber } from "../../support/wire-records.ts";

const KNOWN = ["id", "a", "b", "c"];
const planOf = (hashed: readonly string[], embedded?: string) => ({
  reading: 1,
  hashed,
  isDocumented: new Set(hashed),
  list: undefined,
  embedded,
});
const hash = (record: Record<string, unknown>) => hashRecord(record, planOf(KNOWN), null);

/** Few and near values, so that two of them often look alike once they stand in a row. */
const near: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    fc.constantFrom(null, true, ..."- n 1 1; s1:1 null k1:a p1:4".split(" "), ""),
    fc.constantFrom(1, 12, 2, 23, 3, -1, 1.5, 1e21),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "b", "1:a"), tie("value"), { maxKeys: 2 }),
    jsonNumber(),
  ),
})).value;

const record = fc.dictionary(fc.constantFrom("id", "a", "b", "c", "d", "e", "-", "k1:d"), near, {
  maxKeys: 6,
  noNullPrototype: true,
});

describe("hashRecord", () => {
  it("is 16 bytes in hex", () => {
    expect(hash({ id: "1" })).toMatch(/^[0-9a-f]{32}$/);
  });

  it("is equal just for records that hold the same", () => {
    fc.assert(
      fc.property(record, record, (one, other) => {
        expect(hash(one) === hash(other)).toBe(canonicalJson(one) === canonicalJson(other));
      }),
      { numRuns: 3000 },
    );
  });

  it("does not see the order of keys, at any depth", () => {
    const reversed = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(reversed);
      if (typeof value !== "object" || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, inner]) => [key, reversed(inner)]),
      );
    };
    fc.assert(
      fc.property(record, (one) => {
        expect(hash(reversed(one) as Record<string, unknown>)).toBe(hash(one));
      }),
    );
  });

  it.each([
    [
      { a: 1, b: 23 },
      { a: 12, b: 3 },
    ],
    [
      { a: 1, c: 5 },
      { a: 1, b: -5 },
    ],
    [{ a: null }, {}],
    [{ a: null }, { a: "null" }],
    [{ a: 1 }, { a: "1" }],
    [{ a: true }, { a: "true" }],
    [{ a: "x" }, { b: "x" }],
    [{ a: [1, 2] }, { a: [12] }],
    [{ a: [[1], 2] }, { a: [[1, 2]] }],
    [{ a: [] }, { a: {} }],
    [{ a: ["a,b"] }, { a: ["a", "b"] }],
    [{ d: "x" }, { e: "x" }],
    [
      { d: 1, e: 2 },
      { d: 1, e: 3 },
    ],
    [{ a: "é" }, { a: "e\u0301" }],
    [{ a: "x " }, { a: "x" }],
  ])("of %j is another than of %j", (one, other) => {
    expect(hash(one)).not.toBe(hash(other));
  });

  it("sees of an embedded project its id alone", () => {
    const withProject = (project: unknown, id: string | null) =>
      hashRecord({ project }, planOf(["project"], "project"), id);
    expect(withProject({ id: "4", name: "a" }, "4")).toBe(withProject({ id: "4", name: "b" }, "4"));
    expect(withProject({ id: "4" }, "4")).not.toBe(withProject({ id: "5" }, "5"));
    expect(withProject({ id: "4" }, "4")).not.toBe(withProject("p1:4", null));
    expect(withProject({ id: "4" }, "4")).not.toBe(hashRecord({}, planOf(["project"], "project"), null));
  });
});
