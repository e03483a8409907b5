import type { TransactionSql } from "../db/connect.ts";
import type { FieldReference, NormalizedRecord } from "../normalize/normalized.ts";
import type { Resource } from "../wire/resources.ts";
import type { KnownKeys } from "./known-keys.ts";
import { type Row, UNRESOLVED_REFERENCES } from "./tables.ts";
import { addRows, type WriteMethod } from "./write-rows.ts";

/** The rows for the references of a record whose own records are not here (yet). */
export function unresolvedRows(resource: Resource, record: NormalizedRecord, keys: KnownKeys): Row[] {
  return record.references
    .filter(({ target }) => keys.resolve(target) === null)
    .map((reference) => unresolvedRow(resource, record.id, reference));
}

function unresolvedRow(resource: Resource, recordId: string, reference: FieldReference): Row {
  const { target } = reference;
  const expected = reference.field === "users" ? "user" : reference.field;
  const fits = target.kind === "record" && target.resource === expected;
  return {
    resource,
    record_id: recordId,
    field: reference.field,
    position: reference.position,
    uri: reference.uri,
    status: fits ? "pending" : target.kind === "foreign" ? "foreign" : "malformed",
    checked_at: null,
    target_resource: fits ? target.resource : null,
    target_key: fits ? target.key : null,
  };
}

/** Stores the unresolved references of records in place of those that were stored for them before. */
export async function replaceUnresolved(
  tx: TransactionSql,
  resource: Resource,
  changedIds: readonly string[],
  rows: readonly Row[],
  method: WriteMethod,
): Promise<void> {
  if (changedIds.length > 0) {
    await tx`
      delete from mirror.unresolved_references
      where resource = ${resource} and record_id = any (${changedIds as string[]}::text[])`;
  }
  await addRows(tx, UNRESOLVED_REFERENCES, rows, method);
}
