import { describe, expect, it } from "vitest";
import type { Field } from "../../src/resources/declare.ts";
import { parseLocalTime } from "../../src/resources/local-time.ts";
import { parseResourceUri, recordId } from "../../src/resources/record-id.ts";
import {
  DECLARATIONS,
  isResource,
  RESOURCES,
  type Resource,
  targetOf,
} from "../../src/resources/resources.ts";
import { recordedExchanges } from "../support/recorded-exchanges.ts";

/** The compiler takes any other name too. */
const TRAITS = ["nullable", "blank", "unique", "readonly", "default", "filter"];

interface RecordedSchema {
  fields: Record<string, { type: string; related_type?: string }>;
}

/** How the recorded service names the kinds of `FieldKind`; it calls texts and ids the same. */
const RECORDED_TYPES: Record<string, string> = { "related to_one": "related", "related to_many": "related" };

function recordedSchema(resource: Resource): RecordedSchema {
  const path = `/api/v1/${resource}/schema/`;
  const exchange = recordedExchanges().find((one) => one.path.split("?")[0] === path && one.status === 200);
  if (!exchange) throw new Error(`no recorded ${path}`);
  return JSON.parse(exchange.body);
}

function recordedRecords(resource: Resource): Record<string, unknown>[] {
  return recordedExchanges()
    .filter(({ path, status }) => status === 200 && path.startsWith(`/api/v1/${resource}/?`))
    .flatMap(({ body }) => JSON.parse(body).objects as Record<string, unknown>[]);
}

describe.each(RESOURCES)("the fields of %s", (resource) => {
  const { fields } = DECLARATIONS[resource];

  it("have the traits of their kinds", () => {
    for (const [name, { kind, to, long, ...traits }] of Object.entries<Field>(fields)) {
      expect(
        Object.keys(traits).filter((trait) => !TRAITS.includes(trait)),
        name,
      ).toEqual([]);
      expect(long === undefined || kind === "string", name).toBe(true);
      expect(to !== undefined, name).toBe(["uri", "uris", "embedded"].includes(kind));
      if (kind === "embedded") expect(to?.name).toBe("project");
    }
  });

  it("are those of the recorded schema", () => {
    const recorded = Object.keys(recordedSchema(resource).fields).filter((field) => field !== "id");
    expect(Object.keys(fields).sort()).toEqual(recorded.sort());
  });

  it("have the kinds of the recorded schema", () => {
    for (const [field, { type, related_type }] of Object.entries(recordedSchema(resource).fields)) {
      const kind = fields[field]?.kind;
      if (kind === undefined) continue;
      const name = related_type === undefined ? type : (RECORDED_TYPES[`${type} ${related_type}`] ?? type);
      const expected = ["uri", "uris", "embedded"].includes(kind) ? "related" : kind;
      expect({ field, name }).toEqual({ field, name: expected });
    }
  });

  it("hold what was recorded, null aside", () => {
    const records = recordedRecords(resource);
    expect(records.length).toBeGreaterThan(0);
    const base = new URL("http://docs.example.org");
    const refersTo = (field: string, uri: unknown) => {
      const target = parseResourceUri(String(uri), base);
      return target.kind === "record" && target.resource === targetOf(fields[field]);
    };
    const fits: Record<string, (value: unknown, field: string) => boolean> = {
      string: (value) => typeof value === "string",
      boolean: (value) => typeof value === "boolean",
      datetime: (value) => typeof value === "string" && parseLocalTime(value)?.text === value,
      uri: (value, field) => typeof value === "string" && refersTo(field, value),
      uris: (value, field) => Array.isArray(value) && value.every((uri) => refersTo(field, uri)),
      embedded: (value) => recordId(value) !== null,
    };
    for (const record of records) {
      expect(recordId(record)).toBe(record.id);
      for (const [field, { kind }] of Object.entries(fields)) {
        const value = record[field];
        const isFit = value === null || fits[kind]?.(value, field);
        expect({ field, value, isFit }).toMatchObject({ isFit: true });
      }
    }
  });
});

describe("isResource", () => {
  it("knows each resource and nothing that objects inherit", () => {
    expect(RESOURCES.every(isResource)).toBe(true);
    expect(["users", "", "Build", "constructor", "__proto__", "toString"].some(isResource)).toBe(false);
  });
});
