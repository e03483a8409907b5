import { describe, expect } from "vitest";
import {
  findHeld,
  findMissing,
  findOpenEnds,
  forgetSeen,
  type MissingFacts,
  recordAsked,
  recordMissing,
} from "../../../src/mirror/lists/missing-records.ts";
import { createIdSet } from "../../../src/mirror/walk/id-set.ts";
import type { Resource } from "../../../src/resources/resources.ts";
import { type Loading, loadingTest as test } from "../../support/loading.ts";
import { wireProject, wireUser, wireVersion } from "../../support/wire-records.ts";

const BEFORE = "2024-05-14T00:00:00.000Z";
const DURING = "2024-05-15T00:00:01.000Z";

const toUser = (id: string) => wireUser(id);
const idsOf = (count: number) => Array.from({ length: count }, (_, n) => String(n + 1));

function note({ sql }: Loading, seen: readonly string[], facts: Partial<MissingFacts> = {}) {
  const set = createIdSet();
  for (const id of seen) set.add(id);
  // The first run has loaded what is here before; the walk began in the second.
  const { runId = 2 } = facts;
  const defaults = { resource: "user" as Resource, beganRunId: runId, runId, noticedAt: DURING };
  const limits = { maxDeleteRatio: 0.05, deleteHeldAfterMs: 3 * 86_400_000, allowMassDelete: false };
  return sql.begin(async (tx) => {
    const given = { ...defaults, ...limits, seen: set, ...facts };
    const ends = await findOpenEnds(tx, given.resource, given.beganRunId);
    return recordMissing(tx, { ...given, ends });
  });
}

const noted = ({ sql }: Loading) => sql`
  select resource, record_id, run_id, noticed_at, asked_at from sync.missing_records where held_until is null
  order by resource, record_id`;
const notedIds = async (loading: Loading) => (await noted(loading)).map(({ record_id }) => record_id);

