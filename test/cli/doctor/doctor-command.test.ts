import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { loadConfig } from "../../../src/base/config.ts";
import { checkSettings, renderFindings } from "../../../src/cli/doctor/doctor-command.ts";
import {
  checkCertificate,
  checkClock,
  exitCodeOfFindings,
  type Finding,
} from "../../../src/cli/doctor/finding.ts";
import { refreshReport } from "../../../src/report/refresh/refresh.ts";
import { RESOURCES } from "../../../src/resources/resources.ts";
import { QUIET } from "../../../src/simulate/settings.ts";
import { runCli, startCli } from "../../support/cli.ts";
import { createDataDir } from "../../support/data-dir.ts";
import { createTestDatabase, withTestSql } from "../../support/database.ts";
import { createFolder } from "../../support/folder.ts";
import { fingerprint } from "../../support/mirror-rows.ts";
import { type QuickWorld, startWatchedWorld } from "../../support/quick-world.ts";
import { replaceDatabase } from "../../support/replace-database.ts";
import { createRole } from "../../support/roles.ts";
import { startScriptedServer } from "../../support/scripted-server.ts";

interface Diagnosis {
  exit_code: number;
  checks: { check: string; status: string; finding: string; repair: string | null }[];
}

/** A service in Chicago, of which each build was dated and read as one in UTC; the clocks of all agree. */
let quick: QuickWorld;
beforeAll(async () => {
  const startAt = new Date(Date.now() - 30 * 60_000);
  quick = await startWatchedWorld({ startAt, timeZone: "America/Chicago", readAs: "Etc/UTC", rates: QUIET });
  await refreshReport(quick.sql, { sourceTimezone: "Etc/UTC", stuckAfterMs: 7_200_000 });
  await withTestSql(quick.databaseUrl, async (sql) => {
    await sql`insert into sync.jobs (job, good_at, what) values ('backup', now(), '/backups/a.backup')`;
  });
});
afterAll(() => quick?.[Symbol.asyncDispose]());

/** With the service's own zone, unless told otherwise. */
const doctor = (flags: Record<string, string>, ...args: string[]) => {
  const { "database-url": url = quick.databaseUrl, ...rest } = flags;
  const usual = { "base-url": quick.baseUrl.href, rate: "0", "source-timezone": "America/Chicago" };
  const given = Object.entries({ ...usual, ...rest }).map(([name, value]) => `--${name}=${value}`);
  // By the environment: a password in a flag brings a warning.
  return runCli(["doctor", ...given, ...args], { env: { DATABASE_URL: url } });
};

async function diagnose(flags: Record<string, string> = {}) {
  const result = await doctor(flags, "--json");
  const diagnosis = JSON.parse(result.stdout) as Diagnosis;
  expect(result.code).toBe(diagnosis.exit_code);
  const found = Object.fromEntries(diagnosis.checks.map((check) => [check.check, check]));
  const withStatus = (status: string) =>
    diagnosis.checks.filter((check) => check.status === status).map(({ check }) => check);
  return { code: result.code, stderr: result.stderr, found, withStatus };
}

const CHECKS = [
  ...[
    "settings",
    "database",
    "rights",
    "migrations",
    "database clock",
    "freshness",
    "backups",
    "size",
    "service",
  ],
  ...["builds", "build schema", "service clock", "mirror", "time zone"],
];

describe("doctor", () => {
  it("of a mirror in which all is well says so, line by line, and exits 0", async () => {
    const { code, stdout, stderr } = await doctor({});
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const lines = stdout.split("\n");
    expect(lines.slice(0, -3).map((line) => line.slice(0, 11).trim())).toEqual(CHECKS.map(() => "✓ ok"));
    expect(lines.slice(0, -3).map((line) => line.slice(11, 27).trim())).toEqual(CHECKS);
    expect(lines.slice(-3)).toEqual(["", "no fault", ""]);
    expect(lines[6]).toMatch(/backup: (?:\d[\d.]*|< 0\.1) s ago, \/backups\/a\.backup$/);
    expect(lines[13]).toMatch(/America\/Chicago fits, as \d+ other zones do: the dates of 12 builds/);
  });

  it("finds that the time zone is wrong and names the one that fits", async () => {
    const { code, found, withStatus } = await diagnose({ "source-timezone": "Etc/UTC" });
    expect({ code, faults: withStatus("fault") }).toEqual({ code: 2, faults: ["time zone"] });
    expect(found["time zone"]?.finding).toMatch(
      /^DOCMIRROR_SOURCE_TIMEZONE=Etc\/UTC does not fit: the dates of 12 builds .* clocks at UTC-0[56]:00, but the zone is at UTC\+00:00/,
    );
    expect(found["time zone"]?.repair).toMatch(/^set DOCMIRROR_SOURCE_TIMEZONE=America\/Chicago, or/);
  });

  it("finds settings that cannot be used, all at once, and tests nothing else", async () => {
    const { code, found, withStatus } = await diagnose({ "source-timezone": "Mars", rate: "fast" });
    expect({ code, faults: withStatus("fault") }).toEqual({ code: 2, faults: ["settings"] });
    expect(found.settings?.finding).toMatch(
      /^2 settings .*:\n {2}- --rate: .*\n {2}- --source-timezone: "Mars"/,
    );
    expect(withStatus("unknown")).toEqual(CHECKS.slice(1));
  });
});

