/** A resource that the root listing lacks for good, or that a setting leaves out. */
import { expect, test } from "vitest";
import { collectNotices } from "../../../src/notify/notify.ts";
import type { Resource } from "../../../src/resources/resources.ts";
import { findDropped } from "../../../src/store/ledger/dropped-lists.ts";
import { findListFreshness } from "../../../src/store/ledger/list-freshness.ts";
import { type Intercept, type QuickWorld, startQuickWorld } from "../../support/quick-world.ts";
import { TINY } from "../../support/service.ts";

const DAY_MS = 86_400_000;
const LEFT_OUT = { status: "succeeded", resources: { build: { walk: "skipped", dropped: true } } };

/** A mirror of a service whose builds, or another list, may go away. */
async function startMirrored() {
  const service = { isGone: false, fails: "" };
  const intercept: Intercept = async (request, next) => {
    const { pathname } = new URL(request.url);
    if (service.fails !== "" && pathname.startsWith(service.fails)) return new Response("", { status: 500 });
    if (!service.isGone) return next();
    if (pathname.startsWith("/api/v1/build/")) return new Response("", { status: 404 });
    const reply = await next();
    if (pathname !== "/api/v1/" || !(reply instanceof Response)) return reply;
    const { build: _, ...rest } = (await reply.json()) as Record<string, unknown>;
    return Response.json(rest);
  };
  const quick = await startQuickWorld(TINY, intercept);
  await quick.sync();
  const night = async (settings: { leaveOut?: Resource[] } = {}, days = 1) => {
    quick.world.advance(days * DAY_MS);
    return (await quick.sync({ settings: { retries: 0, ...settings } })).summary;
  };
  return Object.assign(quick, { service, night });
}

const liveBuilds = async ({ sql }: QuickWorld) =>
  (await sql`select from mirror.builds where deleted_at is null`).length;
const goodAt = async ({ sql }: QuickWorld) =>
  (await findListFreshness(sql)).find(({ resource }) => resource === "build")?.startedAt ?? "";
const newNotices = async ({ sql, world }: QuickWorld) => {
  await collectNotices(sql, { staleAfterMs: DAY_MS, now: world.now().toISOString() });
  const found = await sql<{ summary: string }[]>`
    select data ->> 'summary' as summary from sync.notices where type = 'schema.changed' order by id`;
  return found.map(({ summary }) => summary);
};

test("a resource that the root listing lacked for a week is a fact: nights succeed, its rows stay, and it returns by itself", async () => {
  await using quick = await startMirrored();
  const { service, night, sql } = quick;
  await newNotices(quick);
  const builds = await liveBuilds(quick);
  service.isGone = true;
  for (const days of [1, 5, 1]) {
    const { status, error } = await night({}, days);
    expect([status, error]).toEqual(["partial", "the root listing has no build"]);
  }
  expect(await findDropped(sql)).toMatchObject([{ resource: "build", why: "absent" }]);
  const before = await goodAt(quick);
  for (const _ of ["eighth", "ninth"]) {
    const summary = await night();
    expect(summary).toMatchObject(LEFT_OUT);
    expect(summary).not.toHaveProperty("error");
  }
  expect(await findDropped(sql)).toMatchObject([{ resource: "build", why: "dropped" }]);
  expect((await goodAt(quick)) > before).toBe(true);
  expect((await quick.watch()).summary).toMatchObject({ ...LEFT_OUT, requests: 0 });
  expect(await liveBuilds(quick)).toBe(builds);
  expect(await newNotices(quick), "once, as a fact").toEqual([
    expect.stringContaining("build vanished: dropped"),
  ]);
  service.isGone = false;
  const back = await night();
  expect(back.status).toBe("succeeded");
  expect(back.resources.build?.pages).toBeGreaterThan(0);
  expect(back.resources.build).not.toHaveProperty("dropped");
  expect(await findDropped(sql)).toEqual([]);
  service.isGone = true;
  expect((await night()).status, "a new week begins").toBe("partial");
  service.isGone = false;
  await night();
  expect(await newNotices(quick), "a night's absence gets none").toEqual([
    expect.stringContaining("build vanished: dropped"),
    expect.stringContaining("build appeared: back"),
  ]);
});

test("its absence is no fact while another list is not read well", { tags: ["long"] }, async () => {
  await using quick = await startMirrored();
  Object.assign(quick.service, { isGone: true, fails: "/api/v1/user/" });
  for (const days of [1, 7, 1]) expect((await quick.night({}, days)).status).toBe("partial");
  expect(await findDropped(quick.sql)).toMatchObject([{ why: "absent" }]);
});

test("what DOCMIRROR_LEAVE_OUT names is left out at once, and read again without it", {
  tags: ["long"],
}, async () => {
  await using quick = await startMirrored();
  const builds = await liveBuilds(quick);
  const before = await goodAt(quick);
  expect(await quick.night({ leaveOut: ["build"] })).toMatchObject(LEFT_OUT);
  expect(await findDropped(quick.sql)).toMatchObject([{ resource: "build", why: "left out" }]);
  expect((await goodAt(quick)) > before).toBe(true);
  expect(await liveBuilds(quick)).toBe(builds);
  const named = await quick.sync({ resources: ["build"], settings: { leaveOut: ["build"] } });
  expect(named.summary.resources.build?.walk).not.toBe("skipped");
  expect(await quick.night()).toMatchObject({ status: "succeeded" });
  expect(await findDropped(quick.sql)).toEqual([]);
});
