import { describe, expect, test } from "vitest";
import { RESOURCES, type Resource } from "../../../src/resources/resources.ts";
import {
  describeOldest,
  findListFreshness,
  type ListFreshness,
  mirrorAgeMs,
} from "../../../src/store/ledger/list-freshness.ts";
import { createTestDatabase } from "../../support/database.ts";

const NOW = new Date("2024-05-15T12:00:00Z");
const HOUR_MS = 3_600_000;

const read = (resource: Resource, finishedAt: string | null): ListFreshness => ({
  resource,
  finishedAt,
  startedAt: finishedAt,
  walk: finishedAt === null ? null : "whole",
});
/** All lists were read an hour ago, but one. */
const allBut = (resource: Resource, finishedAt: string | null) =>
  RESOURCES.map((one) => read(one, one === resource ? finishedAt : "2024-05-15T11:00:00Z"));

describe("a mirror is as old as", () => {
  test("the list that was read longest ago", () => {
    const lists = allBut("version", "2024-05-15 05:00:00.000456+00");
    expect(mirrorAgeMs(lists, NOW)).toBe(7 * HOUR_MS);
    expect(describeOldest(lists, NOW)).toEqual({
      resource: "version",
      why: "was last read to its end at 2024-05-15 05:00:00Z",
    });
  });

  test("nobody knows while one list was never read", () => {
    const lists = allBut("build", null);
    expect(mirrorAgeMs(lists, NOW)).toBe(Number.POSITIVE_INFINITY);
    expect(describeOldest(lists, NOW)).toEqual({ resource: "build", why: "was never read to its end" });
  });

  test("nobody knows where a clock dated a walk ahead of now; five minutes are no wrong clock", () => {
    const lists = allBut("user", "2034-05-15T12:00:00Z");
    expect(mirrorAgeMs(lists, NOW)).toBe(Number.POSITIVE_INFINITY);
    expect(describeOldest(lists, NOW).why).toMatch(/^was last read at 2034-.*a clock is or was wrong$/);
    expect(mirrorAgeMs(allBut("user", "2024-05-15T12:05:00Z"), NOW)).toBe(HOUR_MS);
  });
});

test("a list is as fresh as the newest run that read it well, whatever the clocks said", async () => {
  await using database = await createTestDatabase();
  const { sql } = database;
  const walks: [number, string, number | null, string][] = [
    [1, "whole", null, "2034-05-15"],
    [2, "whole", null, "2024-05-11"],
    [3, "head", 0, "2024-05-12"],
    [4, "head", 5, "2024-05-13"],
    [5, "not_whole", null, "2024-05-14"],
  ];
  for (const [run, walk, deficit, day] of walks) {
    await sql`
        insert into sync.runs (id, kind, status, started_at, heartbeat_at, pid, host) overriding system value
        values (${run}, 'incremental', 'partial', ${day}, ${day}, 1, 'here')`;
    await sql`
        insert into sync.walks (run_id, resource, walk, started_at, finished_at, deficit)
        values (${run}, 'build', ${walk}, ${`${day}T02:00:00Z`}, ${`${day}T02:10:00Z`}, ${deficit})`;
  }
  const lists = await findListFreshness(sql);
  expect(lists.map(({ resource }) => resource)).toEqual([...RESOURCES]);
  expect(lists.find(({ resource }) => resource === "build")).toMatchObject({
    walk: "head",
    finishedAt: expect.stringContaining("2024-05-12"),
  });
  expect(lists.filter(({ finishedAt }) => finishedAt === null)).toHaveLength(RESOURCES.length - 1);
});