describe("a run of doctor", { tags: ["long"] }, () => {
  it("asks the service four times, the database for nothing but answers, and writes nothing", async () => {
    const read = () => withTestSql(quick.databaseUrl, fingerprint);
    const before = await read();
    quick.simulation.resetRequests();
    await diagnose();
    expect(quick.simulation.requests().total).toBe(4);
    expect(await read()).toEqual(before);
  });

  it("tells what cannot be tested, and why, where there is no database yet, and makes none", async () => {
    using folder = createFolder();
    const args = ["doctor", "--base-url", quick.baseUrl.href, "--data-dir", folder.at("data")];
    const { code, stdout } = await runCli(args);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^\? unknown {2}database +There is no mirror in .*data yet\n +→ `docmirror sync` makes one$/m,
    );
    expect(stdout).toMatch(/^\? unknown {2}time zone +there is no mirror yet$/m);
    expect(stdout).toContain("no fault, 9 not tested");
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it("tries what a first sync needs: a folder that may be written, and room", async (context) => {
    using folder = createFolder();
    const mount = (...options: string[]) => spawnSync("mount", [...options, folder.path]).status === 0;
    if (!mount("-t", "tmpfs", "-o", "size=50m", "tmpfs")) context.skip("a small disk cannot be mounted here");
    try {
      const line = `doctor --base-url ${quick.baseUrl.href} --data-dir ${folder.at("new/data")}`;
      const small = await runCli(line);
      expect(small).toMatchObject({
        code: 4,
        stdout: expect.stringMatching(/✗ fault .*database .* MB free, \d+ MB needed/),
      });
      mount("-o", "remount,ro");
      expect(await runCli(line)).toMatchObject({
        code: 4,
        stdout: expect.stringMatching(/✗ fault .*database .*\(EROFS\)/),
      });
    } finally {
      spawnSync("umount", [folder.path]);
    }
  });

  it("starts an embedded Postgres that is there, and leaves it stopped", async () => {
    await using dataDir = await createDataDir();
    await dataDir.withDatabase(async () => {});
    expect(await dataDir.serverPid()).toBeNull();
    const line = `doctor --base-url ${quick.baseUrl.href} --data-dir ${dataDir.path}`;
    const { code, stdout } = await runCli(line);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^✓ ok .*database +the embedded Postgres \d+\.\d+ in UTF-8/m);
    expect(stdout).toMatch(/^\? unknown .*migrations +There is no mirror in .* yet$/m);
    expect(await dataDir.serverPid()).toBeNull();
  });

  it("ends at once when it is told to stop, though the service does not answer", async () => {
    await using server = await startScriptedServer([{ instead: "say nothing" }]);
    await using cli = startCli(`doctor --base-url ${server.url} --database-url ${quick.databaseUrl}`);
    await server.arrived(1);
    expect(await cli.stop("SIGINT")).toMatchObject({ code: 130, stdout: "" });
  });
});

