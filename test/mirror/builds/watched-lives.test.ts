/**
 * Builds live in virtual time while they are watched, and what is recorded of them is compared with the truth. `npm run test:month` does the same
 * with 20,000 builds. A failure names the seed: LIFE_SEED=… plays it again.
 */
import { randomInt } from "node:crypto";
import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import { judge, type Verdict } from "../../../lab/judge/lives.ts";
import type { Oddities } from "../../../lab/judge/transition-fault.ts";
import { type LifeOptions, live } from "../../../lab/month/life.ts";
import { type SessionPool, startSessionPool } from "../../../lab/month/session-pool.ts";
import { createTestDatabase } from "../../support/database.ts";

vi.setConfig({ maxConcurrency: 3 });

const SEED = Number(process.env.LIFE_SEED ?? randomInt(1_000_000));
const HOUR_MS = 3_600_000;

let pool: SessionPool;

beforeAll(async () => {
  pool = await startSessionPool(inject("databaseServer").adminUrl);
});

afterAll(() => pool[Symbol.asyncDispose]());

/** Many builds in few hours, requests that take seconds, and hung builds that a job closes. */
async function watch(
  options: Pick<LifeOptions, "days" | "everyMinutes"> & Partial<LifeOptions>,
  oddities: Oddities = {},
): Promise<Verdict> {
  await using database = await createTestDatabase();
  const databaseUrl = pool.through(database.url);
  const world = { stuckShare: 0.05, closeStuckAfterMs: 3 * HOUR_MS, ...options.world };
  const life = await live({ seed: SEED, buildsPerDay: 1500, wayMs: 3000, databaseUrl, ...options, world });
  const verdict = await judge(life, databaseUrl, oddities);
  expect(verdict.faults, `LIFE_SEED=${SEED}`).toEqual([]);
  expect(verdict.inside).toBe(verdict.transitions);
  return verdict;
}

const shareOf = ({ of, seen }: { of: number; seen: number }) => seen / of;

describe.concurrent("each transition lies within its bounds", () => {
  test("of builds watched each minute, nearly all seen while they build", { tags: ["long"] }, async () => {
    const { seen } = await watch({ everyMinutes: 1, days: 0.5 / 24, buildsPerDay: 3000 });
    expect(shareOf(seen.building), `LIFE_SEED=${SEED}`).toBeGreaterThan(0.8);
  });

  test("of builds watched each five minutes", { tags: ["long", "exhaustive"] }, async () => {
    const { seen } = await watch({ everyMinutes: 5, days: 3 / 24 });
    expect(shareOf(seen.building), `LIFE_SEED=${SEED}`).toBeGreaterThan(0.35);
  });

  test("of builds watched hourly", { tags: ["long", "exhaustive"] }, () =>
    watch({ everyMinutes: 60, days: 0.6, buildsPerDay: 600 }),
  );

  test("of builds that only a sync sees, each night", { tags: ["long"] }, () =>
    watch({ everyMinutes: null, days: 4, buildsPerDay: 150, world: { closeStuckAfterMs: 30 * HOUR_MS } }),
  );

  test("of a service whose clock is ahead by 90 s", { tags: ["long", "exhaustive"] }, () =>
    watch({ everyMinutes: 5, days: 2 / 24, world: { clockOffsetMs: 90_000 } }, { isClockAhead: true }),
  );

  test("of a service whose clock is behind by 90 s", { tags: ["long"] }, () =>
    watch({ everyMinutes: 5, days: 2 / 24, world: { clockOffsetMs: -90_000 } }),
  );

  test("of a service in Chicago in the night that ends summer time", { tags: ["long", "exhaustive"] }, () =>
    watch(
      {
        everyMinutes: 5,
        days: 3.5 / 24,
        mayLack: true,
        world: { timeZone: "America/Chicago", startAt: new Date("2024-11-03T05:00:00Z") },
      },
      { repeatedHour: "2024-11-03 01:" },
    ),
  );
});
