import { describe, expect, test } from "vitest";
import { explainBuild } from "../../../src/mirror/builds/explain-build.ts";
import { findFutureDates, findOffsetSpans } from "../../../src/mirror/builds/source-zone.ts";
import { mirrorPage } from "../../../src/page/mirror/mirror-page.ts";
import { askEach } from "../../../src/page/parts/answers.ts";
import type { Address } from "../../../src/page/parts/document.ts";
import type { PageMoment } from "../../../src/page/parts/freshness.ts";
import { refreshReport } from "../../../src/report/refresh/refresh.ts";
import { findFigures } from "../../../src/report/status/figures.ts";
import { findStatus } from "../../../src/report/status/find-status.ts";
import { QUIET } from "../../../src/simulate/settings.ts";
import { NO_LIMIT } from "../../support/no-limit.ts";
import { type QuickWorld, startQuickWorld } from "../../support/quick-world.ts";

const MINUTE_MS = 60_000;
const SMALL = { users: 3, projects: 4, versions: 6, files: 3, builds: 60, hiddenShare: 0 };
const STILL = { ...SMALL, rates: QUIET, stuckShare: 0, clockSteps: false };

/** A mirror that has read its world once, at the begin of an hour. */
async function startMirror(options = {}): Promise<QuickWorld> {
  const quick = await startQuickWorld({ ...STILL, startAt: new Date("2024-05-15T11:59:00Z"), ...options });
  const { error } = await quick.sync({ kind: "full" });
  if (error) throw error;
  quick.world.advance(MINUTE_MS);
  return quick;
}

async function watch(quick: QuickWorld, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const { error } = await quick.watch();
    if (error) throw error;
    quick.world.advance(MINUTE_MS);
  }
}

const roundsOf = ({ sql }: QuickWorld) => sql`
  select id::int, requests::int, rounds, to_char(rounds_since at time zone 'UTC', 'HH24:MI') as since,
    to_char(started_at at time zone 'UTC', 'HH24:MI') as began, rounds_requests::int as asked
  from sync.runs where kind = 'watch' order by id`;

describe("rounds that saw nothing", () => {
  test("leave one row an hour, which says for how many it stands", async () => {
    await using quick = await startMirror({ startAt: new Date("2024-05-15T12:55:00Z") });
    await watch(quick, 8);
    expect(await roundsOf(quick)).toEqual([
      { id: 5, requests: 1, rounds: 4, since: "12:56", began: "12:59", asked: 4 },
      { id: 9, requests: 1, rounds: 4, since: "13:00", began: "13:03", asked: 4 },
    ]);
    expect(await quick.sql`select 1 from sync.walks where run_id > 1`).toHaveLength(2);
  });

  test("stay beside one that saw something, and on both sides of a gap", { tags: ["long"] }, async () => {
    await using quick = await startMirror();
    await watch(quick, 3);
    quick.world.triggerBuilds(1);
    await watch(quick, 1);
    quick.world.advance(10 * MINUTE_MS);
    expect(await quick.sql`select 1 from sync.open_builds`).toHaveLength(1);
    // The build ends.
    await watch(quick, 1);
    await watch(quick, 3);
    expect((await roundsOf(quick)).map(({ id, rounds }) => [id, rounds])).toEqual([
      [4, 3],
      [5, null],
      [6, null],
      [9, 3],
    ]);
  });
});

test("nothing that is told differs from what all rows of rounds would tell", { tags: ["long"] }, async () => {
  await using quick = await startMirror({
    rates: { ...QUIET, builds: 60, projectChanges: 20 },
    stuckShare: 0.05,
    clockOffsetMs: 40_000,
  });
  await quick.sql.unsafe(`
      create schema kept;
      create table kept.runs as select * from sync.runs with no data;
      create table kept.walks as select * from sync.walks with no data;
      create function kept.keep() returns trigger language plpgsql as
        'begin execute format(''insert into kept.%I select ($1).*'', tg_table_name) using old; return old; end';
      create trigger keep before delete on sync.runs for each row execute function kept.keep();
      create trigger keep before delete on sync.walks for each row execute function kept.keep()`);
  for (const stretch of [12, 8, 15]) {
    await watch(quick, stretch);
    quick.world.advance(7 * MINUTE_MS);
    const { error } = await quick.sync({ kind: "incremental" });
    if (error) throw error;
    quick.world.advance(MINUTE_MS);
  }
  await watch(quick, 6);
  const spans = { stuckAfterMs: 7_200_000, staleAfterMs: 7_200_000 };
  const settings = { sourceTimezone: "Etc/UTC", isWorker: true, ...spans, ...NO_LIMIT };
  await refreshReport(quick.sql, settings);
  const now = quick.world.now();

  const { sql } = quick;
  const told = async () => {
    const ids = await sql<{ id: string }[]>`select id from mirror.builds order by id`;
    const explained: unknown[] = [];
    for (const { id } of ids) explained.push(await explainBuild(sql, id, "Etc/UTC"));
    const since = "2024-05-15T00:00:00Z";
    const rest = await sql.begin("isolation level repeatable read", async (tx) => ({
      blocks: await askEach(tx, await mirrorPage({} as Address).files.ask(tx, { now } as PageMoment)),
      counts: [
        ...(await tx`
            select (select sum(rounds)::int from report.walks join report.runs using (run_id) where walk is not null) as walks,
              (select count(*)::int from report.walks where walk is not null and not is_good) as not_good`),
      ],
      figures: (await findFigures(tx, settings)).filter(
        (figures) => !("docmirror_database_bytes" in figures),
      ),
      arrivals: [...(await tx`select * from report.arrivals`)],
      current: [
        ...(await tx`select resource, last_good_at, current_through, last_walk, last_attempt_at, is_whole, deficit from report.freshness order by 1`),
      ],
      totals: [
        ...(await tx`select sum(rounds)::int, sum(rounds_requests)::int, sum(rounds_bytes)::int, min(rounds_since), max(finished_at) from report.runs`),
      ],
    }));
    // Rows take room.
    const { sizes, ...status } = await findStatus(sql, settings, now);
    const lists = rest.blocks.lists?.map(({ lag_s: _, ...row }) => row);
    return {
      explained,
      ...rest,
      blocks: { ...rest.blocks, lists },
      spans: await findOffsetSpans(sql, since),
      future: await findFutureDates(sql, "Europe/Berlin", since),
      status,
    };
  };

  const merged = await told();
  expect((await sql`select 1 from kept.runs`).length).toBeGreaterThan(10);
  await quick.sql.unsafe(`
      insert into sync.runs overriding system value select * from kept.runs;
      do $$ begin execute (
        select format('insert into sync.walks (%1$s) select %1$s from kept.walks', string_agg(attname, ', '))
        from pg_attribute where attrelid = 'sync.walks'::regclass and attnum > 0 and not attisdropped and attgenerated = ''
      ); end $$;
      update sync.runs set rounds = 1, rounds_first_id = id, rounds_since = started_at, rounds_requests = requests, rounds_bytes = bytes where rounds is not null`);
  expect(await told()).toEqual(merged);
});
