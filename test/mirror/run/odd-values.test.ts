import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { RESOURCES } from "../../../src/resources/resources.ts";
import { readRecords } from "../../../src/serve/catalog/mirror-catalog.ts";
import { renderJson } from "../../../src/serve/protocol/replies.ts";
import { QUIET } from "../../../src/simulate/settings.ts";
import { changeRows, mirrorRows } from "../../support/mirror-rows.ts";
import { editReplies, type QuickWorld, startQuickWorld } from "../../support/quick-world.ts";
import { TINY } from "../../support/service.ts";

test("numbers that JavaScript would change are stored, compared and served as they were sent", async () => {
  let members = `"github_run":12345678901234567890,"node":{"deep":[9007199254740993,-0.12345678901234567891]}`;
  await using quick = await startQuickWorld(
    { users: 3, projects: 3, versions: 4, files: 3, builds: 30, rates: QUIET, stuckShare: 0 },
    editReplies((text) => text.replaceAll(`"resource_uri":"/api/v1/build/`, `${members},$&`)),
  );
  const night = () => quick.sync({ kind: "full" });
  const served = async () => {
    const [row] = await quick.sql<{ id: string }[]>`select id from mirror.builds order by id limit 1`;
    const [record] = await readRecords(quick.sql, "build", [row?.id ?? ""]);
    return renderJson(record).toString();
  };

  const resources = { build: { quarantined: 0 } };
  expect((await night()).summary).toMatchObject({ status: "succeeded", resources });
  expect(await served()).toContain(`"github_run":12345678901234567890`);
  expect(await served()).toContain(`"node":{"deep":[9007199254740993,-0.12345678901234567891]}`);

  members = members.replace("67890,", "67891,");
  quick.world.advance(86_400_000);
  expect((await night()).summary.resources.build).toMatchObject({ inserted: 0, updated: 30 });
  expect(await served()).toContain(`"github_run":12345678901234567891`);
  const [change] = await quick.sql`
    select before #>> '{extra,values,github_run}' as before, after #>> '{extra,values,github_run}' as after
    from mirror.changes where resource = 'build' limit 1`;
  expect(change).toEqual({ before: "12345678901234567890", after: "12345678901234567891" });

  members = `"size":1e400`;
  quick.world.advance(86_400_000);
  await night();
  expect(await served()).toContain(`"size":1${"0".repeat(400)},`);
});

type Spell = (date: string) => string;

/** A world of quiet nights whose dates are in UTC and spelled in another way from a moment on. */
async function startSpelled() {
  const spelling: { as: Spell } = { as: (date) => date };
  const dates = /"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?)"/g;
  const quick = await startQuickWorld(
    { ...TINY, builds: 60, timeZone: "Etc/UTC", rates: QUIET, stuckShare: 0 },
    editReplies((text) => text.replace(dates, (_, date) => JSON.stringify(spelling.as(date)))),
  );
  const stored = async () => {
    const rows = await quick.sql`
      select 'build' as of, id, date::text from mirror.builds
      union all select 'project', id, modified_date::text from mirror.projects
      union all select 'user', id, last_login::text from mirror.users order by of, id`;
    return [...rows];
  };
  return { quick, spelling, stored };
}

const MAIL: Spell = (date) => new Date(`${date}Z`).toUTCString().replace("GMT", "+0000");
const toSecond = (text: unknown) => String(text).slice(0, 19);

test("a zone that the server lacks ends a run before its first request", async () => {
  await using quick = await startQuickWorld({ users: 1, projects: 1, versions: 1, files: 1, builds: 1 });
  await expect(quick.sync({ settings: { sourceTimezone: "Mars/Phobos" } })).rejects.toMatchObject({
    hint: expect.stringContaining("DOCMIRROR_SOURCE_TIMEZONE"),
  });
  expect((await quick.sql`select from sync.runs`).length).toBe(0);
});

