import { expect, test } from "vitest";
import type { RunSummary } from "../../../src/mirror/lists/summary.ts";
import type { WorldOptions } from "../../../src/simulate/settings.ts";
import { startQuickWorld } from "../../support/quick-world.ts";

const DAY_MS = 86_400_000;

/** The service answers so many requests a day; then it refuses until the next day. */
async function startLimited(perDay: number, header: Record<string, string>, world: WorldOptions) {
  const quota = { used: 0, perDay };
  const quick = await startQuickWorld(
    { users: 8, projects: 8, versions: 16, files: 16, ...world },
    async (_, next) => {
      quota.used += 1;
      return quota.used > quota.perDay ? new Response("{}", { status: 429, headers: header }) : next();
    },
  );
  return { quick, quota };
}

const NAME = "a first walk that is longer than a day's quota rests each night, and ends whole: %s";
test.each([["a Retry-After of a day", { "retry-after": "86400" }]])(NAME, restsEachNight);
test.each([["no Retry-After", {}]])(NAME, { tags: ["long"] }, restsEachNight);

async function restsEachNight(_: string, header: Record<string, string>) {
  const { quick, quota } = await startLimited(24, header, { builds: 600 });
  await using _quick = quick;
  const began = quick.world.now().toISOString();
  const nights: { status: string; warnings: readonly string[]; builds: number }[] = [];
  for (let night = 0; night < 6; night++) {
    quota.used = 0;
    quick.world.advance(DAY_MS);
    const { summary } = await quick.sync();
    const [row] = await quick.sql<{ builds: number }[]>`select count(*)::int as builds from mirror.builds`;
    nights.push({ status: summary.status, warnings: summary.warnings ?? [], builds: row?.builds ?? 0 });
    if (summary.status === "succeeded") break;
  }
  const resting = nights.slice(0, -1);
  expect(nights.length).toBeGreaterThan(2);
  expect(nights.at(-1)).toMatchObject({ status: "succeeded" });
  for (const { status, warnings } of resting) {
    expect(status).not.toBe("succeeded");
    expect(warnings).toEqual([
      expect.stringMatching(
        /^build list: the service allows no more requests for now\. The walk rests at \d+ of [\d,]+ records, .*: at this pace it needs \d+ more runs?$/,
      ),
    ]);
  }
  // It is whole: each build that was there all the time is here, and none was deleted.
  const known = await quick.sql<{ id: string }[]>`select id from mirror.builds`;
  quota.perDay = Number.POSITIVE_INFINITY;
  quick.world.advance(DAY_MS);
  const { summary } = await quick.sync({ kind: "full" });
  expect(summary.resources.build).toMatchObject({ walk: "whole", deleted: 0 });
  const late = await quick.sql`
    select from mirror.builds where date < ${began}::timestamptz at time zone ${quick.world.settings.timeZone}
      and id <> all (${known.map(({ id }) => id)}::text[])`;
  expect(late).toHaveLength(0);
}

const walksOf = ({ resources }: RunSummary): Record<string, string> =>
  Object.fromEntries(Object.entries(resources).map(([resource, { walk }]) => [resource, walk]));

test("requests go first to the list that rests: the first mirror takes 4 nights", {
  tags: ["long"],
}, async () => {
  // The lists other than the builds need 17 of the 30 requests of a night, and the builds 52.
  const world = { users: 40, projects: 60, versions: 100, files: 60, builds: 900 };
  const { quick, quota } = await startLimited(30, { "retry-after": "86400" }, world);
  await using _quick = quick;
  const nights: Record<string, string>[] = [];
  do {
    quota.used = 0;
    quick.world.advance(DAY_MS);
    const { summary } = await quick.sync();
    nights.push(walksOf(summary));
  } while (nights.at(-1)?.build !== "whole" && nights.length < 12);
  const others = (walk: string) => ({ user: walk, project: walk, version: walk, file: walk });
  expect(nights).toEqual([
    { ...others("whole"), build: "not_whole" },
    { ...others("skipped"), build: "not_whole" },
    { ...others("skipped"), build: "not_whole" },
    { ...others("whole"), build: "whole" },
  ]);
});

