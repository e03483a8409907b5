/**
 * A mirror of random builds in which whatever can be odd is odd often: builds without a date, project, version, type, state, text or sighting, dates that
 * tie, lie in the future or in an hour that comes twice, clocks that are off, states that go back, projects that are gone. In SQL, as a run would leave it.
 */

import type { Random } from "../../src/simulate/random.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import { type InsertedRow, insertTables } from "./insert-rows.ts";
import { parseMoment } from "./model/times.ts";
import { createRandomLives, type Life, PROJECTS, VERSIONS } from "./random-lives.ts";
import { parseTable } from "./text-table.ts";

const COVERED_THROUGH = "2024-12-30 15:00:00+00";

const CLOCKS = [
  { clock_ahead_min_ms: null, clock_ahead_max_ms: null },
  { clock_ahead_min_ms: -300, clock_ahead_max_ms: 400 },
  { clock_ahead_min_ms: 20_000, clock_ahead_max_ms: 21_000 },
  { clock_ahead_min_ms: -90_000, clock_ahead_max_ms: -80_000 },
];

export function createRandomMirror(random: Random) {
  const lives = createRandomLives(random);

  const writeLives = (sql: Sql, written: readonly Life[]) =>
    insertTables(sql, {
      "mirror.build_transitions": written.flatMap(({ transitions }) => transitions),
      "sync.open_builds": written.flatMap(({ open }) => (open ? [open] : [])),
      "mirror.build_logs": written.flatMap(({ log }) => (log ? [log] : [])),
    });

  async function add(sql: Sql, builds: number): Promise<void> {
    const made = Array.from({ length: builds }, () => lives.newBuild());
    await insertTables(sql, { "mirror.builds": made.map(({ build, state }) => ({ ...build, ...state })) });
    await insertTables(sql, { "mirror.kept_versions": made.flatMap(({ kept }) => kept ?? []) });
    await writeLives(sql, made);
  }

  /** So many ids, some of them more than once. */
  const pick = (builds: number): string[] =>
    Array.from({ length: builds }, () => lives.ids[random.int(lives.ids.length)] ?? "");

  return {
    add,
    pick,
    async insert(sql: Sql, builds: number): Promise<void> {
      await insertTables(sql, {
        "sync.runs": CLOCKS.map((clock) => ({ ...RUN, ...clock })),
        "sync.walks": WALKS,
        "mirror.projects": Array.from({ length: PROJECTS }, (_, index) => projectRow(index + 1)),
        "mirror.versions": Array.from({ length: VERSIONS }, (_, index) => versionRow(index + 1)),
      });
      await add(sql, builds);
    },
    /** What some builds have become by now, all of them other than they were. */
    async change(sql: Sql, builds: number): Promise<void> {
      const chosen = [...new Set(pick(builds))];
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
  pid: 1,
  host: "test",
  heartbeat_at: "2024-12-30 15:00Z",
  started_at: "2024-12-30 15:00Z",
  finished_at: "2024-12-30 15:10Z",
};
const WALKS = parseTable(`
  run_id | resource | walk      | started_at             | finished_at
  1      | build    | whole     | 2024-10-01 03:00Z      | 2024-10-01 03:05Z
  2      | build    | head      | ${COVERED_THROUGH} | 2024-12-30 15:05Z
  3      | build    | not_whole | 2024-12-31 03:00Z      | 2024-12-31 03:05Z`);
