import { describe, expect, it } from "vitest";
import {
  firstRequest,
  parsePageRequest,
  readEnvelope,
  readNext,
  requestText,
} from "../../src/resources/page-request.ts";

const text = (link: string) => {
  const request = parsePageRequest(link);
  return request && requestText(request);
};

describe("parsePageRequest", () => {
  it.each([
    ["/api/v1/user/?limit=20&offset=40", "/api/v1/user/?format=json&limit=20&offset=40"],
    ["/api/v1/user/?offset=40&limit=20", "/api/v1/user/?format=json&limit=20&offset=40"],
    ["/api/v1/user/?format=json&offset=40&limit=20", "/api/v1/user/?format=json&limit=20&offset=40"],
    ["/api/v1/user/?format=xml&offset=40&limit=20", "/api/v1/user/?format=json&limit=20&offset=40"],
    ["/api/v1/user/?username=a%26b&limit=20", "/api/v1/user/?format=json&username=a%26b&limit=20"],
    ["/api/v1/user/?limit=20", "/api/v1/user/?format=json&limit=20"],
    ["/api/v1/user/?limit=20&offset=0", "/api/v1/user/?format=json&limit=20"],
    ["http://h/api/v1/user/?limit=20&offset=40", "http://h/api/v1/user/?format=json&limit=20&offset=40"],
  ])("reads %s, whatever the order of its parameters", (link, expected) => {
    expect(text(link)).toBe(expected);
    expect(text(expected)).toBe(expected);
  });

  it.each([
    ...["", "http://", "/api/v1/user/", "/api/v1/user/?offset=40"],
    ...["/api/v1/user/?limit=&offset=40", "/api/v1/user/?limit=all&offset=40"],
    ...["-20", "x", "1e3", "99999999999999999999"].map((offset) => `/api/v1/user/?limit=20&offset=${offset}`),
  ])("finds no page in %j", (link) => {
    expect(text(link)).toBeNull();
  });

  it("reads back the first request of a list", () => {
    const first = firstRequest("/api/v1/build/", 100);
    expect(requestText(first)).toBe("/api/v1/build/?format=json&limit=100");
    expect(parsePageRequest(requestText(first))).toEqual(first);
  });
});

const META = { limit: 20, next: null, offset: 0, previous: null, total_count: 1 };

describe("readNext", () => {
  const at = { ...firstRequest("/api/v1/build/", 20), offset: 20 };
  const isListPath = (path: string) => path === "/api/v1/build/";

  it.each([
    [null, "nowhere"],
    ["/api/v1/build/?limit=20&offset=40", "on"],
    ["?limit=20&offset=40", "on"],
    ["./?limit=20&offset=40", "on"],
    ["/api/v1/build/?limit=20&offset=20", "back"],
    ["/api/v1/user/?limit=20&offset=40", "elsewhere"],
    ["/api/v1/build/?page=3", "unclear"],
  ])("%j leads %s", (next, leads) => {
    expect(readNext(next, at, isListPath).leads).toBe(leads);
  });
});

describe("readEnvelope", () => {
  it.each([
    ["a whole one", { meta: META, objects: [{ id: "1" }] }],
    ["an empty one", { meta: { ...META, total_count: 0 }, objects: [] }],
    ["one with a next", { meta: { ...META, next: "/api/v1/user/?limit=20&offset=20" }, objects: [] }],
    ["fields that nobody knows", { meta: { ...META, era: 3 }, objects: [], more: true }],
    ["numbers that are none", { meta: { next: null, limit: "20", total_count: null }, objects: [] }],
    ["no number at all", { meta: { next: null }, objects: [] }],
    ["records of any kind", { meta: META, objects: [null, 1, "x", []] }],
  ])("takes %s", (_, value) => {
    expect(readEnvelope(value)).toEqual({ meta: value.meta, objects: value.objects });
  });

  it.each([
    ["no objects", { meta: META }, "objects", "array", "undefined"],
    ["objects that are no list", { meta: META, objects: {} }, "objects", "array", "object"],
    ["no meta", { objects: [] }, "meta", "object", "undefined"],
    ["a meta that is no object", { meta: [], objects: [] }, "meta", "object", "array"],
    [
      "no next: it would end a walk",
      { meta: { limit: 20 }, objects: [] },
      "meta.next",
      "string",
      "undefined",
    ],
    ["a next that is no text", { meta: { ...META, next: 20 }, objects: [] }, "meta.next", "string", "number"],
    ["a next that is no number", { meta: { next: Number.NaN }, objects: [] }, "meta.next", "string", "NaN"],
    ["two faults, by the first", { meta: null, objects: null }, "meta", "object", "null"],
    ["fields of a prototype", JSON.parse('{"__proto__": {"objects": []}}'), "meta", "object", "undefined"],
    [
      "a next of a prototype",
      JSON.parse('{"meta": {"__proto__": {"next": null}}, "objects": []}'),
      "meta.next",
      "string",
      "undefined",
    ],
    ["null", null, "the reply", "object", "null"],
    ["a list", [{ meta: META, objects: [] }], "the reply", "object", "array"],
    ["a record", { id: "1" }, "meta", "object", "undefined"],
    ["a text", "<html>", "the reply", "object", "string"],
    ["infinity", Number.POSITIVE_INFINITY, "the reply", "object", "Infinity"],
  ])("refuses %s", (_, value, where, expected, received) => {
    const fault = `${where}: Invalid input: expected ${expected}, received ${received}`;
    expect(readEnvelope(value)).toEqual({ fault });
  });

  it("hands on the records themselves", () => {
    const record = JSON.parse('{"id": "1", "__proto__": {"x": 1}}');
    const envelope = readEnvelope({ meta: META, objects: [record] });
    expect("objects" in envelope && envelope.objects[0]).toBe(record);
  });

  it("gives a next that Postgres can hold", () => {
    const meta = { ...META, next: "/api/v1/user/?limit=1&offset=1&x=\u0000\ud800" };
    expect(readEnvelope({ meta, objects: [] })).toMatchObject({
      meta: { next: "/api/v1/user/?limit=1&offset=1&x=\uFFFD\uFFFD" },
    });
  });
});
