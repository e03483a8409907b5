/** A worker whose role owns nothing, beside the role that migrates, on a server of its own. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withSql } from "../../src/store/connection/connect.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import { pageOf, runCli, startCli } from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { freePort } from "../support/free-port.ts";
import { TINY, useService } from "../support/service.ts";
import { createWorld } from "../support/simulation.ts";
import {
  createSystemPostgres,
  POSTGRES_BIN,
  type SystemPostgres,
  type SystemServer,
} from "../support/system-postgres.ts";

const SESSION = { applicationName: "docmirror test", max: 1 } as const;
const DAY = 86_400_000;
const GRANT = ["migrate", "--worker", "the worker"];

describe.skipIf(POSTGRES_BIN === null)("a role for the worker", { tags: ["long"] }, () => {
  const folder = useFolder("docmirror-roles-");
  const world = createWorld({ ...TINY, builds: 200, startAt: new Date(Date.now() - 2 * DAY) });
  const service = useService(world);
  let postgres: SystemPostgres;
  let server: SystemServer;
  let adminUrl: string;

  beforeAll(async () => {
    postgres = createSystemPostgres("admin");
    postgres.init("own");
    const port = await freePort();
    server = await postgres.start("own", port);
    adminUrl = postgres.url(port);
    await withSql(adminUrl, SESSION, async (sql) => {
      await sql`create role "the owner" login password 'owner'`;
      await sql`create role "the worker" login password 'worker'`;
      await sql`create database mirror owner "the owner" template template0 encoding 'UTF8'`;
      await sql`revoke all on database mirror from public`;
    });
    const stdout = expect.stringMatching(/^the worker may do all that a worker needs$/m);
    expect(await as("owner", ...GRANT)).toMatchObject({ code: 0, stdout });
    expect(await as("worker", "sync", "--full")).toMatchObject({ code: 0 });
  });
  afterAll(async () => {
    await server?.stop();
    postgres?.remove();
  });

  const urlOf = (role: "owner" | "worker") =>
    Object.assign(new URL(adminUrl), { username: `the ${role}`, password: role, pathname: "/mirror" }).href;
  const envOf = (role: "owner" | "worker") => ({
    DATABASE_URL: urlOf(role),
    DOCMIRROR_BASE_URL: service.url,
    DOCMIRROR_RATE: "0",
  });
  const as = (role: "owner" | "worker", ...args: string[]) => runCli(args, { env: envOf(role) });
  const asOwner = <T>(fn: (sql: Sql) => Promise<T>) => withSql(urlOf("owner"), SESSION, fn);

  it("may be given again, also by two at once", async () => {
    const twice = [1, 2].map(() => startCli(GRANT, { env: envOf("owner") }).ended);
    for (const { code, stderr } of await Promise.all(twice))
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const json = await as("owner", ...GRANT, "--json");
    expect(JSON.parse(json.stdout)).toMatchObject({ applied: [], worker: "the worker" });
  });

  it("is given to no role that is missing, nor to the owner", async () => {
    for (const [role, why] of [
      ["nobody", "there is no role"],
      ["the owner", "may do all that the owner"],
      ["docmirror", "may do all that the owner"],
    ] as const) {
      const stderr = expect.stringContaining(why);
      expect(await as("owner", "migrate", "--worker", role)).toMatchObject({ code: 2, stderr });
    }
  });

  it("is enough for each command that works on the mirror", async () => {
    world.advance(DAY);
    const backup = folder.at("docmirror.backup");
    const [project] = await asOwner(
      (sql) => sql<{ slug: string }[]>`select slug from mirror.projects limit 1`,
    );
    const alone = [
      "sync",
      "watch --once",
      "report runs",
      "reclassify",
      "status",
      "doctor",
      "quarantine",
      "notify",
    ];
    for (const line of [
      ...[...alone, "quarantine --retry", `notify --mute ${project?.slug} --for 1d`],
      ...[`export --format csv --out ${folder.at("export")}`, "prune --older-than 1d", `backup ${backup}`],
    ]) {
      const { code, stderr } = await as("worker", ...line.split(" "));
      expect({ line, code, stderr }).toMatchObject({ code: 0, stderr: expect.not.stringContaining("42501") });
    }
    const doctor = await as("worker", "doctor");
    expect(doctor.stdout).toContain("enough for a sync");
    const restored = await runCli(["restore", backup, "--data-dir", folder.at("restored")]);
    expect(restored).toMatchObject({ code: 0 });
  });

  it("is enough for a worker, its lead and its pages", async () => {
    const often = ["--sync-cron", "* * * * * *", "--watch-cron", "* * * * * *"];
    await using cli = startCli(["worker", "--http-port", "0", ...often], { env: envOf("worker") });
    const page = await pageOf(cli);
    await cli.waitFor("stderr", /sync succeeded/);
    const { objects } = (await (await fetch(`${page}/api/v1/project/?limit=1`)).json()) as {
      objects: { slug: string }[];
    };
    const pages = ["/", "/mirror", `/project/${objects[0]?.slug}`];
    for (const path of [...pages, "/api/v1/build/", "/metrics", "/status.json", "/readyz"])
      expect({ path, status: (await fetch(page + path)).status }).toEqual({ path, status: 200 });
    const { code, stderr } = await cli.stop();
    expect(code).toBe(143);
    expect(stderr).not.toMatch(/"level":[56]0|42501/);
  });

  it("changes and owns no table, and may not say which schema this is", async () => {
    const owned = await asOwner(
      (sql) => sql`select relname from pg_class where pg_get_userbyid(relowner) = 'the worker'`,
    );
    expect([...owned]).toEqual([]);
    await withSql(urlOf("worker"), SESSION, async (sql) => {
      for (const text of [
        "alter table mirror.builds add column mine int",
        "drop view report.freshness",
        "truncate mirror.builds",
        "create table mirror.mine ()",
        "create schema mine",
        "delete from sync.migrations",
        "update sync.definitions set hash = 'mine'",
        "insert into sync.migrations select * from sync.migrations",
      ])
        await expect(sql.unsafe(text), text).rejects.toMatchObject({ code: "42501" });
    });
  });

  it("may not migrate, and is told who may; what the owner makes later is its own to use", async () => {
    const stdout = expect.stringContaining("nothing to apply");
    expect(await as("worker", "migrate")).toMatchObject({ code: 0, stdout });
    await asOwner(async (sql) => {
      await sql`create table mirror.later (id int)`;
      await sql`update sync.definitions set hash = 'of another version' where name = 'report.runs'`;
    });
    const refused = await as("worker", "migrate");
    expect(refused).toMatchObject({ code: 4, stdout: "" });
    expect(refused.stderr).toMatch(
      /the role the worker may not change the schema mirror, which belongs to the owner\n {2}run `docmirror migrate` as the role the owner\n/,
    );
    expect(await as("worker", "sync")).toMatchObject({ code: 7 });
    // Without the flag: the rights stay with what is made anew, and come with what is new.
    expect(await as("owner", "migrate")).toMatchObject({ code: 0 });
    expect(await as("worker", "sync")).toMatchObject({ code: 0 });
    await withSql(urlOf("worker"), SESSION, (sql) => sql`insert into mirror.later values (1)`);
  });
});
