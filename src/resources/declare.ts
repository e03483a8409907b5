/**
 * The kind of value that a documented field holds on the wire (`docs/interface.md`, "Records"). `datetime`:
 * ISO 8601 without a zone. `uri`: the path of one other record. `uris`: an array of such paths. `embedded`:
 * the whole other record. `id` is on every record and in no list of fields.
 */
export type FieldKind = "string" | "boolean" | "datetime" | "uri" | "uris" | "embedded";

/** What the schema of the service says about a field, apart from its kind. */
export interface Traits {
  nullable?: true;
  /** It may be empty, and is so by default. */
  blank?: true;
  unique?: true;
  readonly?: true;
  /** @default none; "" where `blank` */
  default?: string | boolean | null;
  /** Lists may be filtered by it. 1 allows any comparison, 2 also fields of the referenced record. @default no filter */
  filter?: Filtering;
}
export type Filtering = 1 | 2 | "exact";

export interface TextTraits extends Traits {
  /** A long text is kept apart from its record, in `mirror.build_logs`. */
  long?: true;
}

export interface Field extends TextTraits {
  readonly kind: FieldKind;
  /** The resource that the field refers to. */
  readonly to?: Declaration;
}
export type Fields = Readonly<Record<string, Field>>;

export interface Declaration<Name extends string = string, F extends Fields = Fields> {
  readonly name: Name;
  /** Each documented field except `id`. Their order is that of hashes and columns: append, never reorder. */
  readonly fields: F;
  /** The field that sorts the list, before the id (`docs/internals/service.md`, "Order"). @default the id alone */
  readonly order?: { readonly by: string; readonly isDescending?: true };
  /** The field that the key of a detail may name in place of the id. */
  readonly foundBy?: string;
  /** A key that is no id names a record by this reference, and the detail lists all records that refer to it. */
  readonly listedBy?: string;
  /** Names that the schema lists as filters although no field is called so. */
  readonly otherFilters?: Readonly<Record<string, Filtering>>;
  /** What says most about a record, in that order: a narrow terminal shows the first fields. */
  readonly summary: readonly string[];
}

/** The names in a declaration are those of its fields. */
interface Checked<Name extends string, F extends Fields> extends Declaration<Name, F> {
  readonly order?: { readonly by: string & keyof F; readonly isDescending?: true };
  readonly foundBy?: string & keyof F;
  readonly listedBy?: string & keyof F;
  readonly summary: readonly ("id" | (string & keyof F))[];
}

/**
 * Declares a resource. All else derives from it: the type of its records, its columns, how its records are hashed,
 * normalized, filtered and ordered, the served schema, OpenAPI, and what the client checks.
 */
export function declare<const Name extends string, const F extends Fields>(
  declaration: Checked<Name, F>,
): Declaration<Name, F> {
  return declaration;
}

/**
 * `declare` expects any field. Were its expectation inferred here, a field without traits would have the type of any field.
 * TypeScript 5.2, which reads these types with those of the client, does not know NoInfer.
 */
type Made<Kind extends FieldKind, T> = { readonly kind: Kind } & [T][T extends unknown ? 0 : never];

export const text = <const T extends TextTraits>(traits?: T) =>
  ({ kind: "string", ...traits }) as Made<"string", T>;
export const flag = <const T extends Traits>(traits?: T) =>
  ({ kind: "boolean", ...traits }) as Made<"boolean", T>;
export const datetime = <const T extends Traits>(traits?: T) =>
  ({ kind: "datetime", ...traits }) as Made<"datetime", T>;

/** The path of one record. Its column is `<field>_uri`, and the key of the record is `<field>_id`. */
export const reference = <D extends Declaration, const T extends Traits>(to: D, traits?: T) =>
  ({ kind: "uri", to, ...traits }) as Made<"uri", T & { readonly to: D }>;
/** The paths of several records. They are a set, kept in `mirror.project_users`: only projects have one. */
export const references = <D extends Declaration, const T extends Traits>(to: D, traits?: T) =>
  ({ kind: "uris", to, ...traits }) as Made<"uris", T & { readonly to: D }>;
/** A whole project. It goes to `mirror.projects`, and its key is the column `<field>_id`. */
export const embedded = <D extends Declaration<"project">, const T extends Traits>(to: D, traits?: T) =>
  ({ kind: "embedded", to, ...traits }) as Made<"embedded", T & { readonly to: D }>;

/** The record of a declared resource, as the service sends it when it sends all of it. */
export type RecordFrom<D extends Declaration> = {
  [Name in "id" | (string & keyof D["fields"])]: Name extends keyof D["fields"]
    ? ValueOf<D["fields"][Name]>
    : string;
};

type ValueOf<F extends Field> =
  | (F extends { kind: "boolean" }
      ? boolean
      : F extends { kind: "uris" }
        ? string[]
        : F extends { kind: "embedded"; to: infer D extends Declaration }
          ? RecordFrom<D>
          : string)
  | (F extends { nullable: true } ? null : never);

/** The column of a field in the table of its resource. Null when its value is in another table. */
export function columnName(name: string, { kind }: Field): string | null {
  if (kind === "uris" || kind === "embedded") return null;
  return kind === "uri" ? `${name}_uri` : name;
}
