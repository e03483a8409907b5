import { buildFields } from "../../resources/build.ts";
import { fieldReference } from "./field-reference.ts";
import type { FieldReference, NormalizeContext, NormalizedRecord } from "./normalized.ts";
import { normalizeFields } from "./record.ts";
import { hashRecord } from "./record-hash.ts";

const HASHED = ["id", ...Object.keys(buildFields)];
export const LOG_FIELDS = ["output", "error", "setup", "setup_error"] as const;

export function normalizeBuild(
  id: string,
  record: Record<string, unknown>,
  context: NormalizeContext,
): NormalizedRecord {
  const { columns, extra } = normalizeFields(record, buildFields, context.replacements);
  const { output = null, error = null, setup = null, setup_error = null } = columns;
  const references: FieldReference[] = [];
  for (const field of ["project", "version"] as const) {
    const uri = columns[`${field}_uri`];
    if (typeof uri === "string") references.push(fieldReference(field, 0, uri, context));
  }
  return {
    id,
    hash: hashRecord(record, HASHED, null),
    columns,
    extra,
    references,
    projectId: null,
    logs: { output, error, setup, setup_error },
  };
}