describe("doctor finds", { tags: ["long"] }, () => {
  it("a run that was dated ten years ahead", async () => {
    await using copy = await createTestDatabase({ copyOf: quick.databaseUrl });
    await copy.sql`update sync.runs set started_at = started_at + interval '10 years', finished_at = finished_at + interval '10 years'`;
    const { found } = await diagnose({ "database-url": copy.url });
    expect(found.freshness).toMatchObject({
      status: "warning",
      finding: expect.stringMatching(/ended at 203\d-.*, which is ahead of now: a clock is or was wrong$/),
    });
  });

  it("that nothing removes old rounds of the watch, and that the database is full soon", async () => {
    await using database = await createTestDatabase();
    const size = async (flags: Record<string, string> = {}) =>
      (await diagnose({ "database-url": database.url, ...flags })).found.size;
    const addRun = (kind: string, daysAgo: number, bytes: number | null) => database.sql`
      insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host, database_bytes)
      select ${kind}, 'succeeded', at, at, now(), 1, 'h', ${bytes}::bigint
      from (select now() - ${daysAgo} * interval '1 day' as at) as moment`;
    for (const daysAgo of [420, 10, 0]) await addRun("watch", daysAgo, null);
    expect((await diagnose({ "database-url": database.url })).found.backups).toMatchObject({
      status: "warning",
      finding: expect.stringContaining("no backup was written by schedule yet"),
    });
    expect(await size()).toMatchObject({
      status: "ok",
      finding: expect.stringMatching(/^the database has [\d.]+ MB \(/),
    });
    await database.sql`update sync.runs set finished_at = now() - interval '440 days' where id = 1`;
    expect(await size()).toMatchObject({
      status: "warning",
      finding: expect.stringMatching(/; nothing removes old rounds of the watch: 1 are from before \d{4}-/),
      repair: expect.stringContaining("DOCMIRROR_PRUNE_CRON"),
    });
    for (const [daysAgo, bytes] of [
      [10, 1e6],
      [0, 50e6],
    ] as const)
      await addRun("full", daysAgo, bytes);
    expect(await size({ "database-limit": "0.1" })).toMatchObject({
      status: "warning",
      finding: expect.stringMatching(
        / of 100\.0 MB \(.*; it grows by 4\.9 MB a day, and is full in \d+ days$/,
      ),
    });
  });

  it("that there is no base URL, and still tests the database", async () => {
    const env = { DATABASE_URL: quick.databaseUrl };
    const result = await runCli("doctor --source-timezone America/Chicago", { env });
    expect(result.code).toBe(2);
    expect(result.stdout).toMatch(/^✗ fault .*settings +no base URL: .*\n +→ give --base-url/m);
    expect(result.stdout).toMatch(/^✓ ok .*time zone/m);
    expect(result.stdout).toContain("1 fault, 4 not tested");
  });

  it("that the database is down, and still tests the service", async () => {
    const nobody = "postgres://nobody@127.0.0.1:1/none";
    const { code, found, withStatus } = await diagnose({ "database-url": nobody });
    expect({ code, faults: withStatus("fault") }).toEqual({ code: 4, faults: ["database"] });
    expect(found.database?.finding).toBe("Cannot reach Postgres at 127.0.0.1:1");
    expect(found.database?.repair).toContain("nothing answers there: start Postgres");
    const unknown = [
      "rights",
      "migrations",
      "database clock",
      "freshness",
      "backups",
      "size",
      "mirror",
      "time zone",
    ];
    expect(withStatus("unknown")).toEqual(unknown);
    expect(found.service?.status).toBe("ok");
  });

  it("that the role may not write, and what it may not", async () => {
    await using database = await createTestDatabase({ copyOf: quick.databaseUrl });
    const schemas = "schema mirror, sync, rollup, report to ROLE";
    const rights = `grant usage on ${schemas}; grant select on all tables in ${schemas}`;
    await using role = await createRole(database, rights);
    const { code, found, withStatus } = await diagnose({ "database-url": role.url });
    expect({ code, faults: withStatus("fault") }).toEqual({ code: 4, faults: ["rights"] });
    expect(found.rights?.finding).toMatch(
      /^the role may not (insert into|update|delete from) (mirror|sync|rollup|report)\.\w+, .* and \d+ more$/,
    );
    expect(found["time zone"]?.status).toBe("ok");
  });

  it("a schema that is older, newer, or not there yet", async () => {
    await using older = await createTestDatabase();
    await using newer = await createTestDatabase();
    await using none = await createTestDatabase({ migrated: false });
    await older.sql`update sync.definitions set hash = '', version = '0.0.0' where name = 'report.freshness'`;
    await newer.sql`insert into sync.migrations (tag, hash) values ('0999_of_tomorrow', 'x')`;
    for (const [{ url }, code, status, repair] of [
      [older, 7, "fault", "run `docmirror migrate`"],
      [newer, 7, "fault", expect.stringContaining("upgrade docmirror")],
      [none, 0, "unknown", "`docmirror sync` makes one"],
    ] as const) {
      const told = await diagnose({ "database-url": url });
      expect(told).toMatchObject({ code, found: { migrations: { status, repair } } });
      expect(told.found["time zone"]?.finding).toContain("see migrations");
    }
  });

  it("that the database is the demo's, of another service", async () => {
    await using database = await createTestDatabase();
    const name = new URL(database.url).pathname.slice(1);
    await withTestSql(replaceDatabase(database.url, "postgres"), (sql) =>
      sql.unsafe(`comment on database ${name} is 'docmirror demo of http://127.0.0.1:1'`),
    );
    const { code, found } = await diagnose({ "database-url": database.url });
    expect(code).toBe(2);
    expect(found.database?.finding).toContain("`docmirror demo` made");
  });

  it("that the service is down, after two tries", async () => {
    const { code, found, withStatus } = await diagnose({ "base-url": "http://127.0.0.1:1" });
    expect({ code, faults: withStatus("fault") }).toEqual({ code: 5, faults: ["service", "mirror"] });
    expect(found.service?.repair).toMatch(
      /^check DOCMIRROR_BASE_URL .*; if it has moved: .*`docmirror migrate --service NEW_URL` once$/,
    );
    expect(withStatus("unknown")).toEqual(["builds", "build schema", "service clock"]);
  });

  it("that the service may have moved where its address answers otherwise, and not where it refuses us", async () => {
    const repairOf = async (status: number) => {
      await using server = await startScriptedServer([{ status }, { status }]);
      return (await diagnose({ "base-url": server.url.href })).found.service?.repair;
    };
    const moved = "if it has moved: ";
    for (const status of [404, 410, 418]) expect(await repairOf(status)).toContain(moved);
    for (const status of [401, 403, 429, 500, 503]) expect(await repairOf(status)).not.toContain(moved);
  });

  it("resources and fields that are not as documented, and a clock that is off", async () => {
    const list = (name: string) => ({ list_endpoint: `/api/v1/${name}/`, schema: `/api/v1/${name}/schema/` });
    const build = { id: 7, date: "yesterday", state: "finished", success: true, shoes: "\u202ered" };
    const replies: Record<string, unknown> = {
      "/api/v1/": { build: list("build"), project: list("project"), user: list("user") },
      "/api/v1/build/": { meta: { limit: 1, offset: 0, next: null, total_count: 1 }, objects: [build] },
      "/api/v1/build/7/": build,
      "/api/v1/build/schema/": { fields: { id: { type: "integer" }, shoes: { type: "string" } } },
    };
    const date = new Date(Date.now() - 600_000).toUTCString();
    await using server = await startScriptedServer((_request, { pathname }) =>
      replies[pathname] === undefined ? { status: 404 } : { body: replies[pathname], headers: { date } },
    );
    const { code, found, withStatus } = await diagnose({ "base-url": server.url.href });
    expect({ code, faults: withStatus("fault") }).toEqual({ code: 6, faults: ["service", "mirror"] });
    expect(found.service?.finding).toContain("no version, no file");
    expect(found.service?.repair).toContain("DOCMIRROR_LEAVE_OUT=version,file");
    expect(withStatus("warning")).toEqual(["builds", "build schema", "service clock"]);
    expect(found.builds?.finding).toMatch(
      /the list has 1; .*: resource_uri \(missing in records\), .* and \d more$/,
    );
    expect(found["build schema"]?.finding).toMatch(/also has shoes and lacks resource_uri, date, /);
    expect(found["service clock"]?.finding).toMatch(/ is \d{3}\.\d s to 60\d\.\d s behind ours:/);
  });

  it("that the list of builds came empty, and a service without schemas as none of its faults", async () => {
    const list = (resource: string) => ({ list_endpoint: `/api/v1/${resource}/` });
    await using server = await startScriptedServer((_request, { pathname }) => {
      if (pathname === "/api/v1/")
        return { body: Object.fromEntries(RESOURCES.map((name) => [name, list(name)])) };
      if (pathname !== "/api/v1/build/") return { status: 404 };
      return { body: { meta: { limit: 1, offset: 0, next: null, total_count: 0 }, objects: [] } };
    });
    const { code, found } = await diagnose({ "base-url": server.url.href });
    expect(code).toBe(2);
    expect(found.mirror?.finding).toMatch(/^this mirror is of http:.*, and DOCMIRROR_BASE_URL is http:/);
    expect(found.builds).toMatchObject({ status: "warning", finding: "the list of builds is empty" });
    expect(found["build schema"]?.status).toBe("unknown");
  });
});

const FINDINGS: Finding[] = [
  { check: "one", status: "ok", finding: "well" },
  { check: "other", status: "warning", finding: "a b c", repair: "d" },
  { check: "third", status: "fault", finding: "x\u001b[2Jy\nsecond", repair: "do this", exitCode: 6 },
  { check: "fourth", status: "fault", finding: "z", repair: "do that", exitCode: 4 },
  { check: "last", status: "unknown", finding: "not asked" },
];

describe("renderFindings", () => {
  test("aligns them, and makes foreign text safe for a terminal", () => {
    expect(renderFindings(FINDINGS, { colour: false, columns: undefined })).toBe(
      [
        "✓ ok       one     well",
        "! warning  other   a b c",
        "                   → d",
        "✗ fault    third   x␛[2Jy",
        "                   second",
        "                   → do this",
        "✗ fault    fourth  z",
        "                   → do that",
        "? unknown  last    not asked",
        "",
        "2 faults, 1 warning, 1 not tested",
        "",
      ].join("\n"),
    );
  });

  test("breaks lines for a terminal between words, and leaves a narrow one to itself", () => {
    const finding = "some words that are longer than forty columns of text";
    const render = (columns: number) =>
      renderFindings([{ check: "one", status: "ok", finding }], { colour: false, columns });
    expect(render(60)).toBe(
      "✓ ok       one  some words that are longer than forty\n" +
        "                columns of text\n\nno fault\n",
    );
    expect(render(40)).toBe(`✓ ok       one  ${finding}\n\nno fault\n`);
  });

  test("colours the status alone", () => {
    const [line] = renderFindings(FINDINGS, { colour: true, columns: 80 }).split("\n");
    expect(line).toBe("\u001b[32m✓ ok     \u001b[39m  one     well");
  });
});

describe("exitCodeOf", () => {
  test("is that of the first fault, and 0 without one", () => {
    expect(exitCodeOfFindings(FINDINGS)).toBe(6);
    expect(exitCodeOfFindings(FINDINGS.filter(({ status }) => status !== "fault"))).toBe(0);
  });
});

const DAY_MS = 86_400_000;

describe("checkCertificate", () => {
  const now = new Date("2026-11-29T00:00:00Z");
  const check = (end: string | null) =>
    checkCertificate("the service's", end === null ? null : new Date(end), now);

  it("warns from fourteen days before its end, and says who must renew it", () => {
    expect(check(null)).toBeNull();
    expect(check("2026-12-13T00:00:01Z")).toBeNull();
    expect(check("2026-12-05T12:00:00Z")).toMatchObject({
      status: "warning",
      finding: "the service's certificate ends in 6 days, at 2026-12-05T12:00:00.000Z",
      repair: expect.stringContaining("renew"),
    });
    expect(check("2026-11-29T10:00:00Z")?.finding).toMatch(/ends in 0 days/);
  });

  it("says when one has ended", () => {
    expect(check("2026-11-28T00:00:00Z")).toMatchObject({
      status: "warning",
      finding: "the service's certificate ended at 2026-11-28T00:00:00.000Z",
    });
  });
});

describe("checkClock", () => {
  test.each([
    [-1500, 1800, "ok", "its clock agrees with ours to within 1.8 s"],
    [2100, 3100, "warning", "its clock is 2.1 s to 3.1 s ahead of ours: it matters"],
    [-601_000, -600_000, "warning", "its clock is 600.0 s to 601.0 s behind ours: it matters"],
    [-7_201_000, -7_100_000, "warning", "its clock is 1 h 58 min to 2 h 0 min behind ours: it matters"],
    [920 * DAY_MS, 920 * DAY_MS + 1000, "warning", "its clock is 920 d 0 h ahead of ours: it matters"],
  ])("of %i to %i ms says %s: %s", (minMs, maxMs, status, finding) => {
    expect(checkClock("its", { minMs, maxMs }, "it matters")).toMatchObject({ status, finding });
  });
});

const REAL = { DOCMIRROR_BASE_URL: "https://docs.example.org" };
const CONTACT = { DOCMIRROR_CONTACT: "ops@example.org" };

it.each([
  ["asks for a contact", REAL, "warning", /^DOCMIRROR_CONTACT is not set/],
  ["is content with one", { ...REAL, ...CONTACT }, "ok", /^all can be used, 2 of/],
  ["asks for none before a service of this machine", { DOCMIRROR_BASE_URL: "http://localhost:1" }, "ok", /./],
  ["warns of no rate", { ...REAL, ...CONTACT, DOCMIRROR_RATE: "0" }, "warning", /^DOCMIRROR_RATE is 0/],
])("doctor %s", (_, env, status, finding) => {
  using folder = createFolder();
  const context = loadConfig({ env, cwd: folder.path });
  expect(checkSettings(context)).toMatchObject({ status, finding: expect.stringMatching(finding) });
});
