import { randomInt } from "node:crypto";
import { describe, expect } from "vitest";
import { countPrunable, findHistoryBegin, findPruneMoment, prune } from "../../../src/mirror/run/prune.ts";
import { createRandom } from "../../../src/simulate/random.ts";
import { type Loading, setUpLoading, loadingTest as test } from "../../support/loading.ts";
import { wireBuild, wireProject, wireUser, wireVersion } from "../../support/wire-records.ts";

const RESOURCES = ["project", "version", "build"] as const;
const HOURS = 150;
const at = (hour: number) => new Date(Date.UTC(2024, 4, 1, hour)).toISOString();

const pruneAll = ({ sql }: Loading, horizon: string, signal = new AbortController().signal) =>
  prune({ sql, kind: "changes and runs", horizon, prunedAt: "2025-01-01T00:00:00.000Z", signal });

/** Something happens to one of a few records each hour: a change, a deletion, a return, and now and then a change that is stored late. */
async function liveThroughHours(loading: Loading, seed: number): Promise<void> {
  const random = createRandom(seed);
  const project = (id: string, n: number) =>
    wireProject(id, {
      name: `Project ${n}`,
      modified_date: new Date(Date.UTC(2024, 4, 1, n)).toISOString().slice(0, 19),
      ...(random.chance(0.3) && { users: [`/api/v1/user/${n}/`] }),
    });
  for (let hour = 1; hour <= HOURS; hour++) {
    const resource = random.pick(RESOURCES);
    const id = String(1 + random.int(4));
    if (random.chance(0.2)) {
      await loading.sql`insert into sync.missing_records values (${resource}, ${id}, 1, now(), null)`;
      await loading.loader.retire([{ resource, id, askedAt: at(hour), observedAt: at(hour), request: null }]);
      continue;
    }
    const record =
      resource === "project"
        ? project(id, hour)
        : resource === "version"
          ? wireVersion(id, project(id, hour), { identifier: `origin/${random.int(3)}` })
          : wireBuild(id, {
              state: random.pick(["triggered", "building", "finished"]),
              version: `/api/v1/version/${random.int(4)}/`,
            });
    await loading.load(resource, [record], { at: at(random.chance(0.1) ? Math.max(1, hour - 3) : hour) });
  }
}

/** All that can be known of the given moments, and each state that reached beyond the horizon. */
async function lookBack({ sql }: Loading, moments: readonly string[], horizon: string): Promise<unknown> {
  const seen: Record<string, unknown> = {};
  for (const resource of RESOURCES) {
    for (const moment of moments) {
      const rows = await sql.unsafe(`select * from mirror.${resource}s_as_of('${moment}') order by id`);
      seen[`${resource}s at ${moment}`] = [...rows];
    }
    if (resource === "build") continue;
    const rows = await sql.unsafe(
      `select *, greatest(valid_from, '${horizon}') as valid_from from mirror.${resource}_history
       where valid_to > '${horizon}' or valid_to is null order by id, valid_to`,
    );
    seen[`${resource} history`] = [...rows];
  }
  return seen;
}

