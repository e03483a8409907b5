/**
 * The kind of value that a documented field holds on the wire (`docs/interface.md`, "Records"). `datetime`:
 * ISO 8601 without a zone. `uri`: the path of one other record. `uris`: an array of such paths. `embedded`:
 * the whole other record. `id` is on every record and in no list of fields.
 */
export type FieldKind = "string" | "boolean" | "datetime" | "uri" | "uris" | "embedded";
export type FieldKinds = Readonly<Record<string, FieldKind>>;
