import { columnName, type FieldKind } from "../../resources/declare.ts";
import { DECLARATIONS, RESOURCES, type Resource, targetOf } from "../../resources/resources.ts";
import { readingOf } from "./reading-of.ts";

/** What normalizing needs of a declaration, worked out once. */
export interface RecordPlan {
  /** How its records become rows. */
  reading: number;
  /** How a page of them becomes rows, with the projects within it. */
  pageReading: number;
  fields: readonly PlannedField[];
  /** The keys of a whole record in the order of its hash. */
  hashed: readonly string[];
  isDocumented: ReadonlySet<string>;
  /** The field with a list of references: a set, that services send in any order. */
  list: string | undefined;
  /** The field with a whole project. */
  embedded: string | undefined;
  /** The fields that go to `build_logs`. */
  long: readonly string[];
}

export interface PlannedField {
  name: string;
  kind: FieldKind;
  column: string | null;
  target: Resource | undefined;
}

export const PLANS = Object.fromEntries(
  RESOURCES.map((resource) => [resource, planOf(resource)]),
) as Readonly<Record<Resource, RecordPlan>>;

function planOf(resource: Resource): RecordPlan {
  const declaration = DECLARATIONS[resource];
  const entries = Object.entries(declaration.fields);
  const fields = entries.map(([name, field]) => ({
    name,
    kind: field.kind,
    column: columnName(name, field),
    target: targetOf(field),
  }));
  const hashed = ["id", ...fields.map(({ name }) => name)];
  const embedded = entries.find(([, { kind }]) => kind === "embedded");
  return {
    reading: readingOf(declaration),
    pageReading: readingOf(declaration, embedded?.[1].to),
    fields,
    hashed,
    isDocumented: new Set(hashed),
    list: fields.find(({ kind }) => kind === "uris")?.name,
    embedded: embedded?.[0],
    long: entries.filter(([, field]) => field.long).map(([name]) => name),
  };
}
