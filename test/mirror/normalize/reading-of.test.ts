import { describe, expect, it } from "vitest";
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
import { project, user, version } from "../../../src/resources/resources.ts";
import { wireUser } from "../../support/wire-records.ts";

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
