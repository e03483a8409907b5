import { describe, expect, it } from "vitest";
import { Envelope } from "../../src/resources/envelope.ts";

const META = { limit: 20, next: null, offset: 0, previous: null, total_count: 1 };

describe("Envelope", () => {
  it.each([
    ["a whole one", { meta: META, objects: [{ id: "1" }] }],
    ["an empty one", { meta: { ...META, total_count: 0 }, objects: [] }],
    ["one with a next", { meta: { ...META, next: "/api/v1/user/?limit=20&offset=20" }, objects: [] }],
    ["fields that nobody knows", { meta: { ...META, era: 3 }, objects: [], more: true }],
    ["numbers that are none", { meta: { next: null, limit: "20", total_count: null }, objects: [] }],
    ["no number at all", { meta: { next: null }, objects: [] }],
    ["records of any kind", { meta: META, objects: [null, 1, "x", []] }],
  ])("takes %s", (_, value) => {
    expect(Envelope.safeParse(value)).toMatchObject({ success: true });
  });

  it.each([
    ["no objects", { meta: META }],
    ["objects that are no list", { meta: META, objects: {} }],
    ["no meta", { objects: [] }],
    ["a meta that is no object", { meta: [], objects: [] }],
    ["no next: it would end the walk early", { meta: { limit: 20, total_count: 500 }, objects: [] }],
    ["a next that is no text", { meta: { ...META, next: 20 }, objects: [] }],
    ["null", null],
    ["a list", [{ meta: META, objects: [] }]],
    ["a record", { id: "1" }],
    ["a text", "<html>"],
  ])("refuses %s", (_, value) => {
    expect(Envelope.safeParse(value).success).toBe(false);
  });

  it("hands on the records themselves", () => {
    const record = JSON.parse('{"id": "1", "__proto__": {"x": 1}}');
    expect(Envelope.parse({ meta: META, objects: [record] }).objects[0]).toBe(record);
  });

  it("gives a next that Postgres can hold", () => {
    const meta = { ...META, next: "/api/v1/user/?limit=1&offset=1&x=\u0000\ud800" };
    expect(Envelope.parse({ meta, objects: [] }).meta.next).toBe(
      "/api/v1/user/?limit=1&offset=1&x=\uFFFD\uFFFD",
    );
  });
});
