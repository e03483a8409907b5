import type { Resource } from "../../resources/resources.ts";
import { compose, runStatement } from "../../store/connection/run-statement.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import type { ProjectSource } from "../../store/schema/records.ts";
import { RECORD_TABLES } from "./tables.ts";

/** The facts about a stored record that the loader needs to separate new, changed and equal records. */
export interface StoredRecord {
  id: string;
  hash: string;
  deleted: boolean;
  firstSeenAt: string;
}

export interface StoredProject extends StoredRecord {
  source: ProjectSource;
  listed: boolean;
  modifiedDate: string | null;
  /** When the content arrived that is stored, in milliseconds of our clock, and in which run. */
  changedAt: number;
  changedRunId: number;
}

/** Finds the stored records of a page in one query. */
export async function findStored(
  tx: TransactionSql,
  resource: Exclude<Resource, "project">,
  ids: readonly string[],
): Promise<Map<string, StoredRecord>> {
  const { table } = RECORD_TABLES[resource];
  const rows = await runStatement<StoredRecord>(
    tx,
    compose`
      select ${table.id}, encode(${table.record_hash}, 'hex') as hash, ${table.deleted_at} is not null as deleted,
        ${table.first_seen_at} as "firstSeenAt"
      from ${table} where ${table.id} = any (${compose.param(ids)}::text[])`,
    { prepare: true },
  );
  return new Map(rows.map((row) => [row.id, row]));
}

export async function findStoredProjects(tx: TransactionSql, ids: readonly string[]) {
  const rows = await tx<StoredProject[]>`
    select id, encode(record_hash, 'hex') as hash, deleted_at is not null as deleted, first_seen_at as "firstSeenAt",
      source, listed, to_char(modified_date, 'YYYY-MM-DD"T"HH24:MI:SS.US') as "modifiedDate",
      (extract(epoch from changed_at) * 1000)::float8 as "changedAt", changed_run_id as "changedRunId"
    from mirror.projects where id = any (${ids as string[]}::text[])`;
  return new Map(rows.map((row) => [row.id, row]));
}
