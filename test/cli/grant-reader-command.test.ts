import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { RELATIONS } from "../../src/report/dictionary.ts";
import { planReaderGrant } from "../../src/report/grant-reader.ts";
import { runCli } from "../support/cli.ts";
import { withTestSql } from "../support/database.ts";
import { createReportedMirror } from "../support/reported-mirror.ts";
import { useDatabase } from "../support/use-database.ts";

const database = useDatabase(createReportedMirror);
const { sql } = database;
/** Roles belong to the whole server, which other test files use too. */
const made = new Set<string>();

afterEach(async () => {
  for (const role of made) {
    const [there] = await sql`select quote_ident(rolname) as name from pg_roles where rolname = ${role}`;
    if (there) await sql.unsafe(`drop owned by ${there.name} cascade; drop role ${there.name}`);
  }
  made.clear();
});

/** A name that has to be quoted, and that no other test has. */
function roleName(): string {
  // It is plain, but Postgres needs quotes for it.
  const name = `Reader-${randomBytes(4).toString("hex")}.x@y`;
  made.add(name);
  return name;
}

async function createRole(name: string, attributes = ""): Promise<string> {
  const [row] = await sql`select quote_ident(${name}) as quoted`;
  await sql.unsafe(`create role ${row?.quoted} ${attributes}`);
  return String(row?.quoted);
}

const grant = (role: string, ...args: string[]) =>
  runCli(["grant-reader", role, ...args], { env: { DATABASE_URL: database.url } });

const urlAs = (role: string) => `${database.url}?role=${encodeURIComponent(role)}`;

const allowed = (role: string, statements: readonly string[]) =>
  withTestSql(urlAs(role), async (reader) => {
    const outcomes: string[] = [];
    for (const statement of statements) {
      const outcome = await reader.unsafe(statement).catch((error: Error & { code?: string }) => error);
      if (!(outcome instanceof Error)) outcomes.push(statement);
      else if (outcome.code !== "42501") throw outcome;
    }
    return outcomes;
  });

async function readsOf(schema: string): Promise<string[]> {
  const rows = await sql`
    select format('select * from %I.%I limit 1', nspname, relname) as text
    from pg_class join pg_namespace as space on space.oid = relnamespace
    where nspname = ${schema} and relkind in ('r', 'p', 'v', 'm') order by 1`;
  return rows.map(({ text }) => String(text));
}

const readable = async (role: string, schema: string) => allowed(role, await readsOf(schema));

