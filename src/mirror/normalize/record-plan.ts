import { columnName, type FieldKind } from "../../resources/declare.ts";
import { DECLARATIONS, RESOURCES, type Resource, targetOf } from "../../resources/resources.ts";

/** What normalizing needs of a declaration, worked out once. */
export interface RecordPlan {
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
  const entries = Object.entries(DECLARATIONS[resource].fields);
  const fields = entries.map(([name, field]) => ({
    name,
    kind: field.kind,
    column: columnName(name, field),
    target: targetOf(field),
  }));
  const hashed = ["id", ...fields.map(({ name }) => name)];
  return {
    fields,
    hashed,
    isDocumented: new Set(hashed),
    list: fields.find(({ kind }) => kind === "uris")?.name,
    embedded: fields.find(({ kind }) => kind === "embedded")?.name,
    long: entries.filter(([, field]) => field.long).map(([name]) => name),
  };
}
