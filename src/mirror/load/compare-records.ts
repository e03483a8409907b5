import type { Resource } from "../../resources/resources.ts";
import { compose, runStatement, type TransactionSql } from "../../store/connection/sql.ts";
import type { ProjectSource } from "../../store/schema/records.ts";
import type { NormalizedRecord } from "../normalize/record.ts";
import { RECORD_TABLES } from "./tables.ts";

/** The source of a reply. Its content was true at some moment between the request and the arrival. */
export interface Observation {
  askedAt: string;
  observedAt: string;
  /** The requested path and query; null when it was not stored. */
  request: string | null;
}

export interface ObservedRecord extends Observation {
  record: NormalizedRecord;
}

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
  /** The arrival of the content that is stored, in milliseconds of our clock, and its run. */
  changedAt: number;
  changedRunId: number;
}

export interface StoredBuild extends StoredRecord {
  /** A local time, or null. */
  date: string | null;
  projectId: string | null;
  /** The number of the build, among those that had its id. */
  life: number;
}

export interface SortedRecords {
  added: ObservedRecord[];
  changed: ObservedRecord[];
  /** Deleted here, but upstream shows them again. They are among the changed or the unchanged too. */
  returned: ObservedRecord[];
  unchanged: ObservedRecord[];
}

export type LoadCounts = Record<"inserted" | "updated" | "unchanged" | "restored", number>;

export async function findStored(tx: TransactionSql, resource: Resource, ids: readonly string[]) {
  if (ids.length === 0) return new Map();
  const { table } = RECORD_TABLES[resource];
  const ofProject = compose`, source, listed, to_char(modified_date, 'YYYY-MM-DD"T"HH24:MI:SS.US') as "modifiedDate",
    (extract(epoch from changed_at) * 1000)::float8 as "changedAt", changed_run_id as "changedRunId"`;
  const ofBuild = compose`, to_char(date, 'YYYY-MM-DD"T"HH24:MI:SS.US') as date, project_id as "projectId", life`;
  const more = resource === "project" ? ofProject : resource === "build" ? ofBuild : compose``;
  const rows = await runStatement<StoredRecord>(
    tx,
    compose`
      select ${table.id}, encode(${table.record_hash}, 'hex') as hash, ${table.deleted_at} is not null as deleted,
        ${table.first_seen_at} as "firstSeenAt" ${more}
      from ${table} where ${table.id} = any (${compose.param(ids)}::text[])`,
    { prepare: true },
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** `isLater` is true where a record with another content replaces the stored one. */
export function sortRecords(
  observed: readonly ObservedRecord[],
  stored: ReadonlyMap<string, StoredRecord>,
  source: ProjectSource,
  isLater: (one: ObservedRecord, known: StoredRecord) => boolean,
): SortedRecords {
  const sorted: SortedRecords = { added: [], changed: [], returned: [], unchanged: [] };
  for (const one of observed) {
    const known = stored.get(one.record.id);
    if (!known) sorted.added.push(one);
    else if (known.hash === one.record.hash || !isLater(one, known)) sorted.unchanged.push(one);
    else sorted.changed.push(one);
    // An embedded copy only proves that another record refers to the project, not that upstream has it.
    if (known?.deleted && source !== "embedded") sorted.returned.push(one);
  }
  return sorted;
}

/** The URIs of the administrators of projects, in their order, by the id of the project. */
export type StoredUsers = ReadonlyMap<string, readonly (string | null)[]>;

export async function findStoredUsers(tx: TransactionSql, ids: readonly string[]): Promise<StoredUsers> {
  if (ids.length === 0) return new Map();
  const rows = await tx<{ id: string; uris: (string | null)[] }[]>`
    select project_id as id, jsonb_agg(user_uri order by position) as uris
    from mirror.project_users where project_id = any (${ids as string[]}::text[]) group by project_id`;
  return new Map(rows.map(({ id, uris }) => [id, uris]));
}

/** Sorts the administrators of a project as they are stored, new ones last: another order is not a change. */
export function keepUserOrder({ record, ...from }: ObservedRecord, stored: StoredUsers): ObservedRecord {
  // Each is taken out where it is found, so a URI that comes twice keeps two places.
  const left = [...record.references];
  const kept = (stored.get(record.id) ?? []).flatMap((uri) => {
    const at = left.findIndex((reference) => reference.uri === uri);
    return at < 0 ? [] : left.splice(at, 1);
  });
  const references = [...kept, ...left].map((reference, position) => ({ ...reference, position }));
  return { ...from, record: { ...record, references } };
}
