import { describe, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { StoppedError } from "../../../src/base/errors.ts";
import type { Resource } from "../../../src/resources/resources.ts";
import { moveService } from "../../../src/store/ledger/mirrored-service.ts";
import { runCli } from "../../support/cli.ts";
import { type Kept, keepBack } from "../../support/keep-back.ts";
import { editPages, type QuickWorld, startQuickWorld } from "../../support/quick-world.ts";

const FEW = { users: 60, projects: 12, versions: 30, files: 20, builds: 60, hiddenShare: 0.2 };

/** One run, in a night of its own: the world's clock stands still by itself. */
function night(quick: QuickWorld, options: Parameters<QuickWorld["sync"]>[0] = { resources: ["user"] }) {
  quick.world.advance(1);
  return quick.sync(options);
}

const deletedIds = async ({ sql }: QuickWorld, resource: Resource = "user") =>
  (await sql.unsafe(`select id from mirror.${resource}s where deleted_at is not null order by id`)).map(
    ({ id }) => String(id),
  );

/** How many records are noted as missing, and which users are deleted. */
const missingAndDeleted = async (quick: QuickWorld) => [
  (await quick.sql`select from sync.missing_records`).length,
  await deletedIds(quick),
];

const idsOf = ({ world }: QuickWorld, resource: Resource, count: number) =>
  [...world.truth().records(resource)].slice(0, count).map(({ record }) => String(record.id));

const users: readonly Resource[] = ["user"];

describe("a record that the service deleted", () => {
  test("is deleted by the next run when this one dies before it asked", async () => {
    const kept: Kept = new Map();
    const stop = new AbortController();
    const keeping = keepBack(kept);
    await using quick = await startQuickWorld(FEW, (request, next) => {
      if (/\/user\/\d+\//.test(request.url)) stop.abort(new StoppedError("SIGTERM"));
      return keeping(request, next);
    });
    await night(quick);
    const [user = ""] = idsOf(quick, "user", 1);
    kept.set(`user ${user}`, 404);
    const killed = await night(quick, { resources: users, signal: stop.signal });
    expect(killed.summary.status).toBe("interrupted");
    expect(await missingAndDeleted(quick)).toEqual([1, []]);
    expect((await night(quick)).summary.resources.user).toMatchObject({ walk: "whole", deleted: 1 });
    expect(await missingAndDeleted(quick)).toEqual([0, [user]]);
  });
});

describe("25 of 60 users that are gone from their list", () => {
  const DAY_MS = 86_400_000;
  async function startHeld(settings = {}) {
    const kept: Kept = new Map();
    const quick = await startQuickWorld(FEW, keepBack(kept));
    await night(quick);
    const ids = idsOf(quick, "user", 25);
    for (const id of ids) kept.set(`user ${id}`, 404);
    // Our clock alone goes on: nothing else happens in the world.
    let aheadMs = 1;
    const clock = { ...systemClock, now: () => new Date(quick.world.now().getTime() + aheadMs) };
    const nightAfter = async (days: number, over = {}) => {
      aheadMs += days * DAY_MS;
      const { summary } = await quick.sync({ resources: users, clock, settings, ...over });
      return [summary.status, summary.resources.user?.deleted, (await deletedIds(quick)).length];
    };
    expect(await nightAfter(0)).toEqual(["partial", 0, 0]);
    return { quick, kept, ids, nightAfter, [Symbol.asyncDispose]: quick[Symbol.asyncDispose] };
  }

  test("are kept for three days, then deleted where their details say so, and return", async () => {
    await using held = await startHeld();
    const { quick, kept, ids, nightAfter } = held;
    kept.set(`user ${ids[0]}`, 200);
    expect(await nightAfter(2)).toEqual(["partial", 0, 0]);
    const [run] = await quick.sql`select reason from report.runs order by run_id desc limit 1`;
    expect(run?.reason).toMatch(/^25 users have been missing .*--allow-mass-delete/);
    expect(await nightAfter(1)).toEqual(["succeeded", 24, 24]);
    expect(await nightAfter(1)).toEqual(["succeeded", 0, 24]);
    kept.clear();
    expect(await nightAfter(1)).toEqual(["succeeded", 0, 0]);
  });

  test("are kept for ever by the setting never, for their own time after the service moved, and till a person allows it", {
    tags: ["long"],
  }, async () => {
    await using held = await startHeld({ deleteHeldAfterMs: "never" });
    const { quick, nightAfter } = held;
    expect(await nightAfter(30)).toEqual(["partial", 0, 0]);
    await moveService(quick.sql, quick.baseUrl, quick.world.now().toISOString());
    const settings = { deleteHeldAfterMs: 3 * DAY_MS };
    expect(await nightAfter(1, { settings })).toEqual(["partial", 0, 0]);
    expect(await nightAfter(1, { allowMassDelete: true })).toEqual(["succeeded", 25, 25]);
  });
});

describe("a record lives on", () => {
  test("whose id leads out of the API: no verdict, but status lists it", { tags: ["long"] }, async () => {
    const hostile = "../../../admin";
    let isShown = true;
    const show = editPages("user", ([first], { searchParams }) => {
      if (isShown && !searchParams.has("offset")) Object.assign(first ?? {}, { id: hostile });
    });
    await using quick = await startQuickWorld(FEW, (request, next) =>
      request.url.includes("admin") ? Response.json({ id: "1", username: "eve" }) : show(request, next),
    );
    await night(quick);
    isShown = false;
    const options = { resources: users, kind: "full", allowMassDelete: true } as const;
    const nights = [];
    for (let count = 0; count < 4; count++) nights.push((await night(quick, options)).summary);
    expect(nights.map(({ status, unfinished }) => [status, unfinished.deletions])).toEqual([
      ["partial", 1],
      ["partial", 1],
      ["succeeded", 0],
      ["succeeded", 0],
    ]);
    expect(await deletedIds(quick)).toEqual([]);
    for (const path of quick.simulation.requests().byPath.keys()) expect(path).toMatch(/^\/api\/v1\//);
    const status = await runCli(["status", "--database-url", quick.databaseUrl]);
    expect(status.stdout).toContain(`user ${hostile}`);
    const { stdout } = await runCli(["status", "--json", "--database-url", quick.databaseUrl]);
    expect(JSON.parse(stdout).undecided_records).toMatchObject({
      count: 1,
      first: [{ resource: "user", id: hostile }],
    });
  });
});
