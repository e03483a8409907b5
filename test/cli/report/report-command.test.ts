import { describe, expect, it } from "vitest";
import { refreshReport } from "../../../src/report/refresh/refresh.ts";
import { runCli, startCli } from "../../support/cli.ts";
import type { TestDatabase } from "../../support/database.ts";
import { createReportedMirror, HOSTILE_SLUGS, REPORT_SETTINGS } from "../../support/reported-mirror.ts";
import { createReader, createRole } from "../../support/roles.ts";
import { useDatabase } from "../../support/use-database.ts";

const database = useDatabase(createReportedMirror);
const { sql } = database;

const reportOf = ({ url }: Pick<TestDatabase, "url">, ...args: string[]) =>
  runCli(["report", ...args], { env: { DATABASE_URL: url } });
const report = (...args: string[]) => reportOf(database, ...args);

/** Asks as a role that may read schema report, and nothing else. */
async function withReader(
  of: Pick<TestDatabase, "url" | "sql">,
  fn: (asReader: typeof report) => Promise<void>,
): Promise<void> {
  const rights = "grant usage on schema report to ROLE; grant select on all tables in schema report to ROLE";
  await using role = await createRole(of, rights);
  await fn((...args) => reportOf(role, ...args));
}

describe("report NAME", () => {
  it("prints a table, as many rows as are asked for, numbers at the right, without a word", async () => {
    const { code, stdout, stderr } = await report("success_rate_by_type", "--limit", "3");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const lines = stdout.trimEnd().split("\n");
    expect(lines).toHaveLength(4);
    expect(lines[0]).toMatch(/^type +builds +finished +succeeded +failed +success_rate +/);
    expect(lines.find((line) => line.startsWith("pdf"))).toMatch(/ 40 +40 +30 +10 +0\.75 +0\.5981 +0\.8581 /);
  });

  it("shows 50 rows unless told otherwise, and says that there are more", async () => {
    const { stdout, stderr } = await report("fact_builds");
    expect(stdout.split("\n")).toHaveLength(52);
    expect(JSON.parse(stderr)).toMatchObject({
      shown: 50,
      msg: "only the first rows are shown; --limit shows more, --format csv shows all",
    });
  });

  it("narrows by project, version, type and time, as the page does", { tags: ["long"] }, async () => {
    const args = ["--project", HOSTILE_SLUGS.markup, "--version", "stable", "--type", "html"];
    const days = ["--since", "2025-06-01", "--until", "2025-06-04"];
    const { stdout } = await report("fact_builds", "--json", ...args, ...days);
    const ids = JSON.parse(stdout).rows.map((row: { build_id: string }) => row.build_id);
    expect(ids).toEqual(["9", "1"]);
  });

  it("takes spans, counted back from now where rows are about the mirror itself", {
    tags: ["long"],
  }, async () => {
    // The first run is of the summer of 2025; other tests add some of this minute.
    const runsOf = async (...times: string[]) =>
      JSON.parse((await report("runs", "--json", ...times)).stdout).rows;
    const idsOf = (rows: { run_id: number }[]) => rows.map(({ run_id }) => run_id);
    expect(idsOf(await runsOf())).toContain(1);
    expect(idsOf(await runsOf("--since", "24h"))).not.toContain(1);
    expect(idsOf(await runsOf("--until", "24h"))).toEqual([1]);
  });

  it("counts a span about builds back from the last look at the builds", async () => {
    const [look] = await sql<{ at: string }[]>`
      select to_char(current_through at time zone 'UTC' - interval '1 hour', 'YYYY-MM-DD HH24:MI') as at
      from report.freshness where resource = 'build'`;
    const rows = async (...times: string[]) => (await report("fact_builds", "--json", ...times)).stdout;
    expect(await rows("--since", "1h")).toBe(await rows("--since", `${look?.at}Z`));
  });

  it("is over at once when its reader has gone", { tags: ["long"] }, async () => {
    await using running = startCli("report fact_builds --json", { env: { DATABASE_URL: database.url } });
    running.child.stdout?.destroy();
    expect(await running.ended).toMatchObject({ code: 0, stderr: "" });
  });
});

