import { parseResourceUri } from "../../resources/resource-uri.ts";
import { RELATED } from "../../resources/resources.ts";
import type { FieldReference, NormalizeContext } from "./normalized.ts";

/**
 * Reads the URI in a related field. A URI of the wrong resource counts as malformed, because its key would
 * point to an unrelated record.
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
