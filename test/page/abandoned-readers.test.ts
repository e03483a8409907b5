import { request } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connect } from "../../src/store/connection/connect.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import { type MirrorPages, openMirrorPages } from "../support/mirror-pages.ts";
import { seedPages } from "../support/served-pages.ts";

let pages: MirrorPages;
let sql: Sql;

beforeEach(async () => {
  pages = await openMirrorPages(seedPages);
  sql = connect(pages.databaseUrl, { applicationName: "docmirror test", max: 1 });
  await expect.poll(async () => (await pages.get("/find?q=pip")).status, PATIENT).toBe(303);
});
afterEach(async () => {
  await sql?.end({ timeout: 1 });
  await pages?.[Symbol.asyncDispose]();
});

/** Every question about builds now takes the server longer than any test waits. */
const makeExpensive = () =>
  sql.unsafe(`alter view report.fact_builds rename to cheap_fact_builds;
    create view report.fact_builds as
    select build.* from report.cheap_fact_builds as build where (select pg_sleep(60)) is not null`);
const makeCheap = () =>
  sql.unsafe("drop view report.fact_builds; alter view report.cheap_fact_builds rename to fact_builds");
const underWay = () =>
  sql`select pid, query, wait_event_type from pg_stat_activity
    where application_name = 'docmirror serve' and datname = current_database() and state <> 'idle'`;

/** Sends a request over a connection of its own, whose reader leaves when the test says so. */
function ask(path: string) {
  const sent = request(pages.url + path, { agent: false });
  sent.on("error", () => {});
  let status: number | undefined;
  sent.on("response", (reply) => {
    status = reply.statusCode;
    reply.resume();
  });
  sent.end();
  return { leave: () => sent.destroy(), status: () => status };
}

/** Other programs may keep the machine busy. A statement ends by itself after 10 s. */
const PATIENT = { timeout: 8000 };

async function expectAtOnce(path: string): Promise<void> {
  const began = performance.now();
  expect((await pages.get(path)).status).toBe(200);
  expect(performance.now() - began).toBeLessThan(5000);
}

describe("readers who leave", () => {
  it.each([
    ["different pages", (place: number) => `/project/pip?since=2026-01-01&type=t${place}`],
    ["one page", () => "/project/pip?since=2026-01-01"],
    ["builds", (place: number) => `/build/${1001 + (place % 40)}`],
    ["rows as CSV", () => "/report/fact_builds.csv"],
    ["rows as JSON", () => "/report/fact_builds.json"],
    ["feeds", (place: number) => `/feed.atom?project=pip&x=${place}`],
  ])("a hundred of them, of %s, leave nothing behind", { tags: ["long"] }, async (_case, pathOf) => {
    await makeExpensive();
    const readers = Array.from({ length: 100 }, (_, place) => ask(pathOf(place)));
    await expect.poll(underWay, PATIENT).not.toEqual([]);
    for (const { leave } of readers) leave();
    await expect.poll(underWay, PATIENT).toEqual([]);
    await makeCheap();
    await expectAtOnce(pathOf(0));
  });

  it("leave a shared page to those who stay", { tags: ["long"] }, async () => {
    const locker = connect(pages.databaseUrl, { applicationName: "docmirror test", max: 1 });
    await locker`begin`;
    await locker`lock table report.dim_projects`;
    const path = "/project/pip?since=2026-01-01";
    const left = Array.from({ length: 5 }, () => ask(path));
    const stays = pages.get(path);
    const isBlocked = async () => (await underWay()).map(({ wait_event_type }) => wait_event_type);
    await expect.poll(isBlocked, PATIENT).toEqual(["Lock"]);
    for (const { leave } of left) leave();
    // The server notices that they left before it answers this one.
    expect((await pages.get("/nosuch")).status).toBe(404);
    expect(await isBlocked()).toEqual(["Lock"]);
    await locker.end({ timeout: 0 });
    expect((await stays).status).toBe(200);
  });
});

describe("readers who stay", () => {
  it("get a page that is kept at once, while expensive ones are being made", { tags: ["long"] }, async () => {
    expect((await pages.get("/project/pip")).status).toBe(200);
    await makeExpensive();
    const readers = Array.from({ length: 20 }, (_, place) => ask(`/project/pip?type=t${place}`));
    await expect.poll(async () => (await underWay()).length, PATIENT).toBeGreaterThan(0);
    await expectAtOnce("/project/pip");
    for (const { leave } of readers) leave();
    await expect.poll(underWay, PATIENT).toEqual([]);
  });

  it("hear that too many wait, and when to come back", { tags: ["long"] }, async () => {
    await makeExpensive();
    const pathOf = (place: number) => `/project/pip?type=t${place}`;
    const readers = Array.from({ length: 80 }, (_, place) => ask(pathOf(place)));
    const isRefused = () => readers.filter(({ status }) => status() === 503).length;
    await expect.poll(isRefused, PATIENT).toBe(80 - 63);
    await expect.poll(underWay, PATIENT).toHaveLength(3);
    const reply = await pages.get(pathOf(80));
    expect(reply.status).toBe(503);
    for (const name of ["retry-after", "refresh"]) expect(reply.headers.get(name)).toBe("10");
    expect(await reply.text()).toContain("Too many ask at the moment");
    for (const { leave } of readers) leave();
    await expect.poll(underWay, PATIENT).toEqual([]);
  });
});
