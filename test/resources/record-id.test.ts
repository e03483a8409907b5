import { describe, expect, it } from "vitest";
import { recordId } from "../../src/resources/record-id.ts";

describe("recordId", () => {
  it.each([
    ['{"id": "42"}', "42"],
    ['{"id": 42}', "42"],
    ['{"id": 0}', "0"],
    ['{"id": 9007199254740991}', "9007199254740991"],
    ['{"id": "007"}', "007"],
    ['{"id": "pip"}', "pip"],
    ['{"id": " "}', " "],
    [JSON.stringify({ id: "9".repeat(255) }), "9".repeat(255)],
  ])("of %s is %j", (json, id) => {
    expect(recordId(JSON.parse(json))).toBe(id);
  });

  it.each([
    ["{}"],
    ['{"id": null}'],
    ['{"id": ""}'],
    ['{"id": true}'],
    ['{"id": 1.5}'],
    ['{"id": 1e400}'],
    ['{"id": 9007199254740993}'],
    ['{"id": ["42"]}'],
    ['{"id": {"id": "42"}}'],
    ['{"id": "4\\u00002"}'],
    ['{"id": "\\ud800"}'],
    [JSON.stringify({ id: "9".repeat(256) })],
    ['{"__proto__": {"id": "42"}}'],
    ["null"],
    ['"42"'],
    ["42"],
    ['[{"id": "42"}]'],
  ])("%s has none", (json) => {
    expect(recordId(JSON.parse(json))).toBeNull();
  });

  it("is never taken from a prototype", () => {
    expect(recordId(Object.create({ id: "42" }))).toBeNull();
  });
});
