import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { normalizePage } from "../../../src/mirror/normalize/page.ts";
import { hashRecord } from "../../../src/mirror/normalize/record-hash.ts";
import { PLANS, readingOf } from "../../../src/mirror/normalize/record-plan.ts";
import { type Declaration, declare, type Fields } from "../../../src/resources/declare.ts";
import { project, type Resource, user, version } from "../../../src/resources/resources.ts";
import { canonicalJson } from "../../support/canonical-json.ts";
import {
  jsonNumber,
  wireBuild,
  wireFile,
  wireProject,
  wireUser,
  wireVersion,
} from "../../support/wire-records.ts";

const KNOWN = ["id", "a", "b", "c"];
const planOf = (hashed: readonly string[], embedded?: string) => ({
  reading: 1,
  hashed,
  isDocumented: new Set(hashed),
  list: undefined,
  embedded,
  dates: [],
});
const hash = (record: Record<string, unknown>) => hashRecord(record, planOf(KNOWN), null, "Etc/UTC");

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
      { numRuns: 1000 },
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

  it("sees of an embedded project its id alone", () => {
    const withProject = (project: unknown, id: string | null) =>
      hashRecord({ project }, planOf(["project"], "project"), id, "Etc/UTC");
    expect(withProject({ id: "4", name: "a" }, "4")).toBe(withProject({ id: "4", name: "b" }, "4"));
    expect(withProject({ id: "4" }, "4")).not.toBe(withProject({ id: "5" }, "5"));
    expect(withProject({ id: "4" }, "4")).not.toBe(withProject("p1:4", null));
    expect(withProject({ id: "4" }, "4")).not.toBe(
      hashRecord({}, planOf(["project"], "project"), null, "Etc/UTC"),
    );
  });
});

const BASE = { baseUrl: new URL("https://docs.example.org"), sourceTimezone: "Etc/UTC" };
const USERS = ["/api/v1/user/9/", "/api/v1/user/10/"];

const PATH = "/api/v1/project/4/";
const withUsers = (users: unknown) => wireProject("4", { users });
const ODD_USER = wireUser("7", { id: 7, last_login: "soon", city: "Ys" });
const ODD_FILE = wireFile("6", null, { name: undefined });
const WHOLE_BUILD = wireBuild("8", { version: "/api/v1/version/5/", output: "ok\u0000" });
const ODD_BUILD = wireBuild("8", { success: "yes", commit: ["a", { b: null }] });

/** Mirrors hold these hashes. A record with another hash is written again, as it must be after its declaration changed. */
const HASHES: [Resource, string, Record<string, unknown>, string][] = [
  ["user", "a whole user", wireUser("7"), "f731d3269b2767fcdc39e3717dc4fdd7"],
  ["user", "a user with odd fields", ODD_USER, "dcdbab872820eb704e2cfe79cc1b3d7a"],
  ["project", "a whole project", withUsers(USERS), "b63434094e174ec4e84c86c04f71a351"],
  [
    "project",
    "its users in another order",
    withUsers(USERS.toReversed()),
    "b63434094e174ec4e84c86c04f71a351",
  ],
  ["project", "users that are no list", withUsers("nobody"), "20cb2e0ed7d26dfc1e107ecf925eadce"],
  [
    "version",
    "a version with its project",
    wireVersion("5", wireProject("4")),
    "8f2bbb5f05d23a2620147b9f28eb7b37",
  ],
  ["version", "one with its project's path", wireVersion("5", PATH), "83d23b5f10911d49d644ed62fcc03568"],
  ["file", "a file with its project", wireFile("6", wireProject("4")), "867a85cce1f4079a47f2fa7efbf7f761"],
  ["file", "a file without a project", ODD_FILE, "ad41eef8da7e9a9496b2b0936202aa56"],
  ["build", "a whole build", WHOLE_BUILD, "534559340dbf820ef6f1331c60eff6ec"],
  ["build", "a build with odd fields", ODD_BUILD, "d7fd1f0bad28e5a0e7e64106b2648314"],
];

describe("the hash of a record that mirrors hold", () => {
  it.each(HASHES)("of a %s is as before: %s", (resource, _name, record, hash) => {
    const { records } = normalizePage(resource, [record], BASE);
    expect(records.map((one) => one.hash)).toEqual([hash]);
  });

  it("of an embedded project is that of the project itself", () => {
    const project = wireProject("4", { users: USERS });
    const { embeddedProjects } = normalizePage("version", [wireVersion("5", project)], BASE);
    const { records } = normalizePage("project", [project], BASE);
    expect(embeddedProjects.map(({ hash }) => hash)).toEqual(records.map(({ hash }) => hash));
  });
});

it("mirrors remember the pages of each resource under these numbers", () => {
  expect(Object.entries(PLANS).map(([resource, { pageReading }]) => [resource, pageReading])).toEqual([
    ["user", 1328415332],
    ["project", 391836601],
    ["version", 1627234754],
    ["file", 2061996497],
    ["build", 124826396],
  ]);
});

const declared = (fields: Fields) => declare({ name: "user", summary: ["id"], fields });
const fields: Fields = { name: { kind: "string" }, owner: { kind: "uri", to: user } };
const before = readingOf(declared(fields));

describe("how records become rows", () => {
  it.each<[string, Fields]>([
    ["with one field more", { ...fields, added: { kind: "boolean" } }],
    ["with one field less", { name: { kind: "string" } }],
    ["in another order", { owner: { kind: "uri", to: user }, name: { kind: "string" } }],
    ["with a field of another kind", { ...fields, name: { kind: "datetime" } }],
    ["with a field of another name", { title: { kind: "string" }, owner: { kind: "uri", to: user } }],
    ["with a text that is kept apart", { ...fields, name: { kind: "string", long: true } }],
    ["with a reference to others", { ...fields, owner: { kind: "uri", to: project } }],
  ])("has another number for the same resource %s", (_name, other) => {
    expect(readingOf(declared(other))).not.toBe(before);
  });

  it("does not depend on what only the schema and filters say", () => {
    const told: Fields = {
      name: { kind: "string", filter: 1, unique: true },
      owner: { kind: "uri", to: user, nullable: true },
    };
    expect(readingOf(declared(told))).toBe(before);
  });

  it("of a page changes with the records inside its records", () => {
    const more: Declaration<"project"> = {
      ...project,
      fields: { ...project.fields, added: { kind: "string" } },
    };
    const other: Declaration = {
      ...version,
      fields: { ...version.fields, project: { kind: "embedded", to: more } },
    };
    expect(readingOf(other, more)).not.toBe(readingOf(version, project));
    // The record itself names them by their ids.
    expect(readingOf(other)).toBe(readingOf(version));
  });

  it("is a number that Postgres holds as an integer", () => {
    for (let count = 0; count < 200; count++) {
      const number = readingOf(declared({ [`field_${count}`]: { kind: "string" } }));
      expect(number).toBe(number & 0x7fffffff);
    }
  });

  it("is a part of the hash of a record", () => {
    const other = { ...PLANS.user, reading: before };
    expect(hashRecord(wireUser("1"), other, null, "Etc/UTC")).not.toBe(
      hashRecord(wireUser("1"), PLANS.user, null, "Etc/UTC"),
    );
  });
});