describe("a whole walk's missing records", () => {
  test("are the live ones that were here before it began and that it did not meet", async ({ loading }) => {
    const { load, sql } = loading;
    await load("user", idsOf(4).map(toUser), { at: BEFORE });
    await load("version", [wireVersion("7", wireProject("1"))], { at: BEFORE });
    loading.nextRun();
    await loading.load("user", [wireUser("5")], { at: DURING });
    await sql`update mirror.users set deleted_at = ${BEFORE} where id = '4'`;
    expect(await note(loading, ["1", "9"])).toEqual({ live: 4, met: 1, known: 3, missing: 2, held: null });
    const facts = { resource: "user", run_id: 2, noticed_at: "2024-05-15 00:00:01+00", asked_at: null };
    expect(await noted(loading)).toEqual([
      { ...facts, record_id: "2" },
      { ...facts, record_id: "3" },
    ]);
  });

  test("go by runs: a clock that stood ten years ahead changes nothing", async ({ loading }) => {
    await loading.load("user", [wireUser("1"), wireUser("2")], { at: "2036-05-15T00:00:00Z" });
    expect(await note(loading, ["1"])).toMatchObject({ known: 2, missing: 1 });
    expect(await notedIds(loading)).toEqual(["2"]);
  });

  test("of a resumed walk are those from before the run in which it began", async ({ loading }) => {
    await loading.load("user", [wireUser("1"), wireUser("2")]);
    loading.nextRun();
    loading.nextRun();
    await loading.load("user", [wireUser("3")]);
    expect(await note(loading, ["1"], { beganRunId: 2, runId: 4 })).toMatchObject({ known: 2, missing: 1 });
    expect(await notedIds(loading)).toEqual(["2"]);
  });

  test("that were noticed while the walk rested stay, though it saw them before", async ({ loading }) => {
    await loading.load("user", idsOf(4).map(toUser), { at: BEFORE });
    await note(loading, ["3", "4"]);
    await note(loading, ["2", "4"], { runId: 4 });
    await note(loading, ["1", "2", "3", "4"], { beganRunId: 3, runId: 5 });
    expect(await notedIds(loading)).toEqual(["1", "3"]);
  });

  test("are of projects those alone that the list ever showed", async ({ loading }) => {
    await loading.load("version", [wireVersion("7", wireProject("1"))], { at: BEFORE });
    await loading.load("project", [wireProject("2")], { at: BEFORE, source: "detail" });
    await loading.load("project", [wireProject("3"), wireProject("4")], { at: BEFORE });
    const counts = await note(loading, ["4"], { resource: "project" });
    expect(counts).toMatchObject({ known: 2, missing: 1, held: null });
    expect(await notedIds(loading)).toEqual(["3"]);
  });

  test("replace those of an earlier walk; one that still is keeps its two moments", async ({ loading }) => {
    await loading.load("user", idsOf(4).map(toUser), { at: BEFORE });
    await note(loading, ["3", "4"]);
    const asked = [{ resource: "user", id: "1", outcome: "undecided" }] as const;
    await loading.sql.begin((tx) => recordAsked(tx, asked, DURING));
    await note(loading, ["2", "4"], { runId: 3, noticedAt: "2024-05-16T00:00:00Z" });
    expect(await noted(loading)).toMatchObject([
      { record_id: "1", run_id: 3, noticed_at: "2024-05-15 00:00:01+00", asked_at: "2024-05-15 00:00:01+00" },
      { record_id: "3", run_id: 3, noticed_at: "2024-05-16 00:00:00+00", asked_at: null },
    ]);
    await note(loading, idsOf(4), { runId: 4 });
    expect(await noted(loading)).toEqual([]);
  });

  test("are found in a table of many windows", { tags: ["long"] }, async ({ loading }) => {
    await loading.sql`
      insert into mirror.users (id, first_seen_at, changed_at, record_hash)
      select n, ${BEFORE}::timestamptz, ${BEFORE}::timestamptz, '' from generate_series(1, 12000) as n`;
    const seen = idsOf(12_000).filter((id) => Number(id) % 1000 !== 7);
    const counts = { live: 12_000, met: 11_988, known: 12_000, missing: 12, held: null };
    expect(await note(loading, seen)).toEqual(counts);
    expect(await notedIds(loading)).toEqual(
      idsOf(12_000)
        .filter((id) => !seen.includes(id))
        .sort(),
    );
  });

  /** How many are known and missing, the ratio, and whether they are held back. */
  const LIMITS: [known: number, missing: number, maxDeleteRatio: number, isHeld: boolean][] = [
    [25, 20, 0.05, false],
    [25, 21, 0.05, true],
    [25, 20, 0, false],
    [500, 25, 0.05, false],
    [500, 26, 0.05, true],
    [500, 499, 1, false],
  ];

  test("are held back where more are missing than twenty, and than the ratio allows", async ({ loading }) => {
    for (const [known, missing, maxDeleteRatio, isHeld] of LIMITS) {
      const what = `${missing} of ${known}, ${maxDeleteRatio}`;
      await loading.sql`truncate mirror.users, sync.missing_records cascade`;
      loading.nextRun({ runId: 1 });
      await loading.load("user", idsOf(known).map(toUser), { at: BEFORE });
      const seen = [...idsOf(known).slice(missing), "9999"];
      const result = await note(loading, seen, { maxDeleteRatio });
      expect(result, what).toMatchObject({ known, missing });
      expect(result.held === null, what).toBe(!isHeld);
      expect(await noted(loading), what).toHaveLength(isHeld ? 0 : missing);
    }
  });

  test("are held back with a sentence that says how many, since when, until when, and what lifts it", async ({
    loading,
  }) => {
    await loading.load("user", idsOf(1200).map(toUser), { at: BEFORE });
    const { held } = await note(loading, idsOf(1200).slice(1, 1000));
    expect(held).toBe(
      "201 users have been missing from the list since 2024-05-15T00:00Z, more than DOCMIRROR_MAX_DELETE_RATIO allows: " +
        "they are kept at least until 2024-05-18T00:00Z; `docmirror sync --full --allow-mass-delete` deletes now what is gone",
    );
    const most = await note(loading, ["1"], { runId: 3 });
    expect(most.held).toContain("1,199 users");
    expect(most.held).toContain("kept until a person decides");
    const allowed = await note(loading, ["1"], { allowMassDelete: true });
    expect(allowed).toMatchObject({ missing: 1199, held: null });
    expect(await noted(loading)).toHaveLength(1199);
  });

  test("that an earlier walk missed do not count again, and stay to be asked for", async ({ loading }) => {
    await loading.load("user", idsOf(100).map(toUser), { at: BEFORE });
    await note(loading, ["1"], { allowMassDelete: true });
    const left = await note(loading, ["1", "2"], { runId: 3 });
    expect(left).toMatchObject({ known: 100, missing: 98, held: null });
    await loading.sql`delete from sync.missing_records where record_id::integer <= 60`;
    const { held } = await note(loading, ["1", "2"], { runId: 4 });
    expect(held).toContain("58 users");
    expect(new Set(await notedIds(loading))).toEqual(new Set(idsOf(100).slice(60)));
  });

  test("of a walk that met nothing are a bug, and none is written down", async ({ loading }) => {
    await loading.load("user", [wireUser("1")], { at: BEFORE });
    const noting = note(loading, [], { allowMassDelete: true });
    await expect(noting).rejects.toThrow("a walk of users that saw nothing");
    expect(await noted(loading)).toEqual([]);
    expect(await note(loading, [], { resource: "file" })).toMatchObject({ known: 0, missing: 0, held: null });
  });
});

