/**
 * The kind of value that a documented field holds on the wire (`docs/interface.md`, "Records"). `id` is on every record and
 * in no list of fields.
 *
 * - `datetime`: ISO 8601 without a zone.
 * - `uri`: the path of one record. Its column is `<field>_uri`, and the key of the record is `<field>_id`.
 * - `uris`: the paths of several records. They are a set, kept in `mirror.project_users`: only projects have one.
 * - `embedded`: a whole project. It goes to `mirror.projects`, and its key is the column `<field>_id`.
 */
export type FieldKind = "string" | "boolean" | "datetime" | "uri" | "uris" | "embedded";

export interface Field {
  readonly kind: FieldKind;
  /** The resource that the field refers to. */
  readonly to?: Declaration;
  readonly nullable?: true;
  /** It may be empty, and is so by default. */
  readonly blank?: true;
  readonly unique?: true;
  readonly readonly?: true;
  /** @default none; "" where `blank` */
  readonly default?: string | boolean | null;
  /** Lists may be filtered by it. 1 allows any comparison, 2 also fields of the referenced record. @default no filter */
  readonly filter?: Filtering;
  /** A long text is kept apart from its record, in `mirror.build_logs`. */
  readonly long?: true;
}
export type Filtering = 1 | 2 | "exact";
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
  /** The fields that say most about a record, in that order: a narrow terminal shows the first. */
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
