import { userFields } from "../../resources/user.ts";
import type { NormalizeContext, NormalizedRecord } from "./normalized.ts";
import { normalizeFields } from "./record.ts";
import { hashRecord } from "./record-hash.ts";

const HASHED = ["id", ...Object.keys(userFields)];

export function normalizeUser(
  id: string,
  record: Record<string, unknown>,
  context: NormalizeContext,
): NormalizedRecord {
  const { columns, extra } = normalizeFields(record, userFields, context.replacements);
  return {
    id,
    hash: hashRecord(record, HASHED, null),
    columns,
    extra,
    references: [],
    projectId: null,
    logs: null,
  };
}
