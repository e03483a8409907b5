/** What comes behind the walks, deletions, references and open builds, is part of a run's verdict. */
import { describe, expect, test } from "vitest";
import { NOTHING_UNFINISHED } from "../../../src/mirror/lists/summary.ts";
import { exitCodeOfRun } from "../../../src/mirror/run/close-run.ts";
import { RESOURCES } from "../../../src/resources/resources.ts";
import { QUIET } from "../../../src/simulate/settings.ts";
import { type QuickWorld, startQuickWorld } from "../../support/quick-world.ts";

const WORLD = { users: 10, projects: 12, versions: 40, files: 10, builds: 120, rates: QUIET };
const NOTHING_LISTED = { meta: { limit: 100, offset: 0, next: null, total_count: 0 }, objects: [] };
const DETAIL = /\/api\/v1\/[a-z]+\/\d+\/$/;

async function count({ sql }: QuickWorld, from: string): Promise<number> {
  const [row] = await sql.unsafe<{ count: number }[]>(`select count(*)::int as count from ${from}`);
  return row?.count ?? Number.NaN;
}

describe("a service that is lost behind the walks", () => {
  test("makes the run partial, with how many references nobody asked for, and the next run asks", async () => {
    let isAway = false;
    let mayGo = true;
    await using quick = await startQuickWorld(WORLD, (request, next) => {
      const { pathname } = new URL(request.url);
      if (mayGo && DETAIL.test(pathname)) isAway = true;
      // Builds name versions that no list has shown yet.
      if (mayGo && pathname === "/api/v1/version/") return Response.json(NOTHING_LISTED);
      return isAway ? "hang up" : next();
    });
    const first = await quick.sync({ kind: "full", settings: { pageSize: 100 } });
    const { summary } = first;
    expect(Object.values(summary.resources).map(({ walk }) => walk)).toEqual(RESOURCES.map(() => "whole"));
    expect(summary.status).toBe("partial");
    expect(exitCodeOfRun(first)).toBe(5);
    const { references } = summary.unfinished;
    expect(references).toBeGreaterThan(20);
    expect(
      await count(quick, "(select unfinished from sync.runs) as run where unfinished->>'references' <> '0'"),
    ).toBe(1);
    [isAway, mayGo] = [false, false];
    const next = await quick.sync({ kind: "full", settings: { pageSize: 100 } });
    expect(next.summary).toMatchObject({ status: "succeeded", unfinished: NOTHING_UNFINISHED });
    expect(next.summary.references.resolved).toBeGreaterThanOrEqual(references);
  });
});

describe("a list that cannot be read", () => {
  test.for([502, "hang up"] as const)("for ever by %s keeps no other list from deletions and references", {
    tags: ["long"],
  }, async (answer) => {
    let isBad = false;
    await using quick = await startQuickWorld({ ...WORLD, hiddenShare: 0 }, (request, next) => {
      const { pathname } = new URL(request.url);
      if (!isBad || pathname !== "/api/v1/user/") return next();
      return answer === "hang up" ? answer : new Response("<h1>no</h1>", { status: answer });
    });
    expect((await quick.sync({ kind: "full" })).summary.status).toBe("succeeded");
    const ids = [...quick.world.truth().records("version")].slice(0, 3).map(({ record }) => record.id);
    for (const id of ids) quick.world.deleteRecord("version", id);
    quick.world.advance(60_000);
    isBad = true;
    const result = await quick.sync({ kind: "full" });
    expect(exitCodeOfRun(result)).toBe(5);
    expect(result.summary).toMatchObject({
      status: "partial",
      unfinished: NOTHING_UNFINISHED,
      resources: {
        user: { walk: "not_whole" },
        version: { walk: "whole", deleted: 3 },
        build: { walk: "whole" },
      },
    });
    expect(await count(quick, "mirror.users where deleted_at is not null")).toBe(0);
  });

  test("is no reason to leave open builds alone, those of its own either", { tags: ["long"] }, async () => {
    let isBad = false;
    await using quick = await startQuickWorld({ ...WORLD, hiddenShare: 0 }, (request, next) => {
      const { pathname } = new URL(request.url);
      return isBad && pathname === "/api/v1/build/" ? new Response("", { status: 500 }) : next();
    });
    const [open = ""] = quick.world.triggerBuilds(1);
    await quick.sync({ kind: "full" });
    expect(await count(quick, `sync.open_builds where build_id = '${open}'`)).toBe(1);
    quick.world.advance(86_400_000);
    isBad = true;
    const { summary } = await quick.sync({ kind: "full" });
    expect(summary).toMatchObject({
      status: "partial",
      unfinished: NOTHING_UNFINISHED,
      resources: { build: { walk: "not_whole" } },
    });
    expect(await count(quick, `mirror.builds where id = '${open}' and state = 'finished'`)).toBe(1);
  });
});
