import { projectFields } from "../wire/project.ts";
import { parseResourceUri } from "../wire/resource-uri.ts";
import { cleanText } from "./clean-text.ts";
import type { FieldReference, NormalizeContext, NormalizedRecord } from "./normalized.ts";
import { keepInExtra, normalizeFields } from "./record.ts";
import { hashRecord } from "./record-hash.ts";

const HASHED = ["id", ...Object.keys(projectFields)];

/** The administrators become references in the order of the record; anything in `users` that is no list of texts stays in `extra`. */
export function normalizeProject(
  id: string,
  record: Record<string, unknown>,
  context: NormalizeContext,
): NormalizedRecord {
  const { columns, extra, related } = normalizeFields(record, projectFields, context.replacements);
  const references: FieldReference[] = [];
  let kept = extra;
  if (Array.isArray(related.users) && related.users.every((user) => typeof user === "string")) {
    for (const [position, user] of related.users.entries()) {
      const uri = cleanText(user, context.replacements);
      references.push({ field: "users", position, uri, target: parseResourceUri(uri, context.baseUrl) });
    }
  } else if (Object.hasOwn(related, "users")) {
    kept = keepInExtra(extra, "users", related.users, context.replacements);
  }
  return {
    id,
    hash: hashRecord(record, HASHED, null),
    columns,
    extra: kept,
    references,
    projectId: null,
    logs: null,
  };
}
