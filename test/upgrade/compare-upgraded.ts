/** What an upgraded mirror owes: the records and answers of a fresh mirror of the same service, and all of its own history. */
import { RESOURCES } from "../../src/resources/resources.ts";
import { withSql } from "../../src/store/connection/connect.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import { type Compared, compareRows, readRelation } from "../report/compare.ts";
import { mirrorRows } from "../support/mirror-rows.ts";

/** Answers that follow from the records alone, not from when somebody saw them. */
const OF_RECORDS: readonly Compared[] = [
  "dim_dates",
  "success_rate_daily",
  "success_rate_weekly",
  "success_rate_monthly",
  "success_rate_daily_by_project",
  "success_rate_weekly_by_project",
  "success_rate_by_project",
  "success_rate_by_version",
  "success_rate_by_type",
  "success_rate_without_platform",
  "failing_now",
  "failing_projects",
  "project_states",
  "instability",
  "flaky_series",
  "regressions",
  "broke_daily",
  "broke_weekly",
  "incident_hours",
  "error_classes",
  "error_fingerprints",
  "error_fingerprints_daily",
  "error_trend_weekly",
  "project_activity",
];

/** What no upgrade may lose: each row as text, by its name. */
const HISTORY = {
  transitions:
    "select to_jsonb(t) - '{request,previous_request}'::text[] as row from mirror.build_transitions t",
  changes: "select to_jsonb(t) - '{observed_at}'::text[] as row from mirror.changes t",
  deletions:
    "select jsonb_build_object('id', id, 'deleted_at', deleted_at) as row from mirror.builds where deleted_at is not null",
  quarantine:
    "select jsonb_build_object('id', id, 'record', record_id, 'reason', reason, 'payload', payload) as row from sync.quarantine",
  drift: "select to_jsonb(t) - '{run_id}'::text[] as row from sync.drift t",
  runs: "select jsonb_build_object('id', id, 'kind', kind, 'status', status, 'started', started_at) as row from sync.runs",
};
export type History = Record<keyof typeof HISTORY, string[]>;

/** As if the mirror had never seen the builds that the service deleted. */
const FORGET_DELETED = `
  delete from mirror.build_logs using mirror.builds where build_id = builds.id and deleted_at is not null;
  delete from mirror.build_transitions using mirror.builds where build_id = builds.id and deleted_at is not null;
  delete from mirror.builds where deleted_at is not null;
  update rollup.state set definition = ''`;

export const withMirror = <T>(url: string, fn: (sql: Sql) => Promise<T>): Promise<T> =>
  withSql(url, { applicationName: "docmirror test", max: 1 }, fn);

/** Each row of its history, as text. */
export function readHistory(url: string): Promise<History> {
  return withMirror(url, async (sql) => {
    const found = {} as History;
    for (const [name, query] of Object.entries(HISTORY))
      found[name as keyof History] = (await sql.unsafe<{ row: object }[]>(query)).map(({ row }) =>
        JSON.stringify(row),
      );
    return found;
  });
}

/** The rows that are gone, by their name. */
export function findLost(before: History, after: History): Partial<History> {
  const lost = Object.entries(before).map(([name, rows]) => {
    const kept = new Set(after[name as keyof History]);
    return [name, rows.filter((row) => !kept.has(row))] as const;
  });
  return Object.fromEntries(lost.filter(([, rows]) => rows.length > 0));
}

/** The live records that differ from those of a fresh mirror, and what else such a mirror has and this one lacks. */
export async function findRecordDifferences(upgraded: string, fresh: string): Promise<string[]> {
  const [ours, theirs] = await Promise.all([mirrorRows(upgraded), mirrorRows(fresh)]);
  const found: string[] = [];
  const lacking = (table: string, rows: string[] = [], among: string[] = []) => {
    const known = new Set(among);
    found.push(...rows.filter((row) => !known.has(row)).map((row) => `${table}: ${row}`));
  };
  for (const resource of RESOURCES) {
    const table = `${resource}s`;
    const live = ours[table]?.filter((row) => !row.includes('"deleted": true'));
    lacking(`${table} lacks`, theirs[table], live);
    lacking(`${table} has besides`, live, theirs[table]);
  }
  // Logs of deleted builds stay; a reference to a user that was deleted since still finds its row.
  lacking("build_logs lacks", theirs.build_logs, ours.build_logs);
  lacking("unresolved_references has besides", ours.unresolved_references, theirs.unresolved_references);
  const users = (rows: string[] = []) =>
    rows
      .map((row) => JSON.parse(row))
      .map(({ project_id, position, user_uri }) => `${project_id} ${position} ${user_uri}`);
  lacking("project_users lacks", users(theirs.project_users), users(ours.project_users));
  return found;
}

/** Leaves deleted builds out, so that answers can be compared. The next command that reads answers computes all of them. */
export const forgetDeleted = (url: string): Promise<unknown> =>
  withMirror(url, (sql) => sql.unsafe(FORGET_DELETED).simple());

/** What it answers otherwise than a fresh mirror, a sentence each. */
export async function findAnswerDifferences(upgraded: string, fresh: string): Promise<string[]> {
  const found: string[] = [];
  for (const relation of OF_RECORDS) {
    const [ours, theirs] = await Promise.all(
      [upgraded, fresh].map((url) => withMirror(url, (sql) => readRelation(sql, relation))),
    );
    found.push(...compareRows(relation, ours ?? [], theirs ?? []));
  }
  return found;
}