describe("answers that are older than the last run", { tags: ["long"] }, () => {
  /** As a run leaves it that was killed before its answers were computed. */
  const leaveBehind = () => sql`
    insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host)
    values ('watch', 'succeeded', now(), now(), now(), 1, 'test')`;

  it("are brought up to it before they are printed", async () => {
    await leaveBehind();
    await sql`update mirror.builds set state = 'finished', success = false, record_hash = 'moved' where id = '201'`;
    const { stdout, stderr } = await report("fact_builds", "--json", "--since", "2025-08-14");
    expect(stderr).toBe("");
    const row = JSON.parse(stdout).rows.find((one: { build_id: string }) => one.build_id === "201");
    expect(row.outcome).toBe("failed");
  });

  it("are printed as they are, with a warning, where the role may only read", async () => {
    await withReader(database, async (asReader) => {
      expect(await asReader("success_rate_by_type")).toMatchObject({ code: 0, stderr: "" });
      await leaveBehind();
      const { code, stdout, stderr } = await asReader("success_rate_by_type");
      expect(code).toBe(0);
      expect(stdout).toMatch(/^html/m);
      expect(stderr).toContain("the answers are older than the last run");
    });
  });

  it("and expensive are computed before they are read, and a role that may only read is told their time", async () => {
    await using mirror = await createReportedMirror();
    await using reader = await createReader(mirror);
    /** As a round of the watch leaves it, where the share of the time that is for expensive answers is used up. */
    const leaveExpensive = async () => {
      await mirror.sql`update rollup.state set dear_took_s = 86400`;
      await mirror.sql`update mirror.users set deleted_at = case when deleted_at is null then now() end`;
      await refreshReport(mirror.sql, { ...REPORT_SETTINGS, keepsSettings: true });
    };
    const records = async () => {
      const [row] = await mirror.sql`select records from report.freshness where resource = 'user'`;
      return row?.records;
    };

    await leaveExpensive();
    expect(await records()).toBe(1);
    expect(await reportOf(mirror, "success_rate_by_type")).toMatchObject({ stderr: "" });
    expect(await records()).toBe(1);
    expect(await reportOf(mirror, "backlog", "--json")).toMatchObject({ code: 0, stderr: "" });
    expect(await records()).toBe(0);

    await leaveExpensive();
    const [state] = await mirror.sql`select to_json(dear_refreshed_at) #>> '{}' as at from rollup.state`;
    const { stdout, stderr } = await reportOf(reader, "backlog", "--json");
    const { at, msg } = JSON.parse(stderr);
    expect(msg).toBe("what is expensive to compute may be older than the other answers");
    expect(new Date(at)).toEqual(new Date(state?.at));
    expect(new Date(JSON.parse(stdout).refreshed_at)).toEqual(new Date(state?.at));
    expect(await reportOf(reader, "success_rate_by_type")).toMatchObject({ stderr: "" });
    expect(await records()).toBe(0);

    const asked = ["sql", "select max(hour) from report.backlog", "--role", reader.name];
    expect(await runCli(asked, { env: { DATABASE_URL: mirror.url } })).toMatchObject({ code: 0, stderr: "" });
    expect(await records()).toBe(1);
  });

  it("are not called old behind a run that a clock dated ten years ahead", async () => {
    await using fresh = await createReportedMirror();
    await fresh.sql`
        insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host)
        select 'full', 'succeeded', at, at, now(), 1, 'test'
        from (values (now() + interval '10 years'), (now() - interval '1 hour')) as run (at)`;
    await withReader(fresh, async (asReader) => {
      expect(await asReader("success_rate_by_type")).toMatchObject({ code: 0, stderr: "" });
    });
  });

  it("are computed where they never were, but by nobody who may only read", async () => {
    await using fresh = await createReportedMirror({ refreshed: false });
    await withReader(fresh, async (asReader) => {
      const { code, stdout, stderr } = await asReader("success_rate_by_type", "--json");
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ refreshed_at: null, rows: [] });
      expect(stderr).toContain("or were never computed");
    });
    const { code, stdout } = await reportOf(fresh, "success_rate_by_type", "--json");
    expect({ code, types: JSON.parse(stdout).rows.length }).toEqual({ code: 0, types: 3 });
  });
});

describe("wrong input", () => {
  it.each([
    [["succes_rate_daily"], "there is no report named succes_rate_daily; did you mean success_rate_daily"],
    [["failing_now", "--project", "pop"], "the mirror has no project pop; did you mean pip?"],
    [["fact_builds", "--limit", "5000"], "a table has 1000 rows at most"],
    [["--project", "pip"], "--project is for one report"],
    [["runs", "--since", "yesterday"], "docmirror: --since yesterday: give a day (2026-11-03), a time"],
    [["runs", "--until", "soon"], "--until soon: give a day"],
  ])("%j exits 2 and says what is right", async (args, message) => {
    const stderr = expect.stringContaining(message);
    expect(await report(...args)).toMatchObject({ code: 2, stdout: "", stderr });
  });
});

describe("report without a name", () => {
  it("lists what each answers, without a database", async () => {
    const { code, stdout } = await runCli(["report"]);
    expect(code).toBe(0);
    expect(stdout).toContain("success_rate_daily\n  How often do builds succeed, day by day?");
  });
});
