import { beforeAll, beforeEach, expect, test } from "vitest";
import { mergeQuietRounds } from "../../../src/store/ledger/run-ledger.ts";
import { useDatabase } from "../../support/use-database.ts";

const { sql } = useDatabase();
beforeAll(async () => {
  await sql`
    insert into mirror.builds (id, state, success, first_seen_at, changed_at, record_hash)
    values ('1', 'building', false, now(), now(), '')`;
});

/** Five rounds that saw nothing, a minute apart, with the numbers 1 to 5. */
beforeEach(async () => {
  await sql`truncate sync.runs, sync.walks, sync.open_builds, sync.places, sync.missing_records, rollup.state`;
  await sql`
    insert into sync.runs (id, kind, status, started_at, finished_at, heartbeat_at, pid, host, requests, bytes, unfinished,
      rounds, rounds_first_id, rounds_since, rounds_requests, rounds_bytes)
    overriding system value
    select id, 'watch', 'succeeded', at, at + interval '2 s', at, 1, 'test', 2, 100, '{"waiting": 0}', 1, id, at, 2, 100
    from generate_series(1, 5) as id cross join lateral (select timestamptz '2024-05-15 12:00Z' + id * interval '1 minute') as moment (at)`;
  await sql`
    insert into sync.walks (run_id, resource, walk, started_at, finished_at, pages, deficit)
    select id, 'build', 'head', started_at, finished_at, 1, 0 from sync.runs`;
});

/** The rows that are left, each with the number of rounds that it stands for. */
const left = async () => {
  const rows =
    await sql`select concat(id, ': ', coalesce(rounds::text, 'none')) as row from sync.runs order by id`;
  return rows.map(({ row }) => row).join(", ");
};

test("are one row, that of the newest, with the figures of all", async () => {
  await mergeQuietRounds(sql, 5);
  await mergeQuietRounds(sql, 5);
  const [row] = await sql`
    select id::int, requests::int, rounds, rounds_first_id::int as first, rounds_since = '2024-05-15 12:01Z' as "isSince", rounds_requests::int as asked,
      rounds_bytes::int as bytes, started_at = '2024-05-15 12:05Z' as "isLast", (select count(*)::int from sync.walks) as walks
    from sync.runs`;
  expect(row).toEqual({
    id: 5,
    requests: 2,
    rounds: 5,
    first: 1,
    isSince: true,
    asked: 10,
    bytes: 500,
    isLast: true,
    walks: 1,
  });
});

const runs = (changes: string) => `update sync.runs set ${changes}`;
const moved = (by: string) => `started_at = started_at ${by}, rounds_since = rounds_since ${by}`;
const insert = (into: string, values: string) => `insert into ${into} values (${values})`;
const OPEN_BUILD = insert(
  "sync.open_builds (build_id, since, seen_at, run_id, request)",
  "'1', now(), now(), 3, '/'",
);
const MISSING = insert(
  "sync.missing_records (resource, record_id, run_id, noticed_at)",
  "'build', '1', 3, now()",
);
const REFRESHED = insert(
  "rollup.state (id, source_timezone, stuck_after_s, definition, run_id, refreshed_at)",
  "1, 'Etc/UTC', 60, '', 4, now()",
);
const ENDS_AT_3 = "1: 1, 2: 1, 3: 1, 5: 2";

test.each([
  ["that last saw an open build stays by itself", OPEN_BUILD, "3: 1, 5: 4"],
  [
    "in which a place was noted stays by itself",
    insert("sync.places (run_id, place)", "2, '{}'"),
    "2: 1, 5: 4",
  ],
  ["that noted a missing record stays by itself", MISSING, "3: 1, 5: 4"],
  ["of which the reports are stays by itself", REFRESHED, "4: 1, 5: 4"],
  ["that saw something ends the search", runs("rounds = null where id = 3"), "1: 1, 2: 1, 3: none, 5: 2"],
  ["with another deficit ends the search", "update sync.walks set deficit = 7 where run_id = 3", ENDS_AT_3],
  ["that left other work ends the search", runs(`unfinished = '{"waiting": 2}' where id = 3`), ENDS_AT_3],
  ["of another hour ends the search", runs(`${moved("- interval '4 minutes'")} where id <= 3`), ENDS_AT_3],
  ["by a clock put back ends the search", runs(`${moved("+ interval '3 minutes'")} where id = 3`), ENDS_AT_3],
  [
    "long before the next ends the search",
    runs(`${moved("+ interval '6 minutes'")} where id > 3`),
    ENDS_AT_3,
  ],
  [
    "that saw something takes no other",
    runs("rounds = null where id = 5"),
    "1: 1, 2: 1, 3: 1, 4: 1, 5: none",
  ],
  [
    "of an earlier merge brings its figures",
    runs("rounds = 7, rounds_since = rounds_since - interval '6 minutes' where id = 1"),
    "5: 11",
  ],
])("one %s", async (_what, change, rows) => {
  await sql.unsafe(change);
  await mergeQuietRounds(sql, 5);
  expect(await left()).toBe(rows);
});