describe("dates that get a zone from one night to the next", () => {
  const NAME = "%s stay what they are in the columns, and are served as they were sent";
  const areKept = async ([, as]: readonly [string, Spell]) => {
    const { quick, spelling, stored } = await startSpelled();
    await using _end = quick;
    await quick.sync({ kind: "full" });
    const before = await stored();
    spelling.as = as;
    quick.world.advance(86_400_000);
    const { summary } = await quick.sync({ kind: "full" });
    expect(summary).toMatchObject({ status: "succeeded", resources: { build: { walk: "whole" } } });
    expect((await stored()).map((row) => ({ ...row, date: toSecond(row.date) }))).toEqual(
      before.map((row) => ({ ...row, date: toSecond(row.date) })),
    );
    expect([...(await quick.sql`select field from sync.drift`)]).toEqual([]);
    const [row] = before;
    const [served] = await readRecords(quick.sql, "build", [String(row?.id)]);
    expect(as === MAIL ? toSecond(served?.date) : served?.date).toBe(
      as === MAIL ? toSecond(MAIL(String(row?.date))) : as(String(row?.date).replace(" ", "T")),
    );
    // The head is read by the order that the dates show.
    quick.world.triggerBuilds(3);
    quick.world.advance(60_000);
    const night = await quick.sync({ kind: "incremental" });
    const resources = { build: { walk: "head", inserted: 3 } };
    expect(night.summary).toMatchObject({ status: "succeeded", resources });
  };
  test.for<[string, Spell]>([["an offset", (date) => `${date}+00:00`]])(NAME, areKept);
  test.for<[string, Spell]>([["the form of RFC 2822", MAIL]])(NAME, { tags: ["long"] }, areKept);
});

test("a zone that is set anew moves the dates that name one, on pages that did not change too", {
  tags: ["long"],
}, async () => {
  const { quick, spelling, stored } = await startSpelled();
  await using _end = quick;
  spelling.as = (date) => `${date}Z`;
  await quick.sync({ kind: "full" });
  const [before] = await stored();
  quick.world.advance(86_400_000);
  const { summary } = await quick.sync({ kind: "full", settings: { sourceTimezone: "Asia/Kolkata" } });
  expect(summary.warnings).toEqual([
    expect.stringContaining("SOURCE_TIMEZONE has another value than before"),
  ]);
  const [after] = await stored();
  const ms = (text: unknown) => Date.parse(`${toSecond(text)}Z`);
  expect(ms(after?.date) - ms(before?.date)).toBe(5.5 * 3_600_000);
});

type Change = (json: string) => { body: Buffer; type: string };

const JSON_TYPE = "application/json";
/** The names of the first three users, as JSON. */
const NAMES = ["Andr\u00e9", "\u20ac 5", "\ufffd sent"];

let quick: QuickWorld;
let change: Change | null = null;

beforeAll(async () => {
  quick = await startQuickWorld(
    { users: 6, projects: 2, versions: 2, files: 0, builds: 12, rates: QUIET, stuckShare: 0 },
    async (request, next) => {
      const reply = await next();
      const { pathname } = new URL(request.url);
      const isUsers = pathname === "/api/v1/user/";
      if (change === null || reply.status !== 200 || !isUsers) return reply;
      const page = (await reply.json()) as { objects: { first_name: string }[] };
      for (const [place, name] of NAMES.entries())
        Object.assign(page.objects[place] ?? {}, { first_name: name });
      const { body, type } = change(JSON.stringify(page));
      return new Response(new Uint8Array(body), { headers: { "content-type": type } });
    },
  );
});
afterAll(() => quick[Symbol.asyncDispose]());

async function night(as: Change) {
  change = as;
  quick.world.advance(86_400_000);
  const said: { resource: string; id: string }[] = [];
  const keep = (facts: unknown, message?: string) => {
    if (message?.startsWith("a record came with bytes")) said.push(facts as (typeof said)[number]);
  };
  const log = Object.assign(Object.create(silentLog), { warn: keep, child: () => log });
  const { summary } = await quick.sync({ kind: "full", resources: ["user"], log });
  const rows = await quick.sql<{ id: string; first_name: string }[]>`
    select id, first_name from mirror.users where first_name ~ '^(Andr|\u20ac|\ufffd)'
    order by array_position(array['A', '\u20ac', '\ufffd'], left(first_name, 1))`;
  return { summary, said, rows, names: rows.map((row) => row.first_name) };
}

