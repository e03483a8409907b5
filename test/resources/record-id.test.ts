import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { otherResource, ownFront, parseResourceUri, recordId } from "../../src/resources/record-id.ts";
import { cpuMsOf } from "../support/cpu-time.ts";
import { anyCharacter } from "../support/wire-records.ts";

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
    ...["{}", "null", "42", '"42"', '[{"id": "42"}]', '{"__proto__": {"id": "42"}}'],
    ...['{"id": null}', '{"id": ""}', '{"id": true}', '{"id": ["42"]}', '{"id": {"id": "42"}}'],
    ...['{"id": 1.5}', '{"id": 1e400}', '{"id": 9007199254740993}', JSON.stringify({ id: "9".repeat(256) })],
    ...['{"id": "4\\u00002"}', '{"id": "\\ud800"}'],
  ])("%s has none", (json) => {
    expect(recordId(JSON.parse(json))).toBeNull();
  });

  it("is never taken from a prototype", () => {
    expect(recordId(Object.create({ id: "42" }))).toBeNull();
  });
});

const BASE = new URL("https://docs.example.org");
const PREFIXED = new URL("https://docs.example.org/old");

describe("parseResourceUri", () => {
  it.each([
    ["/api/v1/project/42/", "project", "42"],
    ["/api/v1/project/42", "project", "42"],
    ["  /api/v1/project/42/\n", "project", "42"],
    ["/api/v1/project/pip/", "project", "pip"],
    ["/api/v1/user/7/?format=json", "user", "7"],
    ["/api/v1/user/7#top", "user", "7"],
    ["/api/v1/version/9/?next=/api/v1/user/2/", "version", "9"],
    ["/api/v1/file/1%202/", "file", "1 2"],
    ["/api/v1/file/a%2Fb/", "file", "a/b"],
    ["/api/v1/project/d%C3%B6cs/", "project", "döcs"],
    ["/api/v1/project/döcs/", "project", "döcs"],
    ["https://docs.example.org/api/v1/build/5/", "build", "5"],
    ["http://docs.example.org/api/v1/build/5/", "build", "5"],
    ["HTTPS://DOCS.EXAMPLE.ORG/api/v1/build/5", "build", "5"],
    ["https://me:secret@docs.example.org/api/v1/build/5/", "build", "5"],
    ["//docs.example.org/api/v1/build/5/", "build", "5"],
  ])("%j names a record", (uri, resource, key) => {
    expect(parseResourceUri(uri, BASE)).toEqual({ kind: "record", resource, key });
  });

  it.each([
    "/old/api/v1/project/42/",
    "/api/v1/project/42/",
    "https://docs.example.org/old/api/v1/project/42/",
  ])("below a prefix %j names a record, with and without the prefix", (uri) => {
    expect(parseResourceUri(uri, PREFIXED)).toEqual({ kind: "record", resource: "project", key: "42" });
  });

  it.each([
    ["/old", "/rtd/api/v1/project/42/", "/rtd"],
    ["", "/rtd/api/v1/project/42", "/rtd"],
    ["", " http://backend:8000/rtd/api/v1/project/42/?x#y", "http://backend:8000/rtd"],
    ["", "//backend/api/v1/project/42/", "//backend"],
    ["/~docs", "/%7Edocs/api/v1/project/42/", ""],
    ["/%7edocs", "/~docs/api/v1/project/42/", ""],
    ["", "/api/v1/project/42/", "/rtd"],
  ])("below %j the reference %j names a record of a service that sees itself at %j", (prefix, uri, front) => {
    const base = new URL(prefix, BASE);
    expect(parseResourceUri(uri, base, front)).toEqual({ kind: "record", resource: "project", key: "42" });
  });

  it.each([
    ["/other/api/v1/project/42/"],
    ["/rtd/rtd/api/v1/project/42/"],
    ["http://backend/rtd/api/v1/project/42/"],
  ])("%j is foreign to a service that sees itself elsewhere", (uri) => {
    expect(parseResourceUri(uri, BASE, "/rtd")).toEqual({ kind: "foreign" });
  });

  const ELSEWHERE = [
    "https://elsewhere.example.org",
    "https://docs.example.org:8443",
    "ftp://docs.example.org",
  ];
  it.each([
    ...[...ELSEWHERE, "/new"].map((base) => `${base}/api/v1/project/42/`),
    ...["//elsewhere.example.org/api/v1/project/42/", "/\\elsewhere.example.org/api/v1/project/42/"],
    ...["javascript:alert(1)", "mailto:me@docs.example.org", "/projects/pip/", "/api/v2/project/42/"],
    ...["/api/v1/team/42/", "/api/v1/constructor/42/", "/api/v1/project/42/users/"],
  ])("%j is foreign", (uri) => {
    expect(parseResourceUri(uri, BASE)).toEqual({ kind: "foreign" });
  });

  it.each([
    ...["", "   ", "42", "api/v1/project/42/", "?id=42", "http://", "http://[::1/api/v1/project/42/"],
    ...["4 2/ or so\n", "%E0%A4%A", "%00", "schema", "set", "..", "%2e%2e", "\ud800", "9".repeat(256)].map(
      (key) => `/api/v1/project/${key}/`,
    ),
    ...["/api/v1/file/search/?q=x", "/api/v1/file/anchor/"],
  ])("%j is malformed", (uri) => {
    expect(parseResourceUri(uri, BASE)).toEqual({ kind: "malformed" });
  });

  it("a very long text costs little and names nothing", async () => {
    const long = ["/api/v1/".repeat(50_000), `/api/v1/project/${"a".repeat(400_000)}`, "/".repeat(400_000)];
    const ms = await cpuMsOf(() => {
      for (const uri of long) expect(parseResourceUri(uri, BASE).kind).not.toBe("record");
    });
    expect(ms).toBeLessThan(2000);
  });

  it("never throws, and a key is one that can be stored", { tags: ["long"] }, () => {
    const piece = fc.oneof(
      fc.constantFrom("/", "//", "api", "v1", "project", ":", "http:", "%", "%00", "..", "?", "#", "@", "\\"),
      fc.string({ unit: anyCharacter, maxLength: 6 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.boolean(), (pieces, below) => {
        const uri = below ? `/api/v1/project/${pieces.join("")}` : pieces.join("");
        const reference = parseResourceUri(uri, PREFIXED);
        if (reference.kind !== "record") return;
        expect(reference.key.length).toBeGreaterThan(0);
        expect(reference.key).not.toContain("\u0000");
        expect(reference.key.isWellFormed()).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  it("reads back every id that it was made of", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }),
        fc.boolean(),
        (key, slash) => {
          fc.pre(!["schema", "search", "anchor", "set", ".", ".."].includes(key));
          const uri = `/api/v1/user/${encodeURIComponent(key)}${slash ? "/" : ""}`;
          expect(parseResourceUri(uri, BASE)).toEqual({ kind: "record", resource: "user", key });
        },
      ),
    );
  });
});

describe("ownFront", () => {
  it.each([
    ["/api/v1/build/7/", ""],
    ["/rtd/api/v1/build/7/", "/rtd"],
    [" http://backend:8000/api/v1/build/7/", "http://backend:8000"],
    ["/rtd/api/v1/user/7/", ""],
    ["/rtd/build/7/", ""],
    ["/rtd/?/api/v1/build/7/", ""],
    ["", ""],
    [null, ""],
  ])("of a build with the resource_uri %j is %j", (resource_uri, front) => {
    expect(ownFront({ id: "7", resource_uri }, "build")).toBe(front);
  });

  it("of a record without a resource_uri is empty", () => {
    expect(ownFront(Object.create({ resource_uri: "/rtd/api/v1/build/7/" }), "build")).toBe("");
  });
});

describe("otherResource", () => {
  const named = (resource_uri: unknown) => ({ resource_uri });

  it.each([
    ["/api/v1/build/7/", "build"],
    ["/api/v1/build/7", "build"],
    [" https://docs.example.org/api/v1/build/7/?format=json", "build"],
    ["/api/v1/subscription/7/", "subscription"],
  ])("is what %j names beside a user", (resource_uri, other) => {
    expect(otherResource({ id: "7", resource_uri }, "user", BASE)).toBe(other);
  });

  it("reads the URI below the prefix of the base URL", () => {
    expect(otherResource({ resource_uri: "/old/api/v1/build/7/" }, "user", PREFIXED)).toBe("build");
    expect(otherResource({ resource_uri: "/old/api/v1/user/7/" }, "user", PREFIXED)).toBeNull();
  });

  it.each([
    ...["/api/v1/user/7/", "https://docs.example.org/api/v1/user/7", "/api/v1/user/another-id/"].map(named),
    ...["https://elsewhere.example.org/api/v1/build/7/", "/old/api/v1/build/7/", "/api/v1/build/"].map(named),
    ...["/api/v2/build/7/", "build 7", "/api/v1/build/%ff/", "", null, { toString: null }].map(named),
    ...[Object.create(named("/api/v1/build/7/")), {}, null, "/api/v1/build/7/"],
  ])("is none in %j beside a user", (record) => {
    expect(otherResource(record, "user", BASE)).toBeNull();
  });
});
