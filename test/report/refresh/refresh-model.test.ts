/**
 * Refreshes at random places between the transactions of writers. Some begin before a writer and end behind it, some meet a writer that
 * commits later, some fail or are stopped, some have other settings; some mirrors are restored from a backup on the way. The answers
 * that were kept up to date are those that are computed from nothing. A failure names its course: REFRESH_SEED=… plays it first.
 */
import { randomInt } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { messageOf } from "../../../src/base/errors.ts";
import { readDefinitions } from "../../../src/report/definitions.ts";
import { type RefreshOptions, refreshReport } from "../../../src/report/refresh/refresh.ts";
import { createRandom } from "../../../src/simulate/random.ts";
import { restoreBackup } from "../../../src/store/backup/restore-backup.ts";
import { writeBackup } from "../../../src/store/backup/write-backup.ts";
import { connect } from "../../../src/store/connection/connect.ts";
import type { Sql } from "../../../src/store/connection/sql.ts";
import { connectionsOf } from "../../support/connections.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { useFolder } from "../../support/folder.ts";
import { REPORT_SETTINGS } from "../../support/reported-mirror.ts";
import { createRandomWriters, type Work } from "./random-writers.ts";
import { readBothWays, STORED } from "./stored-answers.ts";

const SEED = Number(process.env.REFRESH_SEED ?? randomInt(1_000_000));
const folder = useFolder();

/** A mirror, with sessions that refresh it, one that writes to it, and one that holds up a refresh. */
interface Place {
  sql: Sql;
  refreshes: Sql;
  writer: Sql;
  holder: Sql;
  close(): Promise<void>;
}

async function openPlace(database: TestDatabase): Promise<Place> {
  const open = () => connect(database.url, { applicationName: "docmirror test", max: 1 });
  const [writer, holder] = [open(), open()];
  return {
    sql: database.sql,
    refreshes: connectionsOf(database.url).sql,
    writer,
    holder,
    async close() {
      await writer.end();
      await holder.end();
      await database.dispose();
    },
  };
}

let place: Place;
beforeAll(async () => {
  place = await openPlace(await createTestDatabase());
});
afterAll(() => place.close());

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

const write = ({ writer }: Place, work: Work) =>
  writer.begin(async (tx) => void (await work(tx as unknown as Sql)));

/** Holds a refresh where it has seen the mirror, and has not written anything; `meanwhile` is over before it goes on. */
async function hold(
  { sql, holder }: Place,
  refreshing: () => Promise<unknown>,
  meanwhile: () => Promise<unknown>,
): Promise<unknown> {
  let end: Promise<unknown> = Promise.resolve();
  await holder.begin(async (tx) => {
    await tx`lock table sync.migrations in access exclusive mode`;
    let isOver = false;
    end = refreshing().finally(() => {
      isOver = true;
    });
    end.catch(() => {});
    const findWaiting = () => sql`
      select from pg_locks where not granted and relation = 'sync.migrations'::regclass`;
    while (!isOver && (await findWaiting()).length === 0);
    await meanwhile();
  });
  return end;
}

const WAYS = ["none", "none", "none", "before", "around", "within", "failing", "stopped"] as const;

/** Plays a course; where `file` is given, the mirror goes on in another database, restored from a backup of that name. */
async function play(seed: number, file?: string): Promise<void> {
  const random = createRandom(seed);
  const writers = createRandomWriters(random);
  const options = (): Partial<RefreshOptions> =>
    random.pick([
      ...([{}, {}, {}, {}, { check: true }, { keepsSettings: true }, { reclassify: true }] as const),
      ...([{ stuckAfterMs: 3_600_000 }, { sourceTimezone: "America/Chicago" }] as const),
    ]);
  const refresh = ({ refreshes }: Place, more: Partial<RefreshOptions> = {}) =>
    refreshReport(refreshes, { ...REPORT_SETTINGS, ...options(), ...more });
  const ways: Record<(typeof WAYS)[number], (at: Place, work: Work) => Promise<unknown>> = {
    none: write,
    async before(at, work) {
      await refresh(at);
      await write(at, work);
    },
    /** It does not see what the writers do, and ends behind them. */
    around: (at, work) =>
      hold(
        at,
        () => refresh(at),
        async () => {
          await write(at, work);
          if (random.chance(0.3)) await write(at, writers.later());
        },
      ),
    /** The writer has written, and commits behind it. */
    within: (at, work) =>
      write(at, async (tx) => {
        await work(tx);
        await refresh(at);
      }),
    async failing(at, work) {
      await write(at, work);
      await at.sql.unsafe(DAMAGE);
      await refresh(at).catch(() => {});
      await at.sql.unsafe(REPAIR);
    },
    async stopped(at, work) {
      const stop = new AbortController();
      await hold(
        at,
        () => refresh(at, { signal: stop.signal }),
        async () => {
          await write(at, work);
          stop.abort(new Error("stopped"));
        },
      ).catch((error: unknown) => expect(messageOf(error)).toBe("stopped"));
    },
  };
  const go = async (at: Place, works: readonly Work[]) => {
    for (const work of works) await ways[random.pick(WAYS)](at, work);
  };
  const later = (count: number) => Array.from({ length: count }, () => writers.later());
  const compare = async (at: Place) => {
    const { kept, anew } = await readBothWays(at, { ...REPORT_SETTINGS, check: random.chance(0.2) });
    expect(kept).toEqual(anew);
  };
  await place.sql.unsafe(EMPTY);
  const works = [...writers.firstSync(), ...later(6)];
  if (file === undefined) {
    await go(place, works);
    return compare(place);
  }
  const cut = random.int(works.length);
  await go(place, works.slice(0, cut));
  const restored = await restore(file);
  try {
    await go(restored, works.slice(cut));
    await compare(restored);
  } finally {
    await restored.close();
  }
}

async function restore(name: string): Promise<Place> {
  const file = folder.at(`${name}.backup`);
  const { signal } = new AbortController();
  const definitions = readDefinitions();
  await writeBackup({ sql: place.sql, definitions, file, signal });
  const restored = await openPlace(await createTestDatabase({ migrated: false }));
  await restoreBackup({ sql: restored.sql, definitions, file, place: "here", signal });
  return restored;
}

async function playAll(courses: number, backups = false): Promise<void> {
  for (let seed = SEED; seed < SEED + courses; seed++)
    await play(seed, backups ? String(seed) : undefined).catch((error: unknown) => {
      throw new Error(`REFRESH_SEED=${seed}: ${messageOf(error)}`, { cause: error });
    });
}

test("answers that are kept up to date are those that are computed anew", () => playAll(1));

describe("so they are", { tags: ["long"], timeout: 600_000 }, () => {
  test("after many courses", () => playAll(80));
  test("where a backup is restored on the way", () => playAll(15, true));
});
