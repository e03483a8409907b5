import { hash } from "node:crypto";
import { columnName, type Declaration } from "../../resources/declare.ts";
import { DECLARATIONS, RESOURCES, type Resource, targetOf } from "../../resources/resources.ts";

/** Raise this when the normalizer reads a value in another way. A new field needs no other number: see `readingOf`. */
const NORMALIZER_VERSION = 4;

/**
 * A number for the way in which records, and those within them (`inside`), become rows. The hashes of records and the
 * remembered pages include it. After an upgrade that changes it, the next full walk reads all of them again, once.
 */
export function readingOf(declaration: Declaration, inside?: Declaration): number {
  const fields = [declaration, ...(inside ? [inside] : [])].map((one) =>
    Object.entries(one.fields).map(([name, { kind, to, long }]) => [name, kind, to?.name, long]),
  );
  const text = JSON.stringify([NORMALIZER_VERSION, fields]);
  // An integer of Postgres has 31 bits and a sign.
  return Number.parseInt(hash("sha256", text, "hex").slice(0, 8), 16) >>> 1;
}

/** What normalizing needs of a declaration, worked out once. */
export type RecordPlan = ReturnType<typeof planOf>;
export type PlannedField = RecordPlan["fields"][number];

export const PLANS = Object.fromEntries(
  RESOURCES.map((resource) => [resource, planOf(resource)]),
) as Readonly<Record<Resource, RecordPlan>>;

function planOf(resource: Resource) {
  const declaration = DECLARATIONS[resource];
  const entries = Object.entries(declaration.fields);
  const fields = entries.map(([name, field]) => {
    return { name, kind: field.kind, column: columnName(name, field), target: targetOf(field) };
  });
  const hashed: readonly string[] = ["id", ...fields.map(({ name }) => name)];
  const embedded = entries.find(([, { kind }]) => kind === "embedded");
  return {
    reading: readingOf(declaration),
    /** How a page of them becomes rows, with the projects within it. */
    pageReading: readingOf(declaration, embedded?.[1].to),
    fields,
    /** The keys of a whole record in the order of its hash. */
    hashed,
    isDocumented: new Set(hashed) as ReadonlySet<string>,
    dates: fields.filter(({ kind }) => kind === "datetime").map(({ name }) => name),
    /** The field with a list of references: a set, that services send in any order. */
    list: fields.find(({ kind }) => kind === "uris")?.name,
    /** The field with a whole project. */
    embedded: embedded?.[0],
    /** The fields that go to `build_logs`. */
    long: entries.filter(([, field]) => field.long).map(([name]) => name),
  };
}
