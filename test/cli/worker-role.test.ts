/** A worker whose role owns nothing, beside the role that migrates, on a server of its own. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Simulation, startSimulation } from "../../src/simulate/service.ts";
import { createWorld, type World } from "../../src/simulate/world.ts";
import { withSql } from "../../src/store/connection/connect.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import { pageOf, runCli, startCli } from "../support/cli.ts";
import { freePort } from "../support/free-port.ts";
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
  let folder: string;
  let postgres: SystemPostgres;
  let server: SystemServer;
  let adminUrl: string;
  let world: World;
  let service: Simulation;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "docmirror-roles-"));
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
    world = createWorld({
      ...{ users: 5, projects: 4, versions: 6, files: 5, builds: 200 },
      startAt: new Date(Date.now() - 2 * DAY),
    });
    service = await startSimulation({ world });
    expect(await as("owner", ...GRANT)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^the worker may do all that a worker needs$/m),
    });
    expect(await as("worker", "sync", "--full")).toMatchObject({ code: 0 });
  });
  afterAll(async () => {
    await service?.close();
    await server?.stop();
    postgres?.remove();
    rmSync(folder, { recursive: true, force: true });
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
    ] as const)
      expect(await as("owner", "migrate", "--worker", role)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(why),
      });
  });

  it("is enough for each command that works on the mirror", async () => {
    world.advance(DAY);
    const backup = join(folder, "docmirror.backup");
    const [project] = await asOwner(
      (sql) => sql<{ slug: string }[]>`select slug from mirror.projects limit 1`,
    );
    const slug = project?.slug ?? "";
    for (const args of [
      ["sync"],
      ["watch", "--once"],
      ["report", "success_rate_by_project"],
      ["reclassify"],
      ["status"],
      ["doctor"],
      ["quarantine"],
      ["quarantine", "--retry"],
      ["notify"],
      ["notify", "--mute", slug, "--for", "1d"],
      ["export", "--out", join(folder, "export"), "--format", "csv"],
      ["prune", "--older-than", "1d"],
      ["backup", backup],
    ]) {
      const { code, stderr } = await as("worker", ...args);
      expect({ args, code, stderr }).toMatchObject({ code: 0, stderr: expect.not.stringContaining("42501") });
    }
    const doctor = await as("worker", "doctor");
    expect(doctor.stdout).toContain("enough for a sync");
    const restored = await runCli(["restore", backup, "--data-dir", join(folder, "restored")]);
    expect(restored).toMatchObject({ code: 0 });
  });

  it("is enough for a worker, its lead and its pages", async () => {
    await using cli = startCli(
      [...["worker", "--http-port", "0", "--sync-cron", "* * * * * *"], ...["--watch-cron", "* * * * * *"]],
      { env: envOf("worker") },
    );
    const page = await pageOf(cli);
    await cli.waitFor("stderr", /sync succeeded/);
    const { objects } = (await (await fetch(`${page}/api/v1/project/?limit=1`)).json()) as {
      objects: { slug: string }[];
    };
    for (const path of [
      "/",
      "/mirror",
      `/project/${objects[0]?.slug}`,
      "/api/v1/build/",
      "/metrics",
      "/status.json",
      "/readyz",
    ])
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
    expect(await as("worker", "migrate")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("nothing to apply"),
    });
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
