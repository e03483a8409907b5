import { hash } from "node:crypto";
import { columnName, type Declaration, type FieldKind } from "../../resources/declare.ts";
import { DECLARATIONS, RESOURCES, type Resource, targetOf } from "../../resources/resources.ts";

/** Raise this when the normalizer reads a value in another way. A new field needs no other number: see `readingOf`. */
const NORMALIZER_VERSION = 5;

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

export interface PlannedField {
  name: string;
  kind: FieldKind;
  /** The column that holds its value; null for a list of references and for a whole project. */
  column: string | null;
  /** The resource that it refers to. */
  target: Resource | undefined;
}

/** The parts of a declaration that normalizing needs, worked out once. */
export interface RecordPlan {
  reading: number;
  /** The same for a page of them, which includes the projects within it. */
  pageReading: number;
  fields: readonly PlannedField[];
  /** The keys of a whole record in the order of its hash. */
  hashed: readonly string[];
  isDocumented: ReadonlySet<string>;
  dates: readonly string[];
  /** The field with a list of references: a set, that services send in any order. */
  list: string | undefined;
  /** The field with a whole project. */
  embedded: string | undefined;
  /** The fields that go to `build_logs`. */
  long: readonly string[];
}

export const PLANS = Object.fromEntries(
  RESOURCES.map((resource) => [resource, planOf(resource)]),
) as Readonly<Record<Resource, RecordPlan>>;

function planOf(resource: Resource): RecordPlan {
  const declaration = DECLARATIONS[resource];
  const entries = Object.entries(declaration.fields);
  const fields = entries.map(([name, field]) => {
    return { name, kind: field.kind, column: columnName(name, field), target: targetOf(field) };
  });
  const hashed = ["id", ...fields.map(({ name }) => name)];
  const embedded = entries.find(([, { kind }]) => kind === "embedded");
  return {
    reading: readingOf(declaration),
    pageReading: readingOf(declaration, embedded?.[1].to),
    fields,
    hashed,
    isDocumented: new Set(hashed),
    dates: fields.filter(({ kind }) => kind === "datetime").map(({ name }) => name),
    list: fields.find(({ kind }) => kind === "uris")?.name,
    embedded: embedded?.[0],
    long: entries.filter(([, field]) => field.long).map(([name]) => name),
  };
}
