import { fieldOf, type Resource, targetOf } from "../../resources/resources.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import type { FieldReference, NormalizedRecord } from "../normalize/record.ts";
import type { KnownKeys } from "./known-keys.ts";
import { type TableRow, UNRESOLVED_REFERENCES } from "./tables.ts";
import { addRows, type WriteMethod } from "./write-rows.ts";

/** The rows for the references of a record whose targets are not here yet. */
export function unresolvedRows(resource: Resource, record: NormalizedRecord, keys: KnownKeys): TableRow[] {
  return record.references
    .filter(({ target }) => keys.resolve(target) === null)
    .map((reference) => unresolvedRow(resource, record.id, reference));
}

function unresolvedRow(resource: Resource, recordId: string, reference: FieldReference): TableRow {
  const { target } = reference;
  const expected = targetOf(fieldOf(resource, reference.field));
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

/**
 * Replaces the stored unresolved references of records. A reference to a record that upstream does not have
 * stays `gone`: a change of the referring record says nothing about its target.
 */
export async function replaceUnresolved(
  tx: TransactionSql,
  resource: Resource,
  changedIds: readonly string[],
  rows: readonly TableRow[],
  method: WriteMethod,
): Promise<void> {
  const removed =
    changedIds.length === 0
      ? []
      : await tx<{ status: string; target: string; checkedAt: string | null }[]>`
          delete from mirror.unresolved_references
          where resource = ${resource} and record_id = any (${changedIds as string[]}::text[])
          returning status, concat(target_resource, '/', target_key) as target,
            to_char(checked_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "checkedAt"`;
  const gone = new Map(
    removed.flatMap(({ status, target, checkedAt }) => (status === "gone" ? [[target, checkedAt]] : [])),
  );
  const kept = rows.map((row) => {
    const checkedAt = gone.get(`${row.target_resource}/${row.target_key}`);
    return checkedAt ? { ...row, status: "gone", checked_at: checkedAt } : row;
  });
  await addRows(tx, UNRESOLVED_REFERENCES, kept, method);
}
