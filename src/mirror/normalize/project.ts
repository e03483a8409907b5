import { projectFields } from "../../resources/project.ts";
import { cleanText } from "./clean-text.ts";
import { fieldReference } from "./field-reference.ts";
import type { FieldReference, NormalizeContext, NormalizedRecord } from "./normalized.ts";
import { keepInExtra, normalizeFields } from "./record.ts";
import { hashRecord } from "./record-hash.ts";

const HASHED = ["id", ...Object.keys(projectFields)];

/** Sorts `users` before hashing: it is a set, and services send it in any order. */
export function hashProject(record: Record<string, unknown>): string {
  const { users } = record;
  const isList = Array.isArray(users) && users.length > 1 && users.every((user) => typeof user === "string");
  return hashRecord(isList ? { ...record, users: users.toSorted() } : record, HASHED, null);
}

/**
 * The administrators become references, in the order of the record. When `users` is not a list of texts, it
 * stays in `extra`.
 */
export function normalizeProject(
  id: string,
  record: Record<string, unknown>,
  context: NormalizeContext,
  hash = hashProject(record),
): NormalizedRecord {
  const { columns, extra, related } = normalizeFields(record, projectFields, context.replacements);
  const references: FieldReference[] = [];
  let kept = extra;
  if (Array.isArray(related.users) && related.users.every((user) => typeof user === "string")) {
    for (const [position, user] of related.users.entries()) {
      references.push(fieldReference("users", position, cleanText(user, context.replacements), context));
    }
  } else if (Object.hasOwn(related, "users")) {
    kept = keepInExtra(extra, "users", related.users, context.replacements);
  }
  return {
    id,
    hash,
    columns,
    extra: kept,
    references,
    projectId: null,
    logs: null,
  };
}
