import { describe, expect, test } from "vitest";
import { StoppedError } from "../../../src/base/errors.ts";
import type { WorldOptions } from "../../../src/simulate/settings.ts";
import { createKeptLog, type QuickWorld, startQuickWorld } from "../../support/quick-world.ts";

const AUTO = { settings: { pageSize: "auto" as const } };
const HUNDRED = { settings: { pageSize: 100 } };
const LARGE = { users: 1500, projects: 300, versions: 2000, files: 2500, builds: 2000, outputBytes: 200 };
const SOME = { users: 450, projects: 40, versions: 90, files: 350, builds: 80 };

/** The requests for pages, as `limit@offset` by list. */
function createPages() {
  const asked: string[] = [];
  return {
    note(request: Request): number {
      const { pathname, searchParams } = new URL(request.url);
      const limit = searchParams.get("limit");
      if (limit === null) return 0;
      asked.push(`${pathname.split("/").at(-2)} ${limit}@${searchParams.get("offset") ?? 0}`);
      return Number(limit);
    },
    take: () => asked.splice(0).sort(),
  };
}

async function sizesOf({ sql }: QuickWorld): Promise<Record<string, number>> {
  return Object.fromEntries(
    (await sql`select resource, page_size from sync.page_sizes`).map((row) => [row.resource, row.page_size]),
  );
}

async function startPaged(world: WorldOptions) {
  const pages = createPages();
  const quick = await startQuickWorld(world, (request, next) => {
    pages.note(request);
    return next();
  });
  return Object.assign(quick, { pages });
}

describe("a service that gives 1,000 records a page", { tags: ["long"], timeout: 60_000 }, () => {
  test("is read with a quarter of the requests, and from the second night on at the same places", async () => {
    await using hundred = await startPaged(LARGE);
    await hundred.sync({ kind: "full", ...HUNDRED });
    const usual = hundred.pages.take();
    await using quick = await startPaged(LARGE);
    const { pages } = quick;
    const { summary } = await quick.sync({ kind: "full", ...AUTO });
    const first = pages.take();
    expect(summary.status).toBe("succeeded");
    expect(first.length).toBeLessThanOrEqual(usual.length / 4);
    expect((await sizesOf(quick)).user).toBe(1000);

    const stored = () => quick.sql`select ctid, request from sync.pages order by ctid`;
    const before = await stored();
    await quick.sync({ kind: "full", ...AUTO });
    // Only the small page of the builds is left out: what it showed, the other lists took over.
    expect(first.filter((page) => page.includes(" 100@"))).toEqual(["build 100@0"]);
    expect(pages.take()).toEqual(first.filter((page) => page !== "build 100@0"));
    // Nothing was parsed again.
    expect(await stored()).toEqual(before);
  });
});

describe("a size that is found", () => {
  test("is never larger than 100 at a service that is slow, which gets the same requests as before", async () => {
    const world = { users: 250, projects: 5, versions: 10, files: 110, builds: 120 };
    const requests: string[][] = [];
    for (const sized of [HUNDRED, AUTO]) {
      let ms = Date.UTC(2024, 4, 15, 12);
      // Each look at the clock is 2.5 s later, so a reply takes at least that long: 50 ms a record, as it looks.
      const now = () => {
        ms += 2500;
        return new Date(ms);
      };
      const clock = { now, sleep: async () => {} };
      await using quick = await startPaged(world);
      const { summary } = await quick.sync({ kind: "full", clock, ...sized });
      expect(summary.resources.user).toMatchObject({ walk: "whole", records: 250 });
      requests.push(quick.pages.take());
    }
    expect(requests[1]).toEqual(requests[0]);
  });

  test("goes back to 100 where larger pages answer 504, and is not tried at once", {
    tags: ["long"],
  }, async () => {
    const pages = createPages();
    await using quick = await startQuickWorld({ ...SOME }, (request, next) =>
      pages.note(request) > 100 ? new Response("no", { status: 504 }) : next(),
    );
    const { summary } = await quick.sync({ kind: "full", ...AUTO });
    expect(summary.status).toBe("succeeded");
    expect(pages.take().filter((page) => page.includes(" 1000@")).length).toBeGreaterThan(0);
    const { summary: second } = await quick.sync({ kind: "full", ...AUTO });
    expect(second.status).toBe("succeeded");
    expect(pages.take().filter((page) => !page.includes(" 100@"))).toEqual([]);
  });

  test("does not keep a walk that was interrupted from resuming", { tags: ["long"] }, async () => {
    const pages = createPages();
    const stop = new AbortController();
    let users = 0;
    await using quick = await startQuickWorld({ ...SOME, users: 4500 }, (request, next) => {
      pages.note(request);
      if (request.url.includes("/user/") && ++users === 5) stop.abort(new StoppedError("SIGINT"));
      return next();
    });
    const settings = { ...AUTO.settings, concurrency: 1 };
    const night = { kind: "full", settings, resources: ["user"] } as const;
    const { summary } = await quick.sync({ ...night, signal: stop.signal });
    expect(summary.status).toBe("interrupted");
    const [first, ...rest] = pages.take();
    expect([first, rest]).toEqual(["user 1000@0", expect.arrayContaining(["user 100@0", "user 1000@980"])]);
    const { log, messages } = createKeptLog();
    const { summary: second } = await quick.sync({ ...night, log });
    expect(second.resources.user).toMatchObject({ walk: "whole", records: 4500 });
    expect(messages()).toContain("walk resumes at its checkpoint");
    const asked = pages.take();
    expect(asked.length).toBeLessThan(5);
    expect(asked.filter((page) => !page.includes(" 1000@"))).toEqual([]);
  });

  test("is forgotten together with the service", { tags: ["long"] }, async () => {
    await using quick = await startQuickWorld(SOME);
    await quick.sync({ kind: "full", ...AUTO });
    expect(Object.keys(await sizesOf(quick)).toSorted()).toEqual(["file", "user"]);
    await quick.sql`delete from sync.service`;
    expect(await sizesOf(quick)).toEqual({});
  });

  test("is kept, and not used, by a run with a size that is set", { tags: ["long"] }, async () => {
    await using quick = await startPaged(SOME);
    const { pages } = quick;
    await quick.sync({ kind: "full", ...AUTO });
    pages.take();
    await quick.sync({ kind: "full", ...HUNDRED });
    expect(pages.take().filter((page) => !page.includes(" 100@"))).toEqual([]);
    expect((await sizesOf(quick)).user).toBe(1000);
  });

  test("grows page by page at the head of a list, up to what its full walk found", {
    tags: ["long"],
  }, async () => {
    await using quick = await startPaged({ ...SOME, builds: 900 });
    const { pages } = quick;
    await quick.sync({ kind: "full", ...AUTO });
    const found = (await sizesOf(quick)).build ?? 0;
    expect(found).toBeGreaterThan(400);
    quick.world.triggerBuilds(500);
    pages.take();
    const { summary } = await quick.sync({ kind: "incremental", resources: ["build"], ...AUTO });
    expect(summary.resources.build).toMatchObject({ walk: "head", inserted: 500 });
    expect(pages.take().map((page) => page.split("@")[0])).toEqual([
      ...["build 100", "build 200", "build 400"],
      `build ${Math.min(800, found)}`,
    ]);
  });
});
