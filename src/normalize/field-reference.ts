import { parseResourceUri } from "../wire/resource-uri.ts";
import { RELATED } from "../wire/resources.ts";
import type { FieldReference, NormalizeContext } from "./normalized.ts";

/**
 * Reads the URI in a related field. One that names a record of another resource than the field's own counts as malformed: its key
 * would be taken for a record that nobody meant.
 */
export function fieldReference(
  field: FieldReference["field"],
  position: number,
  uri: string,
  context: NormalizeContext,
): FieldReference {
  const target = parseResourceUri(uri, context.baseUrl);
  const fits = target.kind !== "record" || target.resource === RELATED[field];
  return { field, position, uri, target: fits ? target : { kind: "malformed" } };
}