describe("prune", () => {
  test("leaves looks back from the horizon on as they were, refuses others", { tags: ["long"] }, async () => {
    const seed = randomInt(2 ** 31);
    const random = createRandom(seed);
    await using loading = await setUpLoading();
    const { sql } = loading;
    await liveThroughHours(loading, seed);
    let horizonHour = 0;
    for (let time = 0; time < 3; time++) {
      horizonHour += 25 + random.int(25);
      const horizon = at(horizonHour + random.next());
      const later = () => at(horizonHour + 1 + random.next() * HOURS);
      const moments = [horizon, ...Array.from({ length: 8 }, later)];
      const before = await lookBack(loading, moments, horizon);
      const counted = await countPrunable(sql, "changes and runs", horizon);
      const told = `seed ${seed}, horizon ${horizon}`;
      expect(await pruneAll(loading, horizon), told).toEqual(counted);
      expect(await lookBack(loading, moments, horizon), told).toEqual(before);
      expect(await countPrunable(sql, "changes and runs", horizon), told).toEqual({ changes: 0, runs: 0 });
      const [early] = await sql`
        select count(*) as states from mirror.project_history where valid_to <= mirror.history_begins_at()`;
      expect(early).toEqual({ states: 0 });
    }
    const [taken] = await sql<{ changes: number }[]>`select sum(changes)::int as changes from sync.prunings`;
    expect(taken?.changes, `seed ${seed}`).toBeGreaterThan(0);
    for (const resource of RESOURCES) {
      const early = sql.unsafe(
        `select id from mirror.${resource}s_as_of(mirror.history_begins_at() - interval '1 microsecond')`,
      );
      const message = expect.stringMatching(/^the mirror as of 2024-05-\d\d .* is not known any more$/);
      const hint = expect.stringContaining("history_begins_at");
      await expect(early).rejects.toMatchObject({ code: "22023", message, hint });
    }
  });

  test("keeps of each record the newest old change and turn, and all transitions", async ({ loading }) => {
    const { sql } = loading;
    const states = ["triggered", "building", "finished"];
    for (const [hour, state] of states.entries())
      await loading.load("build", [wireBuild("1", { state })], { at: at(hour) });
    await sql`insert into sync.missing_records values ('build', '1', 1, now(), null)`;
    const sighting = { askedAt: at(3), observedAt: at(3), request: null };
    await loading.loader.retire([{ resource: "build", id: "1", ...sighting }]);
    for (const [state, hour] of Object.entries({ a: 4, b: 5, c: 6, d: 8 }))
      await loading.load("build", [wireBuild("1", { state })], { at: at(hour) });
    expect(await pruneAll(loading, at(7))).toEqual({ changes: 5, runs: 0 });
    expect(await sql`select kind, after ->> 'state' as state from mirror.changes order by id`).toEqual([
      { kind: "restored", state: null },
      { kind: "updated", state: "c" },
      { kind: "updated", state: "d" },
    ]);
    expect(await sql`select 1 from mirror.build_transitions`).toHaveLength(7);
    expect(await sql`select horizon, pruned_at, changes, runs from sync.prunings`).toEqual([
      { horizon: "2024-05-01 07:00:00+00", pruned_at: "2025-01-01 00:00:00+00", changes: 5, runs: 0 },
    ]);
  });

  test("takes no change that was stored late behind one that came after the horizon", async ({ loading }) => {
    const seeUser = (hour: number, over: Record<string, unknown>) =>
      loading.load("user", [wireUser("1", over)], { at: at(hour) });
    await seeUser(1, {});
    await seeUser(8, { first_name: "a" });
    await seeUser(5, { first_name: "a", last_name: "b" });
    await seeUser(6, { first_name: "a", last_name: "b", username: "c" });
    expect(await countPrunable(loading.sql, "changes and runs", at(7))).toEqual({ changes: 0, runs: 0 });
    expect(await pruneAll(loading, at(7))).toEqual({ changes: 0, runs: 0 });
    expect(await pruneAll(loading, at(9))).toEqual({ changes: 2, runs: 0 });
  });

  test("that finds nothing leaves the whole past open to look at", async ({ loading }) => {
    await loading.load("project", [wireProject("1")], { at: at(1) });
    await loading.load("project", [wireProject("1", { theme: "a" })], { at: at(2) });
    expect(await pruneAll(loading, at(9))).toEqual({ changes: 0, runs: 0 });
    expect(await findHistoryBegin(loading.sql)).toBeNull();
    const early = await loading.sql`select theme from mirror.projects_as_of(${at(1)})`;
    expect(early).toEqual([{ theme: "default" }]);
    expect(await loading.sql`select 1 from sync.prunings`).toHaveLength(0);
  });

  test("takes more than one batch of changes of one record, and of many records", { tags: ["long"] }, async ({
    loading,
  }) => {
    const { sql } = loading;
    await sql`
      insert into mirror.changes (resource, record_id, run_id, observed_at, kind, before, after)
      select 'project', case when n <= 11000 then '1' else (n % 1500)::text end, 1, '2024-01-01', 'updated', '{}', '{}'
      from generate_series(1, 14000) as n`;
    expect(await countPrunable(sql, "changes and runs", at(0))).toEqual({ changes: 12_500, runs: 0 });
    expect(await pruneAll(loading, at(0))).toEqual({ changes: 12_500, runs: 0 });
    expect(await sql`select changes from sync.prunings`).toEqual([{ changes: 12_500 }]);
    const left = await sql`select record_id from mirror.changes group by record_id having count(*) > 1`;
    expect(left).toHaveLength(0);
  });

  test("that is stopped takes nothing more, and what it took is written down", { tags: ["long"] }, async ({
    loading,
  }) => {
    const { sql } = loading;
    await sql`
      insert into mirror.changes (resource, record_id, run_id, observed_at, kind)
      select 'user', '1', 1, '2024-01-01', 'updated' from generate_series(1, 12000)`;
    const stop = new AbortController();
    const reason = new Error("stopped");
    // The first batch has been committed when the second one asks whether it may begin.
    let asked = 0;
    const signal = Object.assign(Object.create(stop.signal), {
      throwIfAborted() {
        asked += 1;
        if (asked === 2) throw reason;
      },
    }) as AbortSignal;
    await expect(pruneAll(loading, at(0), signal)).rejects.toMatchObject({ message: /stopped/ });
    const counts =
      await sql`select changes, (select count(*) from mirror.changes) as left from sync.prunings`;
    expect(counts).toEqual([{ changes: 5000, left: 7000 }]);
    expect(await findHistoryBegin(sql)).toBe("2024-05-01 00:00:00+00");
    expect(await pruneAll(loading, at(0))).toEqual({ changes: 6999, runs: 0 });
  });
});