/** A mirror of 200 builds, whose nights have a quota of requests each. */
async function startNights() {
  const { quick, quota } = await startLimited(1000, { "retry-after": "86400" }, { builds: 200 });
  const night = async (perDay: number) => {
    Object.assign(quota, { used: 0, perDay });
    quick.world.advance(DAY_MS);
    const { summary } = await quick.sync({ kind: "incremental" });
    return walksOf(summary);
  };
  return { quick, night };
}

test("a list that the limit has cut short comes first on the next night", {
  tags: ["long"],
}, async () => {
  const { quick, night } = await startNights();
  await using _quick = quick;
  await night(1000);
  quick.world.triggerBuilds(200);
  expect(await night(12)).toMatchObject({ build: "not_whole", user: "whole" });
  expect(await night(22)).toMatchObject({ build: "head" });
  expect(await night(1000)).toMatchObject({ build: "head", user: "whole", version: "whole" });
});

test("a list that needs more than a day's quota does not keep the others from being read", {
  tags: ["long"],
}, async () => {
  const { quick, night } = await startNights();
  await using _quick = quick;
  await night(1000);
  quick.world.triggerBuilds(1000);
  const nights: Record<string, string>[] = [];
  for (let at = 0; at < 5; at++) nights.push(await night(24));
  expect(nights.map(({ build }) => build)).not.toContain("head");
  // They are skipped while the builds come first, and come first then.
  expect(nights.map(({ user, file }) => [user, file])).toEqual([
    ["whole", "whole"],
    ["skipped", "skipped"],
    ["whole", "whole"],
    ["skipped", "skipped"],
    ["whole", "whole"],
  ]);
});

test("a service that refuses one list alone is asked for the others", { tags: ["long"] }, async () => {
  const quick = await startQuickWorld(
    { users: 8, projects: 8, versions: 16, files: 16, builds: 20 },
    async (request, next) => {
      const isRefused = new URL(request.url).pathname === "/api/v1/build/";
      return isRefused ? new Response("{}", { status: 429 }) : next();
    },
  );
  await using _quick = quick;
  for (const night of [1, 2, 3]) {
    quick.world.advance(DAY_MS);
    const { summary } = await quick.sync();
    expect({ night, ...walksOf(summary) }).toEqual({
      night,
      user: "whole",
      project: "whole",
      version: "whole",
      file: "whole",
      build: "not_whole",
    });
  }
});

test("a list that rests and then takes the service down does not keep the others from being read", {
  tags: ["long"],
}, async () => {
  const state = { left: 24, isDown: false, takesDown: false };
  const world = { users: 8, projects: 8, versions: 16, files: 16, builds: 600 };
  const quick = await startQuickWorld(world, async (request, next) => {
    state.isDown ||= state.takesDown && new URL(request.url).pathname === "/api/v1/build/";
    if (state.isDown) return new Response("", { status: 503 });
    state.left -= 1;
    return state.left < 0 ? new Response("{}", { status: 429, headers: { "retry-after": "86400" } }) : next();
  });
  await using _quick = quick;
  const warnings: string[] = [];
  const night = async () => {
    quick.world.advance(DAY_MS);
    const { summary } = await quick.sync();
    warnings.push(...(summary.warnings ?? []).filter((warning) => warning.startsWith("build list: ")));
    return walksOf(summary);
  };
  expect(await night()).toMatchObject({ build: "not_whole", user: "whole" });
  const nights: Record<string, string>[] = [];
  for (let at = 0; at < 4; at++) {
    Object.assign(state, { left: 1000, isDown: false, takesDown: true });
    nights.push(await night());
  }
  expect(nights.map(({ user, build }) => [user, build])).toEqual([
    ["skipped", "not_whole"],
    ["whole", "not_whole"],
    ["skipped", "not_whole"],
    ["whole", "not_whole"],
  ]);
  // Only the first night was stopped by the limit.
  expect(warnings).toHaveLength(1);
  // It goes on behind what it has read.
  Object.assign(state, { isDown: false, takesDown: false });
  expect(await night()).toMatchObject({ build: "whole" });
});