describe("missing records that are held back", () => {
  /** So many nights after the first one; a hundred users are known, and those of `missing` were not met. */
  async function night(loading: Loading, nights: number, missing: readonly string[], facts = {}) {
    const noticedAt = new Date(Date.parse(DURING) + nights * 86_400_000).toISOString();
    const seen = idsOf(100).filter((id) => !missing.includes(id));
    const { held } = await note(loading, seen, { runId: 2 + Math.ceil(2 * nights), noticedAt, ...facts });
    const found = await findHeld(loading.sql);
    return { isHeld: held !== null, held: found[0]?.records ?? 0, asked: (await noted(loading)).length };
  }
  const FIRST = idsOf(30);
  const HELD = { isHeld: true, held: 30, asked: 0 };
  const GOING = { isHeld: false, held: 0, asked: 30 };
  const held = test.extend<{ mirror: Loading }>({
    async mirror({ loading }, use) {
      await loading.load("user", idsOf(100).map(toUser), { at: BEFORE });
      expect(await night(loading, 0, FIRST)).toEqual(HELD);
      await use(loading);
    },
  });

  held("are asked for once whole walks have missed them for three days", async ({ mirror }) => {
    expect(await night(mirror, 2.9, FIRST)).toEqual(HELD);
    expect(await night(mirror, 3, FIRST)).toEqual(GOING);
  });

  held(
    "wait for their own three days where more go later, and anew where they were shown",
    async ({ mirror }) => {
      const later = idsOf(55).slice(10);
      expect(await night(mirror, 1, later)).toEqual({ isHeld: true, held: 45, asked: 0 });
      expect(await night(mirror, 3, later)).toEqual({ isHeld: true, held: 25, asked: 20 });
      const returned = [...later, ...idsOf(3)];
      expect(await night(mirror, 3.5, returned)).toEqual({ isHeld: true, held: 28, asked: 20 });
      expect(await night(mirror, 4, returned)).toEqual({ isHeld: false, held: 0, asked: 48 });
    },
  );

  held(
    "wait for a person where more than half of the list would go, or the setting says never",
    async ({ mirror }) => {
      expect(await night(mirror, 9, FIRST, { deleteHeldAfterMs: "never" })).toEqual(HELD);
      expect(await findHeld(mirror.sql)).toMatchObject([{ since: "2024-05-15 00:00:01+00", until: null }]);
      expect(await night(mirror, 10, idsOf(51))).toEqual({ isHeld: true, held: 51, asked: 0 });
      expect(await night(mirror, 20, idsOf(51))).toEqual({ isHeld: true, held: 51, asked: 0 });
      expect(await night(mirror, 21, idsOf(50))).toEqual({ isHeld: false, held: 0, asked: 50 });
    },
  );

  held("are forgotten by any walk that meets them, whole or not", async ({ mirror }) => {
    await forgetSeen(mirror.sql, "user", new Set(["1", "2"]), 1);
    expect(await findHeld(mirror.sql)).toMatchObject([{ resource: "user", records: 28 }]);
    expect(await night(mirror, 1, [])).toEqual({ isHeld: false, held: 0, asked: 0 });
  });
});

test("a missing record that a later walk meets is missing no longer", async ({ loading }) => {
  await loading.load("user", idsOf(4).map(toUser), { at: BEFORE });
  await note(loading, ["4"]);
  await forgetSeen(loading.sql, "user", new Set(["2", "4"]));
  await forgetSeen(loading.sql, "build", new Set(["1"]));
  expect(await notedIds(loading)).toEqual(["1", "3"]);
});

test("missing records are asked for by turns of resources, the oldest first", async ({ loading }) => {
  await loading.sql`
    insert into sync.missing_records (resource, record_id, run_id, noticed_at, asked_at) values
      ('build', '1', 1, '2024-05-03', '2024-05-06'), ('build', '2', 1, '2024-05-03', '2024-05-05'),
      ('build', '3', 1, '2024-05-04', null), ('build', '4', 1, '2024-05-03', null), ('user', '9', 1, '2024-05-04', null),
      ('file', '5', 1, '2024-05-01', null)`;
  const all = await findMissing(loading.sql, ["build", "user"], { limit: 10, now: DURING });
  const names = all.map(({ resource, id }) => `${resource} ${id}`);
  expect(names).toEqual(["build 4", "user 9", "build 3", "build 2", "build 1"]);
  const two = await findMissing(loading.sql, ["build", "user"], { limit: 2, now: DURING });
  expect(two).toEqual(all.slice(0, 2));
});
