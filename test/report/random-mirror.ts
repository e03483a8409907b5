/**
 * A mirror of random builds in which whatever can be odd is odd often: builds without a date, project, version, type, state, text or sighting, dates that
 * tie, lie in the future or in an hour that comes twice, clocks that are off, states that go back, projects that are gone. In SQL, as a run would leave it.
 */

import type { Random } from "../../src/simulate/random.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import { type InsertedRow, insertRows } from "./insert-rows.ts";
import { parseMoment } from "./model/times.ts";
import { createRandomLives, type Life, PROJECTS, VERSIONS } from "./random-lives.ts";

const COVERED_THROUGH = "2024-12-30 15:00:00+00";

const CLOCKS = [
  { clock_ahead_min_ms: null, clock_ahead_max_ms: null },
  { clock_ahead_min_ms: -300, clock_ahead_max_ms: 400 },
  { clock_ahead_min_ms: 20_000, clock_ahead_max_ms: 21_000 },
  { clock_ahead_min_ms: -90_000, clock_ahead_max_ms: -80_000 },
];

export interface RandomMirror {
  /** Fills an empty mirror. */
  insert(sql: Sql, builds: number): Promise<void>;
  /** Makes further builds. */
  add(sql: Sql, builds: number): Promise<void>;
  /** What some builds have become by now, all of them other than they were. */
  change(sql: Sql, builds: number): Promise<void>;
  /** So many ids, some of them more than once. */
  pick(builds: number): string[];
}

export function createRandomMirror(random: Random): RandomMirror {
  const lives = createRandomLives(random);

  async function write(sql: Sql, written: readonly (Life & { build: InsertedRow })[]): Promise<void> {
    await insertRows(
      sql,
      "mirror.builds",
      written.map(({ build, state }) => ({ ...build, ...state })),
    );
    await writeLives(sql, written);
  }

  async function writeLives(sql: Sql, written: readonly Life[]): Promise<void> {
    await insertRows(
      sql,
      "mirror.build_transitions",
      written.flatMap(({ transitions }) => transitions),
    );
    await insertRows(
      sql,
      "sync.open_builds",
      written.flatMap(({ open }) => (open ? [open] : [])),
    );
    await insertRows(
      sql,
      "mirror.build_logs",
      written.flatMap(({ log }) => (log ? [log] : [])),
    );
  }

  return {
    async insert(sql, builds) {
      await insertRows(
        sql,
        "sync.runs",
        CLOCKS.map((clock) => ({ ...RUN, ...clock })),
      );
      await insertRows(sql, "sync.walks", WALKS);
      await insertRows(
        sql,
        "mirror.projects",
        Array.from({ length: PROJECTS }, (_, index) => projectRow(index + 1)),
      );
      await insertRows(
        sql,
        "mirror.versions",
        Array.from({ length: VERSIONS }, (_, index) => versionRow(index + 1)),
      );
      await this.add(sql, builds);
    },
    add: (sql, builds) =>
      write(
        sql,
        Array.from({ length: builds }, () => lives.newBuild()),
      ),
    pick: (builds) => Array.from({ length: builds }, () => lives.ids[random.int(lives.ids.length)] ?? ""),
    async change(sql, builds) {
      const chosen = [...new Set(this.pick(builds))];
      const rows = await sql<
        { id: string; date: string | null; seq: number; to_state: string | null; at: string }[]
      >`
        select build.id, build.date::text, coalesce(seq, 0) as seq, to_state, coalesce(not_after, first_seen_at) as at
        from mirror.builds as build
        left join lateral (
          select * from mirror.build_transitions where build_id = build.id order by seq desc limit 1
        ) as last on true
        where build.id in ${sql(chosen)} order by build.id`;
      for (const table of ["mirror.build_logs", "sync.open_builds"])
        await sql`delete from ${sql(table)} where build_id in ${sql(chosen)}`;
      const changed = rows.map(({ id, date, at, ...last }) => ({
        id,
        ...lives.liveOf(id, parseMoment(at), { hasDate: date !== null, failShare: random.next(), last }),
      }));
      await sql`
        update mirror.builds as build set state = changed.state, success = changed.success, deleted_at = changed.deleted_at,
          record_hash = changed.record_hash, changed_at = now()
        from jsonb_to_recordset(${JSON.stringify(changed.map(({ id, state }) => ({ id, ...state })))}::text::jsonb)
          as changed (id text, state text, success boolean, deleted_at timestamptz, record_hash bytea)
        where build.id = changed.id`;
      await writeLives(sql, changed);
    },
  };

  function projectRow(id: number): InsertedRow {
    return {
      ...RECORD,
      id: String(id),
      slug: random.chance(0.1) ? null : `project-${id}`,
      name: random.chance(0.3) ? null : `Project ${id}`,
      default_version: random.chance(0.5) ? `version-${1 + random.int(VERSIONS)}` : null,
      source: "list",
      listed: true,
      deleted_at: random.chance(0.1) ? COVERED_THROUGH : null,
    };
  }

  function versionRow(id: number): InsertedRow {
    return {
      ...RECORD,
      id: String(id),
      slug: random.chance(0.1) ? null : random.chance(0.3) ? "latest" : `version-${id}`,
      verbose_name: random.chance(0.1) ? null : `Version ${id}`,
      project_id: String(1 + random.int(PROJECTS)),
      deleted_at: random.chance(0.1) ? COVERED_THROUGH : null,
    };
  }
}

const RECORD = { first_seen_at: "2024-09-20 00:00Z", changed_at: "2024-09-20 00:00Z", record_hash: "" };
const RUN = {
  kind: "full",
  status: "succeeded",
  started_at: "2024-12-30 15:00Z",
  heartbeat_at: "2024-12-30 15:00Z",
  finished_at: "2024-12-30 15:10Z",
  pid: 1,
  host: "test",
};
const WALKS = [
  {
    run_id: 1,
    resource: "build",
    walk: "whole",
    started_at: "2024-10-01 03:00Z",
    finished_at: "2024-10-01 03:05Z",
  },
  {
    run_id: 2,
    resource: "build",
    walk: "head",
    started_at: COVERED_THROUGH,
    finished_at: "2024-12-30 15:05Z",
  },
  {
    run_id: 3,
    resource: "build",
    walk: "not_whole",
    started_at: "2024-12-31 03:00Z",
    finished_at: "2024-12-31 03:05Z",
  },
];