interface RunFacts {
  kind: string;
  status: string;
  hour: number;
  walks?: Record<string, string>;
}

async function writeRuns({ sql }: Loading, runs: readonly RunFacts[]): Promise<void> {
  for (const { kind, status, hour, walks = {} } of runs) {
    const [run] = await sql<{ id: number }[]>`
      insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host)
      values (${kind}, ${status}, ${at(hour)}, ${status === "running" ? null : at(hour)}, ${at(hour)}, 1, 'h') returning id`;
    for (const [resource, walk] of Object.entries(walks))
      await sql`
        insert into sync.walks (run_id, resource, walk, started_at, finished_at)
        values (${run?.id ?? 0}, ${resource}, ${walk}, ${at(hour)}, ${at(hour)})`;
  }
}

const runIds = async ({ sql }: Loading) =>
  (await sql<{ id: number }[]>`select id from sync.runs order by id`).map(({ id }) => id);

describe("the runs that prune leaves", () => {
  test("are those after the horizon, open ones, and those that a later one leans on", async ({ loading }) => {
    const failed = { kind: "full", status: "failed" };
    await writeRuns(loading, [
      { kind: "full", status: "running", hour: 1 },
      { kind: "full", status: "succeeded", hour: 2, walks: { build: "whole", user: "whole" } },
      { kind: "full", status: "succeeded", hour: 3, walks: { build: "whole", user: "not_whole" } },
      { kind: "incremental", status: "succeeded", hour: 4, walks: { build: "head" } },
      { ...failed, hour: 5 },
      { kind: "incremental", status: "partial", hour: 6, walks: { build: "not_whole" } },
      { kind: "watch", status: "succeeded", hour: 7 },
      { kind: "watch", status: "succeeded", hour: 8 },
      { ...failed, hour: 9 },
      { ...failed, hour: 11 },
      { kind: "watch", status: "succeeded", hour: 12 },
    ]);
    expect(await countPrunable(loading.sql, "changes and runs", at(10))).toEqual({ changes: 0, runs: 4 });
    expect(await pruneAll(loading, at(10))).toEqual({ changes: 0, runs: 4 });
    // Gone are 5 and 9 (failed, without a walk), 7 and 8 (old rounds of a watch). The user's whole walk keeps 2 and what followed.
    expect(await runIds(loading)).toEqual([1, 2, 3, 4, 6, 10, 11]);
    expect(await loading.sql`select count(*) as walks from sync.walks`).toEqual([{ walks: 6 }]);
    expect(await findHistoryBegin(loading.sql)).toBeNull();
  });

  test("are all but rounds of the watch where only these are pruned, and all changes stay", async ({
    loading,
  }) => {
    for (const first_name of ["a", "b", "c"]) await loading.load("user", [wireUser("1", { first_name })]);
    const failed = { kind: "full", status: "failed" };
    await writeRuns(loading, [
      { ...failed, hour: 1 },
      { kind: "watch", status: "partial", hour: 2, walks: { build: "head" } },
      { kind: "watch", status: "partial", hour: 3, walks: { build: "head" } },
      { ...failed, hour: 4 },
      { kind: "full", status: "succeeded", hour: 5, walks: { build: "whole" } },
      { kind: "watch", status: "partial", hour: 12, walks: { build: "head" } },
    ]);
    const before = await runIds(loading);
    const { signal } = new AbortController();
    const rounds = { sql: loading.sql, kind: "rounds", horizon: at(10), prunedAt: at(20), signal } as const;
    expect(await countPrunable(loading.sql, "rounds", at(10))).toEqual({ changes: 0, runs: 2 });
    expect(await prune(rounds)).toEqual({ changes: 0, runs: 2 });
    const gone = before.filter((_, place) => [1, 2].includes(place - (before.length - 6)));
    expect(await runIds(loading)).toEqual(before.filter((id) => !gone.includes(id)));
    expect(await loading.sql`select 1 from mirror.changes`).toHaveLength(2);
    expect(await findHistoryBegin(loading.sql)).toBeNull();
  });

  test("are no more than the newest whole walk when all lists were whole", async ({ loading }) => {
    const walks = { user: "whole", build: "whole" };
    const runs = [1, 2, 3].map((hour) => ({ kind: "full", status: "succeeded", hour, walks }));
    await writeRuns(loading, runs);
    expect(await pruneAll(loading, at(10))).toEqual({ changes: 0, runs: 2 });
    expect(await runIds(loading)).toEqual([3]);
    expect(await loading.sql`select count(*) as walks from sync.walks`).toEqual([{ walks: 2 }]);
  });

  test("are all that walked a list of which nothing is whole yet", async ({ loading }) => {
    const walks = { build: "not_whole" };
    const runs = [1, 2, 3].map((hour) => ({ kind: "full", status: "partial", hour, walks }));
    await writeRuns(loading, runs);
    expect(await pruneAll(loading, at(10))).toEqual({ changes: 0, runs: 0 });
  });
});

describe("the moment by which a worker prunes", () => {
  const NOW = new Date("2024-05-10T00:00:00Z");
  const newest = (loading: Loading, finishedAt: string, aheadMs: number | null) => loading.sql`
    insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host, clock_ahead_min_ms)
    values ('watch', 'succeeded', ${finishedAt}, ${finishedAt}, now(), 1, 'h', ${aheadMs})`;

  test("is now where the newest run agrees, whether or not it saw a clock of the service", async ({
    loading,
  }) => {
    expect(await findPruneMoment(loading.sql, NOW)).toBeNull();
    for (const aheadMs of [0, null, -3_600_000]) {
      await newest(loading, "2024-05-09T12:00:00Z", aheadMs);
      expect(await findPruneMoment(loading.sql, NOW)).toEqual(NOW);
    }
  });

  test("is not known to a clock that jumped, and to one that the service contradicts", async ({
    loading,
  }) => {
    await newest(loading, "2024-05-09T12:00:00Z", 0);
    expect(await findPruneMoment(loading.sql, new Date("2034-05-10T00:00:00Z"))).toBeNull();
    await newest(loading, "2024-05-09T12:00:00Z", -86_400_001);
    expect(await findPruneMoment(loading.sql, NOW)).toBeNull();
  });
});