/** JSON of bytes for each character, with escapes for those that have none. */
const latin = (json: string) =>
  Buffer.from(
    json.replace(/[^\0-\xff]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`),
    "latin1",
  );

describe("a reply", () => {
  test("in a charset that nobody knows is read as UTF-8, and the run says so once", async () => {
    const { summary, names } = await night((json) => ({
      body: Buffer.from(json),
      type: `${JSON_TYPE}; charset=klingon`,
    }));
    expect(names).toEqual(NAMES);
    expect(summary.warnings).toEqual([
      "the service declares the charset 'klingon', which nobody knows; its replies are read as UTF-8",
    ]);
  });

  test("with bytes that do not fit is stored with U+FFFD, counted and named, in each night that brings it", {
    tags: ["long"],
  }, async () => {
    const as: Change = (json) => ({ body: latin(json), type: JSON_TYPE });
    for (let count = 1; count <= 2; count++) {
      const { summary, said, rows, names } = await night(as);
      expect(names).toEqual(["Andr\ufffd", ...NAMES.slice(1)]);
      const id = rows[0]?.id;
      expect(said).toEqual([{ resource: "user", id }]);
      expect(summary).toMatchObject({ status: "succeeded", damaged: 1 });
      expect(summary.warnings).toEqual([
        `bytes that do not fit the charset were replaced by U+FFFD in user ${id}; the log names each record`,
      ]);
    }
    const { summary, names } = await night((json) => ({ body: Buffer.from(json), type: JSON_TYPE }));
    expect(names).toEqual(NAMES);
    expect(summary).not.toHaveProperty("damaged");
  });
});

type Project = Record<string, unknown>;
interface Page {
  objects: (Project & { project?: Project })[];
}

test("a project whose date the service put back is as it was shown last", { tags: ["long"] }, async () => {
  let isAhead = true;
  let isCached = false;
  const early = { name: "Early", modified_date: "2031-01-01T00:00:00" };
  const late = { name: "Late", modified_date: "2030-01-01T00:00:00" };
  await using quick = await startQuickWorld(
    { users: 3, projects: 4, versions: 12, files: 6, builds: 10, rates: QUIET, hiddenShare: 0 },
    async (request, next) => {
      const reply = await next();
      const { pathname } = new URL(request.url);
      if (!/\/(project|version|file)\/(\d+\/)?$/.test(pathname)) return reply;
      if (/\d\/$/.test(pathname)) return Response.json({ ...((await reply.json()) as Project), ...late });
      const page = (await reply.json()) as Page;
      const isOld = isCached && pathname.endsWith("/version/");
      // In the first night the versions are read while the clock is ahead, and the list of projects after that.
      for (const record of page.objects) {
        if (record.project) Object.assign(record.project, isAhead || isOld ? early : late);
        else if (pathname.endsWith("/project/")) Object.assign(record, late);
      }
      return Response.json(page, isOld ? { headers: { age: "3600" } } : {});
    },
  );
  const names = async () =>
    (await quick.sql`select distinct name from mirror.projects`).map(({ name }) => name);
  await quick.sync({ kind: "full" });
  isAhead = false;
  for (let night = 2; night <= 3; night++) {
    quick.world.advance(86_400_000);
    expect((await quick.sync({ kind: "full" })).summary.status).toBe("succeeded");
    expect(await names()).toEqual(["Late"]);
  }
  // Old versions from a cache come before the list, whose pages are skipped because they say again what they said.
  isCached = true;
  for (const night of ["fourth", "fifth"]) {
    quick.world.advance(86_400_000);
    expect((await quick.sync({ kind: "full" })).summary.status, night).toBe("succeeded");
    expect(await names(), night).toEqual(["Late"]);
  }
});

test("the first walk after an upgrade of the normalizer reads all anew and finds no change", {
  tags: ["long"],
}, async () => {
  await using quick = await startQuickWorld({ users: 5, projects: 4, versions: 8, files: 6, builds: 60 });
  await quick.sync({ kind: "full" });
  const { databaseUrl, sql } = quick;
  const rows = async () => [
    await mirrorRows(databaseUrl),
    await sql`select id, changed_at, changed_run_id from mirror.builds order by id`,
  ];
  const before = await rows();
  // As an older version of the normalizer left the mirror: its hashes and pages are of that version.
  for (const resource of RESOURCES)
    await sql.unsafe(`update mirror.${resource}s set record_hash = decode(md5(id), 'hex')`);
  await sql`update sync.pages set normalizer_version = normalizer_version - 1`;
  const { summary } = await quick.sync({ kind: "full" });
  expect(summary.resources.build).toMatchObject({ inserted: 0, updated: 0, unchanged: 60 });
  // The hashes are those of this version again.
  expect(await rows()).toEqual(before);
  expect(await changeRows(databaseUrl)).toEqual([]);
});
