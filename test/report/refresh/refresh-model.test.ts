/**
 * Refreshes at random places between the transactions of writers. Some begin before a writer and end behind it, some meet a writer that
 * commits later, some fail or are stopped, some have other settings. The answers that were kept up to date are those that are
 * computed from nothing. A failure names its course: REFRESH_SEED=… plays it first.
 */
import { randomInt } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { messageOf } from "../../../src/base/errors.ts";
import { type RefreshOptions, refreshReport } from "../../../src/report/refresh/refresh.ts";
import {
  ANSWERS,
  BUILDS,
  DATES,
  EXPENSIVE_ANSWERS,
  STORED_DIMENSIONS,
} from "../../../src/report/stored/answers.ts";
import { createRandom } from "../../../src/simulate/random.ts";
import { connect } from "../../../src/store/connection/connect.ts";
import type { Sql } from "../../../src/store/connection/sql.ts";
import { REPORT_SETTINGS } from "../../support/reported-mirror.ts";
import { useDatabase } from "../../support/use-database.ts";
import { createRandomWriters, type Work } from "./random-writers.ts";

const SEED = Number(process.env.REFRESH_SEED ?? randomInt(1_000_000));
const database = useDatabase();
const { sql } = database;
let writer: Sql;
let holder: Sql;

beforeAll(() => {
  const open = () => connect(database.url, { applicationName: "docmirror test", max: 1 });
  [writer, holder] = [open(), open()];
});
afterAll(async () => {
  await writer.end();
  await holder.end();
});

const STORED = [BUILDS, ...STORED_DIMENSIONS, DATES, ...ANSWERS, ...EXPENSIVE_ANSWERS];
/** A print of each stored answer. */
const PRINTS = STORED.map(
  ({ table, columns }) => `
    select '${table}' as name, md5(coalesce(string_agg(stored::text, ' ' order by stored::text), '')) as print
    from (select ${columns.join(", ")} from ${table}) as stored`,
).join(" union all ");
/** A mirror that nothing was read into, and that no refresh has seen. */
const EMPTY = `
  set session_replication_role = replica;
  ${[
    ...[
      "mirror.projects",
      "mirror.versions",
      "mirror.builds",
      "mirror.build_transitions",
      "mirror.build_logs",
    ],
    ...[
      "mirror.archived_logs",
      "mirror.log_files",
      "sync.open_builds",
      "sync.touched_records",
      "rollup.state",
    ],
    ...STORED.map(({ table }) => table),
  ]
    .map((table) => `delete from ${table};`)
    .join("\n")}
  set session_replication_role = origin`;
/** A refresh that writes a day fails. */
const DAMAGE = "alter table rollup.days add constraint damaged check (builds < 0) not valid";
const REPAIR = "alter table rollup.days drop constraint damaged";

async function readAnswers(): Promise<Record<string, string>> {
  const rows = await sql.unsafe<{ name: string; print: string }[]>(PRINTS);
  return Object.fromEntries(rows.map(({ name, print }) => [name, print]));
}

const refresh = (options: Partial<RefreshOptions> = {}) =>
  refreshReport(database.url, { ...REPORT_SETTINGS, ...options });

const write = (work: Work) => writer.begin(async (tx) => void (await work(tx as unknown as Sql)));

/** Holds a refresh where it has seen the mirror, and has not written anything; `meanwhile` is over before it goes on. */
async function hold(refreshing: () => Promise<unknown>, meanwhile: () => Promise<unknown>): Promise<unknown> {
  let end: Promise<unknown> = Promise.resolve();
  await holder.begin(async (tx) => {
    await tx`lock table rollup.state in share mode`;
    let isOver = false;
    end = refreshing().finally(() => {
      isOver = true;
    });
    end.catch(() => {});
    const isHeld = async () =>
      isOver ||
      (await sql`select from pg_locks where not granted and relation = 'rollup.state'::regclass`).length > 0;
    while (!(await isHeld()));
    await meanwhile();
  });
  return end;
}

const WAYS = ["none", "none", "none", "before", "around", "within", "failing", "stopped"] as const;

async function play(seed: number): Promise<void> {
  const random = createRandom(seed);
  const writers = createRandomWriters(random);
  const options = (): Partial<RefreshOptions> =>
    random.pick([
      ...([{}, {}, {}, {}, { check: true }, { keepsSettings: true }, { reclassify: true }] as const),
      ...([{ stuckAfterMs: 3_600_000 }, { sourceTimezone: "America/Chicago" }] as const),
    ]);
  const ways = {
    none: write,
    async before(work: Work) {
      await refresh(options());
      await write(work);
    },
    /** It does not see what the writers do, and ends behind them. */
    around: (work: Work) =>
      hold(
        () => refresh(options()),
        async () => {
          await write(work);
          if (random.chance(0.3)) await write(writers.later());
        },
      ),
    /** The writer has written, and commits behind it. */
    within: (work: Work) =>
      write(async (tx) => {
        await work(tx);
        await refresh(options());
      }),
    async failing(work: Work) {
      await write(work);
      await sql.unsafe(DAMAGE);
      await refresh(options()).catch(() => {});
      await sql.unsafe(REPAIR);
    },
    async stopped(work: Work) {
      const stop = new AbortController();
      const refreshing = () => refresh({ ...options(), signal: stop.signal });
      await expect(
        hold(refreshing, async () => {
          await write(work);
          stop.abort(new Error("stopped"));
        }),
      ).rejects.toThrow("stopped");
    },
  };
  await sql.unsafe(EMPTY);
  for (const work of [...writers.firstSync(), ...Array.from({ length: 6 }, () => writers.later())])
    await ways[random.pick(WAYS)](work);
  // What is expensive waits for its turn.
  await sql`update rollup.state set dear_refreshed_at = null`;
  await refresh({ check: random.chance(0.2) });
  const kept = await readAnswers();
  await sql`update rollup.state set definition = ''`;
  await refresh();
  expect(kept).toEqual(await readAnswers());
}

async function playAll(courses: number): Promise<void> {
  for (let seed = SEED; seed < SEED + courses; seed++)
    await play(seed).catch((error: unknown) => {
      throw new Error(`REFRESH_SEED=${seed}: ${messageOf(error)}`, { cause: error });
    });
}

test("answers that are kept up to date are those that are computed anew", () => playAll(2));

test("so they are after many courses", { tags: ["long"], timeout: 600_000 }, () => playAll(80));
