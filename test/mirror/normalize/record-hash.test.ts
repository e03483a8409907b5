import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { normalizePage } from "../../../src/mirror/normalize/page.ts";
import { hashRecord } from "../../../src/mirror/normalize/record-hash.ts";
import { PLANS, readingOf } from "../../../src/mirror/normalize/record-plan.ts";
import {
  type Declaration,
  datetime,
  declare,
  embedded,
  flag,
  reference,
  text,
} from "../../../src/resources/declare.ts";
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

const BASE = new URL("https://docs.example.org");
const USERS = ["/api/v1/user/9/", "/api/v1/user/10/"];

const PATH = "/api/v1/project/4/";
const withUsers = (users: unknown) => wireProject("4", { users });
const ODD_USER = wireUser("7", { id: 7, last_login: "soon", city: "Ys" });
const ODD_FILE = wireFile("6", null, { name: undefined });
const WHOLE_BUILD = wireBuild("8", { version: "/api/v1/version/5/", output: "ok\u0000" });
const ODD_BUILD = wireBuild("8", { success: "yes", commit: ["a", { b: null }] });

/** Mirrors hold these hashes. A record with another hash is written again, as it must be after its declaration changed. */
const HASHES: [Resource, string, Record<string, unknown>, string][] = [
  ["user", "a whole user", wireUser("7"), "0660ce2a7412fdad6ffceba4ad50bf52"],
  ["user", "a user with odd fields", ODD_USER, "bee3dcc09b8822dcb75aa286979a1bad"],
  ["project", "a whole project", withUsers(USERS), "c12fcc072b1eb1c560d9570686e18734"],
  [
    "project",
    "its users in another order",
    withUsers(USERS.toReversed()),
    "c12fcc072b1eb1c560d9570686e18734",
  ],
  ["project", "users that are no list", withUsers("nobody"), "cb7db7b36387baafc6dcf2dcf358eda5"],
  [
    "version",
    "a version with its project",
    wireVersion("5", wireProject("4")),
    "fee0db7f2b416995a6b743f7d93106a6",
  ],
  ["version", "one with its project's path", wireVersion("5", PATH), "75a9f3bd546a906b506fc5d992228150"],
  ["file", "a file with its project", wireFile("6", wireProject("4")), "26f9440dd5b833ef2811d5af8b554aa1"],
  ["file", "a file without a project", ODD_FILE, "a97134511f6d9710468957e4310d0c1c"],
  ["build", "a whole build", WHOLE_BUILD, "690877b7256b1f6494f6737b5ed830e1"],
  ["build", "a build with odd fields", ODD_BUILD, "1b131aae3c3ac82727e4c009e876e9dd"],
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

it("mirrors remember each page under the number 3", () => {
  const known = [...new Set(HASHES.map(([resource]) => resource))];
  expect(known.map((resource) => [resource, PLANS[resource].pageReading])).toEqual(
    known.map((resource) => [resource, 3]),
  );
});

const declared = (fields: Declaration["fields"]) => declare({ name: "user", summary: ["id"], fields });
const fields = { name: text(), owner: reference(user) };
const before = readingOf(declared(fields));

describe("how records become rows", () => {
  it.each<[string, Declaration["fields"]]>([
    ["with one field more", { ...fields, added: flag() }],
    ["with one field less", { name: fields.name }],
    ["in another order", { owner: fields.owner, name: fields.name }],
    ["with a field of another kind", { ...fields, name: datetime() }],
    ["with a field of another name", { title: text(), owner: fields.owner }],
    ["with a text that is kept apart", { ...fields, name: text({ long: true }) }],
    ["with a reference to others", { ...fields, owner: reference(project) }],
  ])("has another number for the same resource %s", (_name, other) => {
    expect(readingOf(declared(other))).not.toBe(before);
  });

  it("does not depend on what only the schema and filters say", () => {
    const told = { name: text({ filter: 1, unique: true }), owner: reference(user, { nullable: true }) };
    expect(readingOf(declared(told))).toBe(before);
  });

  it("of a page changes with the records inside its records", () => {
    const more: Declaration<"project"> = { ...project, fields: { ...project.fields, added: text() } };
    const other = { ...version, fields: { ...version.fields, project: embedded(more) } };
    expect(readingOf(other, more)).not.toBe(readingOf(version, project));
    // The record itself names them by their ids.
    expect(readingOf(other)).toBe(readingOf(version));
  });

  it("is a number that Postgres holds as an integer", () => {
    for (let count = 0; count < 200; count++) {
      const number = readingOf(declared({ [`field_${count}`]: text() }));
      expect(number).toBe(number & 0x7fffffff);
    }
  });

  it("is a part of the hash of a record", () => {
    const other = { ...PLANS.user, reading: before };
    expect(hashRecord(wireUser("1"), other, null)).not.toBe(hashRecord(wireUser("1"), PLANS.user, null));
  });
});
