/** @module-tag long */
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { DAY_MS, type HungBuilds, measureRounds } from "../../../lab/month/round-costs.ts";
import { type SessionPool, startSessionPool } from "../../../lab/month/session-pool.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { createKeptLog } from "../../support/quick-world.ts";

/** The hour in which those are due that a sync at its beginning saw: after 22 hours. */
const DUE = { from: 21.5, to: 22.5 };

let pool: SessionPool;

beforeAll(async () => {
  pool = await startSessionPool(inject("databaseServer").adminUrl);
});

afterAll(() => pool[Symbol.asyncDispose]());

const hungFor = (count: number): HungBuilds => ({ count, youngestMs: DAY_MS, oldestMs: 30 * DAY_MS });

/** How many open builds there are, and how many of them were seen after the first sync. */
const countOpen = ({ sql }: TestDatabase) => sql`
  select count(*) as open, count(*) filter (where seen_at > since.run) as seen
  from sync.open_builds, (select min(started_at) as run from sync.runs) as since`;

describe.concurrent("an hour of rounds", () => {
  test("looks at 3,000 hung builds, as each day, by the lists of their states and fewer than 300 details", async () => {
    await using database = await createTestDatabase();
    const databaseUrl = pool.through(database.url);
    const [hour] = await measureRounds({ databaseUrl, hung: hungFor(3000), hours: DUE });
    expect(hour?.details).toBeLessThan(300);
    expect(hour?.statePages).toBeLessThan(35);
    expect(await countOpen(database)).toEqual([{ open: 3000, seen: 3000 }]);
  });

  test("asks for four stuck builds a round where there is no such list, and says so", {
    tags: ["exhaustive"],
  }, async () => {
    await using database = await createTestDatabase();
    const databaseUrl = pool.through(database.url);
    const { log, messages } = createKeptLog();
    log.debug = log.info;
    const options = { databaseUrl, hung: hungFor(600), hours: DUE, offersState: false, log };
    const [hour] = await measureRounds(options);
    // From minute 30 on they are due.
    expect(hour).toEqual({ headPages: 60, statePages: 0, details: 31 * 4, mostDetails: 4 });
    const said = messages().filter((message) => message.includes("has no list of builds by state"));
    expect(said).toHaveLength(31);
  });
});