describe("grant-reader", () => {
  it("makes the role, which reads all of report and is refused every other table", async () => {
    const role = roleName();
    const { code, stdout, stderr } = await grant(role);
    const said = `${role}, a new role, can read the schema report\n`;
    expect({ code, stdout }).toEqual({ code: 0, stdout: said });
    expect(JSON.parse(stderr)).toMatchObject({ role, msg: expect.stringContaining("no password yet") });
    expect(await readable(role, "report")).toHaveLength(RELATIONS.length);
    for (const schema of ["mirror", "sync", "rollup", "report_people"]) {
      expect(await readsOf(schema)).not.toEqual([]);
      expect(await readable(role, schema), schema).toEqual([]);
    }
    const writes = ["delete from report.error_rules", "create table report.mine ()"];
    expect(await allowed(role, [...writes, "select * from mirror.builds_as_of(now())"])).toEqual([]);
    const [row] = await sql`
      select rolcanlogin, rolsuper, rolconfig::text from pg_roles where rolname = ${role}`;
    const rolconfig = "{default_transaction_read_only=on,statement_timeout=60s,TimeZone=UTC}";
    expect(row).toEqual({ rolcanlogin: true, rolsuper: false, rolconfig });
  });

  it("may be repeated, and covers relations that come later", { tags: ["long"] }, async () => {
    const role = roleName();
    await grant(role);
    await sql`create view report.later as select 1 as one`;
    try {
      expect(await allowed(role, ["select one from report.later"])).toHaveLength(1);
      const again = await grant(role);
      expect(again).toMatchObject({ code: 0, stdout: `${role} can read the schema report\n`, stderr: "" });
    } finally {
      await sql`drop view report.later`;
    }
  });

  it("gives people's names with --with-people, takes them away without", { tags: ["long"] }, async () => {
    const role = roleName();
    expect((await grant(role, "--with-people")).stdout).toContain("the schemas report and report_people");
    expect(await readable(role, "report_people")).toEqual(await readsOf("report_people"));
    expect(await readable(role, "mirror")).toEqual([]);
    await grant(role);
    expect(await readable(role, "report_people")).toEqual([]);
    expect(await readable(role, "report")).toHaveLength(RELATIONS.length);
  });

  it("--interface adds the records and what shows the state of the schema, by name", {
    tags: ["long"],
  }, async () => {
    const role = roleName();
    const { stdout } = await grant(role, "--interface");
    expect(stdout).toBe(`${role}, a new role, can read the schema report and the records of the interface\n`);
    const tables = async (schema: string) =>
      (await readable(role, schema)).map((text) => /"?\w+"?\."?(\w+)/.exec(text)?.[1]).sort();
    const records = ["build_logs", "builds", "files", "project_users", "projects", "users", "versions"];
    expect(await tables("mirror")).toEqual(expect.arrayContaining(records));
    for (const hidden of ["pages", "notices"]) expect(await tables("sync")).not.toContain(hidden);
    expect(await tables("rollup")).toEqual([]);
    expect(await tables("report_people")).toEqual([]);
    const writes = [
      ...["insert into mirror.users select * from mirror.users", "update mirror.builds set state = 'x'"],
      ...["delete from mirror.files", "truncate mirror.build_logs", "create table mirror.mine ()"],
      ...["create schema mine", "drop table mirror.builds", "update sync.runs set status = 'x'"],
      ...["delete from report.error_rules", "select * from sync.pages", "select data from sync.notices"],
      ...["select error from sync.notices", "select * from rollup.builds"],
    ];
    expect(await allowed(role, writes)).toEqual([]);
    const counted = ["select count(given_up_at), min(noted_at) from sync.notices where delivered_at is null"];
    expect(await allowed(role, counted)).toEqual(counted);
    const places = ["select * from report.error_place('error: one', null, null, null)"];
    expect(await allowed(role, places)).toEqual(places);
    const again = await grant(role, "--interface", "--json");
    expect(JSON.parse(again.stdout)).toMatchObject({ is_new: false, with_interface: true });
    const without = await grant(role);
    expect(without).toMatchObject({ code: 2, stdout: "" });
    expect(without.stderr).toContain("or keep it with --interface");
  });

  it("--interface takes the contents of notices from a role that had them", async () => {
    const role = roleName();
    await grant(role, "--interface");
    await sql.unsafe(`grant select on sync.notices to "${role}"`);
    const contents = ["select data from sync.notices"];
    expect(await allowed(role, contents)).toEqual(contents);
    expect((await grant(role, "--interface")).code).toBe(0);
    expect(await allowed(role, contents)).toEqual([]);
  });

  it("--interface refuses a role that reads more than that", async () => {
    const role = roleName();
    const quoted = await createRole(role);
    await sql.unsafe(`grant usage on schema sync to ${quoted}; grant select on sync.pages to ${quoted}`);
    const { code, stderr } = await grant(role, "--interface");
    expect(code).toBe(2);
    expect(stderr).toContain("can already read more than the report: sync.pages");
    expect(await readable(role, "mirror")).toEqual([]);
  });

  it("--dry-run prints just what would run, and changes nothing", { tags: ["long"] }, async () => {
    const role = roleName();
    const { code, stdout } = await grant(role, "--dry-run", "--with-people");
    expect(code).toBe(0);
    expect(await sql`select from pg_roles where rolname = ${role}`).toHaveLength(0);
    expect(stdout.split("\n")[0]).toBe(`create role "${role.replaceAll('"', '""')}" login;`);
    await sql.unsafe(stdout);
    expect(await readable(role, "report_people")).toEqual(await readsOf("report_people"));
    const json = JSON.parse((await grant(role, "--dry-run", "--json")).stdout);
    expect(json).toMatchObject({ role, is_new: false, dry_run: true, with_people: false });
    await sql.unsafe(json.statements.join(";\n"));
    expect(await readable(role, "report_people")).toEqual([]);
  });

  it("refuses a role that reads the rest anyhow: a superuser, a member of one that may, whoever inherits or not", async () => {
    const [superuser, group, member] = [roleName(), roleName(), roleName()];
    await createRole(superuser, "superuser");
    const quotedGroup = await createRole(group);
    const some = "grant usage on schema mirror to GROUP; grant select (id) on mirror.users to GROUP";
    await sql.unsafe(some.replaceAll("GROUP", quotedGroup));
    await createRole(member, `noinherit in role ${quotedGroup}`);
    const refused = [
      [superuser, "is a superuser"],
      [group, "can already read more than the report: mirror.users"],
      [member, `can already read more than the report: mirror.users as ${group}`],
    ] as const;
    for (const [role, message] of refused) {
      const error = { exitCode: 2, message: expect.stringContaining(message) };
      await expect(planReaderGrant(sql, role)).rejects.toMatchObject(error);
    }
    expect(await grant(member)).toMatchObject({ code: 2, stdout: "" });
    expect(await readable(member, "report")).toEqual([]);
  });

  it("leaves the other settings of a role alone that is there, and warns of one that may make roles", async () => {
    const role = roleName();
    await createRole(role, "createrole");
    const { code, stderr } = await grant(role);
    expect(code).toBe(0);
    expect(stderr).toContain("it may create roles");
    const [row] = await sql`select rolconfig from pg_roles where rolname = ${role}`;
    expect(row?.rolconfig).toEqual(["TimeZone=UTC"]);
  });

  it("sets the zone in this database where the role has another one there", async () => {
    const role = roleName();
    const quoted = await createRole(role);
    const name = new URL(database.url).pathname.slice(1);
    await sql.unsafe(`alter role ${quoted} set timezone = 'UTC';
      alter role ${quoted} in database postgres set timezone = 'Europe/Berlin'`);
    expect((await planReaderGrant(sql, role)).statements.join()).not.toContain("timezone");
    await sql.unsafe(`alter role ${quoted} in database ${name} set timezone = 'Europe/Berlin'`);
    const { statements } = await planReaderGrant(sql, role);
    expect(statements).toContain(`alter role ${quoted} in database ${name} set timezone = 'UTC'`);
    expect((await grant(role)).code).toBe(0);
    expect((await planReaderGrant(sql, role)).statements.join()).not.toContain("timezone");
  });

  it("exits 4 where the own role may not make roles, says how to go on, and leaves nothing half done", async () => {
    const [weak, role] = [roleName(), roleName()];
    const quoted = await createRole(weak, "login");
    await sql.unsafe(`grant usage on schema sync, rollup to ${quoted};
      grant select on sync.migrations to ${quoted}`);
    const { code, stderr } = await runCli(["grant-reader", role], { env: { DATABASE_URL: urlAs(weak) } });
    expect(code).toBe(4);
    expect(stderr).toContain("--dry-run");
    expect(await sql`select from pg_roles where rolname = ${role}`).toHaveLength(0);
  });

  it("makes no role whose name looks like a mistake, and gives rights to one that somebody made", async () => {
    const odd = `${roleName()}"; drop`;
    made.add(odd);
    const stderr = expect.stringContaining("a new one needs a plain name");
    expect(await grant(odd)).toMatchObject({ code: 2, stdout: "", stderr });
    expect(await sql`select from pg_roles where rolname = ${odd}`).toHaveLength(0);
    await createRole(odd);
    expect(await grant(odd)).toMatchObject({ code: 0 });
    expect(await readable(odd, "report")).not.toEqual([]);
  });

  it("makes no role of a name that Postgres would cut off, or keeps for itself", async () => {
    for (const role of ["", "public", "none", "pg_reader", "x".repeat(64), "ä".repeat(32), "a\0b"]) {
      await expect(planReaderGrant(sql, role)).rejects.toMatchObject({ name: "ConfigError", exitCode: 2 });
    }
  });
});
