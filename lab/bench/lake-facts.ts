import { createReadStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { DuckDBConnection } from "@duckdb/node-api";
import type { Sql } from "../../src/store/connection/sql.ts";

export interface LakeFacts {
  /** As `docmirror export` makes it, with the facts alone. */
  folder: string;
  days: number;
  projects: number;
  /** The first day of the last 90, and its month. */
  recent: { day: string; month: string };
  write(): Promise<void>;
  /** Loads the same rows into an empty mirror, with all indexes. */
  load(sql: Sql): Promise<void>;
}

export interface LakeFactsOptions {
  connection: DuckDBConnection;
  folder: string;
  builds: number;
}

const DAY_MS = 86_400_000;
const LAST_DAY = Date.parse("2026-11-30T00:00:00Z");
/** The columns of `rollup.builds` that are loaded, in their order. */
const STORED = [
  ...[
    "build_id",
    "project_id",
    "version_id",
    "type",
    "state",
    "outcome",
    "succeeded",
    "failed",
    "is_settled",
    "triggered_at",
  ],
  ...[
    "triggered_on",
    "is_time_ambiguous",
    "finished_after",
    "finished_before",
    "duration_s_min",
    "duration_s_max",
  ],
  ...["error_class", "error_fingerprint", "error_line", "first_seen_at", "deleted_at", "record_hash"],
];

/**
 * Facts that are spread as those of report-world.ts: few projects build much, one build in seven fails, one in 2,000 is open. A million builds
 * take 400 days and 5,000 projects; more of them more days, up to ten years, and more projects, up to 100,000. Hashes of the number decide, so
 * they are the same each time.
 */
export function createLakeFacts({ connection, folder, builds }: LakeFactsOptions): LakeFacts {
  const days = Math.min(3650, Math.max(90, Math.round((400 * builds) / 1e6)));
  const projects = Math.min(100_000, Math.max(1000, Math.round((5000 * builds) / 1e6)));
  const first = LAST_DAY - days * DAY_MS;
  const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const recentDay = dayOf(LAST_DAY - 90 * DAY_MS);
  const share = (stream: number) => `(hash(n * 16 + ${stream}) % 1000000) / 1e6`;

  /** The rows of the builds from one number on to before another. */
  const rows = (from: number, before: number) => `
    with drawn as (
      select n, ${share(1)} < 0.0005 as is_open, ${share(2)} >= 0.14 as is_good,
        1 + cast(floor(${projects} * pow(${share(3)}, 3)) as integer) as project,
        cast(hash(n * 16 + 4) % 4 as integer) as version, cast(hash(n * 16 + 5) % 4 as integer) as fault,
        make_timestamptz(${first} * 1000 + cast(floor(n * ${(days * DAY_MS * 1000) / builds}) as bigint)) as moment
      from range(${from}, ${before}) as numbers (n)
    )
    select cast(n as varchar) as build_id, cast(project as varchar) as project_id,
      cast((project - 1) * 4 + version as varchar) as version_id,
      (['html', 'html', 'html', 'pdf', 'epub'])[1 + n % 5] as type, if(is_open, 'building', 'finished') as state,
      if(is_open, 'open', if(is_good, 'succeeded', 'failed')) as outcome,
      cast(if(is_open, null, is_good::integer) as integer) as succeeded, cast(if(is_open, null, 1 - is_good::integer) as integer) as failed,
      moment as triggered_at, cast(moment as date) as triggered_on, cast(date_trunc('week', cast(moment as date)) as date) as triggered_week,
      strftime(cast(moment as date), '%G-W%V') as triggered_iso_week, strftime(cast(moment as date), '%Y-%m') as triggered_month,
      false as is_time_ambiguous, if(is_open, null, moment + interval 180 second) as finished_after,
      if(is_open, null, moment + interval 240 second) as finished_before, if(is_open, null, 120.0::double) as duration_s_min,
      if(is_open, null, 240.0::double) as duration_s_max, null::double as duration_s,
      if(failed = 1, (['timeout', 'dependency', 'docs_source', 'vcs'])[1 + fault], null) as error_class,
      if(failed = 1, substr(md5(fault || '-' || n % 300), 1, 16), null) as error_fingerprint,
      if(failed = 1, (['Command killed due to timeout', 'ModuleNotFoundError: No module named ''module', 'ERROR: Unknown directive type',
        'fatal: Could not resolve host'])[1 + fault] || ' ' || n % 300, null) as error_line,
      moment + interval 1 minute as first_seen_at, null::timestamptz as deleted_at, moment + interval 5 minute as updated_at, not is_open as is_settled,
      '\\x00' as record_hash
    from drawn order by n desc`;

  /** Each month with the numbers of its builds. */
  function listMonths() {
    const numberOf = (ms: number) =>
      Math.min(builds, Math.max(0, Math.ceil(((ms - first) / (days * DAY_MS)) * builds)));
    const months = [];
    const start = new Date(first);
    for (let month = start.getUTCMonth(); ; month++) {
      const [from, to] = [0, 1].map((later) => Date.UTC(start.getUTCFullYear(), month + later)) as [
        number,
        number,
      ];
      if (from >= LAST_DAY) return months;
      months.push({ name: dayOf(from).slice(0, 7), from: numberOf(from), before: numberOf(to) });
    }
  }

  return {
    folder,
    days,
    projects,
    recent: { day: recentDay, month: recentDay.slice(0, 7) },
    async write() {
      for (const { name, from, before } of listMonths()) {
        const place = join(folder, "fact_builds", `triggered_month=${name}`);
        await mkdir(place, { recursive: true });
        await connection.run(`
          copy (select * exclude (triggered_month, record_hash) from (${rows(from, before)}))
          to '${join(place, "part-0.parquet")}' (format parquet, compression zstd)`);
      }
    },
    async load(sql) {
      // Indexes are made when the rows are there, as a restore does.
      const indexes = await sql<{ name: string; text: string }[]>`
        select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as text from pg_index
        where indrelid = 'rollup.builds'::regclass and not indisprimary`;
      await sql.unsafe(
        "alter table rollup.builds set unlogged; alter table rollup.builds drop constraint builds_pkey",
      );
      for (const { name } of indexes) await sql.unsafe(`drop index ${name}`);
      await sql.unsafe("alter table rollup.builds disable trigger all");
      await sql.unsafe(`
        insert into report.dim_projects (project_id, project_slug, project_name, is_deleted)
        select n::text, 'project-' || n, 'Project ' || n, false from generate_series(1, ${projects}) as n`);
      await sql.unsafe(`
        insert into report.dim_versions (version_id, project_id, version_slug, version_name, is_deleted)
        select n::text, (1 + n / 4)::text, (array['latest', 'stable', 'v1', 'v2'])[1 + n % 4], 'v', false
        from generate_series(0, ${projects * 4 - 1}) as n`);
      await sql.unsafe(`
        insert into report.dim_dates
        select day, date_trunc('week', day)::date, to_char(day, 'IYYY"-W"IW'), to_char(day, 'YYYY-MM'), to_char(day, 'YYYY"-Q"Q'),
          extract(year from day), extract(isodow from day), extract(isodow from day) > 5
        from generate_series(timestamp '${dayOf(first)}', '${dayOf(LAST_DAY)}', '1 day') as day`);
      const csv = join(folder, "part.csv");
      for (const { from, before } of listMonths()) {
        await connection.run(
          `copy (select ${STORED.join(", ")} from (${rows(from, before)})) to '${csv}' (format csv, header false)`,
        );
        const into = await sql
          .unsafe(`copy rollup.builds (${STORED.join(", ")}) from stdin (format csv)`)
          .writable();
        await pipeline(createReadStream(csv, { highWaterMark: 1 << 20 }), into);
      }
      await rm(csv);
      await sql.unsafe("alter table rollup.builds add primary key (build_id)");
      for (const { text } of indexes) await sql.unsafe(text);
      await sql.unsafe("vacuum analyze");
    },
  };
}
