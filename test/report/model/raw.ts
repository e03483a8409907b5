import type { Sql } from "../../../src/store/connection/sql.ts";
import type { Micros } from "./times.ts";

/** What the reports are made of, as it stands in schemas `mirror` and `sync`. */
export interface Raw {
  builds: RawBuild[];
  transitions: RawTransition[];
  logs: RawLog[];
  projects: RawNamed[];
  versions: RawNamed[];
  /** The versions that builds had when the service sent null in their place. */
  kept: { build_id: string; version_id: string }[];
  open: { id: string; seen_at: Micros; vanished_at: Micros | null }[];
  refreshedAt: Micros;
  walks: { run_id: number; walk: string | null; started_at: Micros; finished_at: Micros | null }[];
}

export interface RawBuild {
  id: string;
  /** In the source zone. */
  date: string | null;
  state: string | null;
  success: boolean | null;
  type: string | null;
  /** What it calls its project and its version, where the mirror has not got them. */
  project_uri: string | null;
  version_uri: string | null;
  project_id: string | null;
  version_id: string | null;
  first_seen_at: Micros;
  changed_at: Micros;
  deleted_at: Micros | null;
}

export interface RawTransition {
  id: string;
  seq: number;
  to_state: string | null;
  /** Null for -infinity. */
  not_before: Micros | null;
  not_after: Micros;
}

export type RawLog = { id: string } & Record<"output" | "error" | "setup" | "setup_error", string | null>;

export interface RawNamed {
  id: string;
  slug: string | null;
  name: string | null;
  isDeleted: boolean;
  deleted_at: Micros | null;
  /** Of a project: the slug of its default version. */
  defaultVersion?: string | null;
  isActive?: boolean | null;
  /** Of a version: its project. */
  projectId?: string | null;
}

export async function readRaw(sql: Sql): Promise<Raw> {
  const us = (column: string) =>
    sql.unsafe(
      `case when isfinite(${column}) then (extract(epoch from ${column}) * 1000000)::bigint end as ${column}`,
    );
  const [state] = await sql<[{ refreshed_at: Micros }]>`select ${us("refreshed_at")} from rollup.state`;
  const uri = (field: string) => sql`(
    select uri from mirror.unresolved_references
    where resource = 'build' and record_id = builds.id and field = ${field} and position = 0
  ) as ${sql(`${field}_uri`)}`;
  return {
    refreshedAt: state.refreshed_at,
    builds: await sql<RawBuild[]>`
      select id, date::text, state, success, type, ${uri("project")}, ${uri("version")}, project_id, version_id, ${us("first_seen_at")}, ${us("changed_at")}, ${us("deleted_at")}
      from mirror.builds`,
    transitions: await sql<RawTransition[]>`
      select build_id as id, seq, to_state, ${us("not_before")}, ${us("not_after")}
      from mirror.build_transitions`,
    logs: await sql<RawLog[]>`
      select build_id as id, output, error, setup, setup_error from mirror.build_logs`,
    projects: await sql<RawNamed[]>`
      select id, slug, name, deleted_at is not null as "isDeleted", ${us("deleted_at")}, default_version as "defaultVersion" from mirror.projects`,
    versions: await sql<RawNamed[]>`
      select id, slug, verbose_name as name, deleted_at is not null as "isDeleted", ${us("deleted_at")}, active as "isActive",
        project_id as "projectId" from mirror.versions`,
    kept: await sql<Raw["kept"]>`select build_id, version_id from mirror.kept_versions`,
    open: await sql<Raw["open"]>`
      select build_id as id, ${us("seen_at")}, ${us("vanished_at")} from sync.open_builds`,
    walks: await sql<Raw["walks"]>`
      select run_id, walk, ${us("started_at")}, ${us("finished_at")} from sync.walks where resource = 'build'`,
  };
}
