import type { SQL } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { columnOf, RECORD_TABLES, type RecordTable, recordsAs } from "../../mirror/load/tables.ts";
import { type RestorableRecord, restoreRecord } from "../../mirror/normalize/record.ts";
import { PLANS } from "../../mirror/normalize/record-plan.ts";
import { parseLocalTime } from "../../resources/local-time.ts";
import type { Resource } from "../../resources/resources.ts";
import { compose, runStatement } from "../../store/connection/run-statement.ts";
import type { AnySql } from "../../store/connection/sql.ts";
import type { Extra } from "../../store/schema/columns.ts";
import { buildLogs } from "../../store/schema/index.ts";

/** Between two batches of a long page other requests have their turn. */
const BATCH_RECORDS = 100;

type WireRecord = Record<string, unknown>;
type Row = { id: string; extra: Extra | null } & Record<string, unknown>;

/**
 * Reads records by their ids and gives them in their wire form, in the order of `ids`. Ids without a row are
 * left out, and rows that do not meet the condition. Users and builds take one statement. Others take
 * several, which must see one snapshot.
 */
export async function readRecords(
  sql: AnySql,
  resource: Resource,
  ids: readonly string[],
  condition?: (r: RecordTable) => SQL,
): Promise<WireRecord[]> {
  const records = new Map<string, WireRecord>();
  for (let from = 0; from < ids.length; from += BATCH_RECORDS) {
    const rows = await readRows(sql, resource, ids.slice(from, from + BATCH_RECORDS), condition);
    const belongings = await readBelongings(sql, resource, rows);
    for (const row of rows)
      records.set(row.id, restoreRecord(resource, { ...toStored(resource, row), ...belongings(row) }));
  }
  return ids.flatMap((id) => {
    const record = records.get(id);
    return record ? [record] : [];
  });
}

async function readRows(
  sql: AnySql,
  resource: Resource,
  ids: readonly string[],
  condition: ((r: RecordTable) => SQL) | undefined,
): Promise<Row[]> {
  const r = recordsAs(resource, "r");
  const logs = alias(buildLogs, "logs");
  const { long } = PLANS[resource];
  const texts = long.map((field) => compose`, ${columnOf(logs, field)}`);
  return runStatement<Row>(
    sql,
    compose`
      select ${r}.*${compose.join(texts)}
      from ${RECORD_TABLES[resource].table} as ${r}
      ${long.length > 0 ? compose`left join ${buildLogs} as ${logs} on ${logs.build_id} = ${r.id}` : undefined}
      where ${r.id} = any (${compose.param(ids)}::text[]) and ${condition?.(r) ?? compose`true`}`,
  );
}

/** What other tables hold of these records: administrators, or embedded projects. */
async function readBelongings(
  sql: AnySql,
  resource: Resource,
  rows: readonly Row[],
): Promise<(row: Row) => Partial<RestorableRecord>> {
  if (rows.length > 0 && PLANS[resource].list !== undefined) {
    const users = new Map<string, string[]>();
    const found = await sql<{ project_id: string; user_uri: string }[]>`
      select project_id, user_uri from mirror.project_users
      where project_id = any (${rows.map(({ id }) => id)}::text[]) order by project_id, position`;
    for (const { project_id, user_uri } of found) {
      const known = users.get(project_id);
      if (known) known.push(user_uri);
      else users.set(project_id, [user_uri]);
    }
    return ({ id }) => ({ users: users.get(id) ?? [] });
  }
  if (rows.length > 0 && PLANS[resource].embedded !== undefined) {
    const ids = new Set(
      rows.flatMap(({ project_id }) => (typeof project_id === "string" ? [project_id] : [])),
    );
    const projects = await readRecords(sql, "project", [...ids]);
    const byId = new Map(projects.map((project) => [String(project.id), project]));
    return ({ project_id }) => ({ project: byId.get(String(project_id)) ?? null });
  }
  return () => ({});
}

function toStored(resource: Resource, row: Row): RestorableRecord {
  for (const { name, kind } of PLANS[resource].fields) {
    const date = kind === "datetime" ? row[name] : null;
    // Postgres prints a blank and drops the last zeros of the fraction.
    if (typeof date === "string") row[name] = parseLocalTime(date)?.text ?? date;
  }
  return { id: row.id, extra: row.extra, columns: row };
}
