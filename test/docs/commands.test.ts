/** Runs each command of the pages for operators, as it stands there. */
import { type SpawnOptionsWithoutStdio as SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { RESOURCES } from "../../src/resources/resources.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import { findServerAccount } from "../../src/store/embedded/account.ts";
import { type RunningCli, runCli, startCli } from "../support/cli.ts";
import { createTestDatabase, type TestDatabase, withTestSql } from "../support/database.ts";
import { freePort } from "../support/free-port.ts";
import { mirrorRows } from "../support/mirror-rows.ts";
import { SMALL } from "../support/quick-world.ts";
import { replaceDatabase } from "../support/replace-database.ts";
import { createWorld, type Simulation, startSimulation, type World } from "../support/simulation.ts";
import * as system from "../support/system-postgres.ts";
import { startWebhookReceiver, WEBHOOK_SECRET, type WebhookReceiver } from "../support/webhook-receiver.ts";

/** Roles belong to all databases of a server. */
const ROLE = `reader_${process.pid}`;

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const read = (page: string) => fs.readFileSync(join(ROOT, "docs", page), "utf8");
const operations = read("operations.md");
const database = read("database.md");
const [backupsSection = ""] = /^## Backups\n[\s\S]*?(?=^## )/m.exec(database) ?? [];
/** With what the docs call docmirror. */
const PATH = [join(ROOT, "test/support/path"), process.env.PATH].join(delimiter);

/** Commands that run until they are stopped, and what they say when they are up. */
const LASTING: Readonly<Record<string, RegExp>> = {
  "docmirror worker": /the worker is up/,
  "docmirror watch": /the watch is up/,
  "docmirror database": /^postgres:/m,
  "docmirror database --with-password": /^postgres:/m,
};

const blocks = (page: string, language: string) =>
  [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].flatMap(([, name, text = ""]) =>
    name === language ? [text] : [],
  );

/** The commands of a page: in its text, behind `$` in an example, in a line of a crontab, in a block for a shell. */
function commandsOf(page: string): string[] {
  const text = page.replace(/^```[\s\S]*?^```$/gm, "");
  const spans = [...text.matchAll(/`([^`\n]+)`/g)].map(([, span = ""]) => span);
  const lines = blocks(page, "").flatMap((block) => block.split("\n"));
  const typed = lines.flatMap((line) => /^\$ (.*)/.exec(line)?.[1] ?? []);
  const timed = lines.flatMap((line) => /^(?:[\d*/,-]+\s+){5}(.*)/.exec(line)?.[1] ?? []);
  const scripts = blocks(page, "sh").filter((block) => !block.includes("postgres://"));
  return [...spans.filter((span) => /^docmirror [a-z]/.test(span)), ...typed, ...timed, ...scripts];
}

/** What they do is shown with the commands themselves, in places of their own. */
const isOfBackups = (command: string) => /^(?:pg_dump|docmirror (?:backup|restore))/.test(command);
const commands = [
  ...new Set([...commandsOf(operations), ...commandsOf(database.replace(backupsSection, ""))]),
].filter((command) => !isOfBackups(command));

type Run = SpawnOptions & { until?: RegExp | undefined; input?: string };

/** Runs a script until it ends, or until it says that it is up and is asked to end. */
async function run(script: string, { until, input = "", ...options }: Run) {
  // `exec` lets a signal reach the program. A session of its own has no terminal to ask for passwords.
  const line = until === undefined ? script : `exec ${script}`;
  const child = spawn("sh", ["-euc", line], { ...options, detached: true });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (part: string) => {
      text += part;
      // A second signal would end it at once.
      if (until?.test(text) && !child.killed) child.kill("SIGTERM");
    });
  // What ends by itself may leave its input unread.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const [code] = (await once(child, "close")) as [number | null];
  return { code, text };
}

describe("the commands for operators", { tags: ["long"], timeout: 120_000 }, () => {
  let folder: string;
  let mirror: TestDatabase;
  let service: Simulation;
  let receiver: WebhookReceiver;
  let env: Record<string, string>;
  let build = "";

  beforeAll(async () => {
    folder = fs.mkdtempSync(join(tmpdir(), "docmirror-operations-"));
    // What the crontab calls /srv/docmirror.
    for (const name of ["bin", "dist", "migrations", "node_modules", "package.json"])
      fs.symlinkSync(join(ROOT, name), join(folder, name));
    mirror = await createTestDatabase();
    const world = createWorld({ ...SMALL, builds: 200, outputBytes: 100, startAt: new Date() });
    service = await startSimulation({ world });
    receiver = await startWebhookReceiver();
    env = {
      PATH,
      HOME: folder,
      DATABASE_URL: mirror.url,
      DOCMIRROR_BASE_URL: service.url,
      DOCMIRROR_RATE: "0",
      DOCMIRROR_HTTP_PORT: "0",
      DOCMIRROR_WEBHOOK_URL: receiver.url.href,
      DOCMIRROR_WEBHOOK_SECRET: WEBHOOK_SECRET,
    };
    expect(await shell("docmirror sync --full")).toMatchObject({ code: 0 });
    const { sql } = mirror;
    await sql.unsafe(`create role ${ROLE}`);
    const [newest] = await sql<{ id: string }[]>`select id from mirror.builds order by date desc limit 1`;
    build = newest?.id ?? "";
  }, 120_000);
  afterAll(async () => {
    await service?.close();
    await receiver?.[Symbol.asyncDispose]();
    await mirror.sql.unsafe(`drop owned by ${ROLE}; drop role ${ROLE}`);
    await mirror[Symbol.asyncDispose]();
    fs.rmSync(folder, { recursive: true, force: true });
  });

  type Shell = { until?: RegExp | undefined; more?: Record<string, string>; input?: string };
  const here = (command: string) =>
    command
      .replaceAll("/srv/docmirror", folder)
      .replaceAll("/var/log", folder)
      .replace(/build (?:ID|42)$/, `build ${build}`)
      .replace(/ ROLE$/, ` ${ROLE}`)
      .replaceAll("https://docs.example.org", service.url);
  const shell = (command: string, { until, more = {}, input = "" }: Shell = {}) =>
    run(here(command), { cwd: folder, env: { ...env, ...more }, until, input });

  it("are found in the pages", () => {
    expect(commands.length).toBeGreaterThan(25);
  });

  it.each(commands)("%s", async (command) => {
    const until = LASTING[command];
    // The embedded Postgres is used where no other is named.
    const more: Record<string, string> = command.startsWith("docmirror database")
      ? { DATABASE_URL: "", DOCMIRROR_DATA_DIR: join(folder, "data") }
      : {};
    // What needs no shell needs no process either.
    const isAlone = until === undefined && /^docmirror [\w .:/,=-]+$/.test(command);
    const { PATH: _path, HOME: _home, ...own } = { ...env, ...more };
    const { code, text } = isAlone
      ? await runCli(here(command).split(" ").slice(1), { cwd: folder, env: own }).then(
          ({ code, stdout, stderr }) => {
            return { code, text: stdout + stderr };
          },
        )
      : await shell(command, { more, until });
    expect(code, text).toBe(until ? 143 : 0);
    if (until) expect(text).toMatch(until);
  });

  it.skipIf(system.POSTGRES_BIN === null)("make a database and a role that a first sync needs", async () => {
    const [create = ""] = blocks(database, "sh");
    expect(create).toMatch(/^createuser/);
    const postgres = system.createSystemPostgres("admin");
    postgres.init("own");
    const port = await freePort();
    const server = await postgres.start("own", port);
    try {
      const login = { PGHOST: "127.0.0.1", PGPORT: String(port), PGUSER: "docmirror", PGPASSWORD: "admin" };
      const more = { ...login, PATH: [system.POSTGRES_BIN, PATH].join(delimiter) };
      // The superuser of this cluster is called docmirror, so the page's role gets another name.
      const script = create.replaceAll("docmirror", "mirror_owner").replace("host:5432", `127.0.0.1:${port}`);
      const input = "password\npassword\n";
      expect(await shell(`${script}docmirror sync`, { more, input })).toMatchObject({ code: 0 });
      const owned = replaceDatabase(postgres.url(port), "mirror_owner");
      const ask = `select usesuper as superuser, (select count(*)::int > 0 from mirror.builds) as mirrored
        from pg_user where usename = 'mirror_owner'`;
      const rows = await withTestSql(owned, (sql) => sql.unsafe(ask));
      expect([...rows]).toEqual([{ superuser: false, mirrored: true }]);
    } finally {
      await server.stop();
      postgres.remove();
    }
  });
});
const blockOf = (tool: string) => blocks(backupsSection, "sh").find((block) => block.includes(tool)) ?? "";
const password = blockOf("umask 077");
const keepChanges = /```\n(archive_mode[\s\S]*?)```/.exec(backupsSection)?.[1] ?? "";

/** With what the file of passwords has to escape. */
const PASSWORD = String.raw`back:up\1'$ `;

const RESTORED = /since run 1 of \S+Z this database was restored/;
const DAY = 86_400_000;

describe.skipIf(system.POSTGRES_BIN === null)(
  "the commands for a backup",
  { tags: ["long"], timeout: 600_000 },
  () => {
    let folder: string;
    let postgres: system.SystemPostgres;
    let server: system.SystemServer;
    let port: number;
    let url: string;
    let world: World;
    let service: Simulation;
    let env: Record<string, string>;

    beforeAll(async () => {
      postgres = system.createSystemPostgres(PASSWORD);
      postgres.init("own");
      port = await freePort();
      url = replaceDatabase(postgres.url(port), "docmirror");
      fs.mkdirSync(join(backups(), "wal"), { recursive: true });
      for (const path of [backups(), join(backups(), "wal")]) giveToServer(path);
      const settings = inBackups(keepChanges).matchAll(/^(\w+) = '?(.*?)'?$/gm);
      const set = Object.fromEntries([...settings].map((found) => found.slice(1)));
      server = await postgres.start("own", port, set);
      await admin((sql) => sql`create role backup login replication`);
      await admin((sql) => sql.unsafe(`alter role backup password '${PASSWORD.replaceAll("'", "''")}'`));
    });
    afterAll(async () => {
      await server?.stop();
      postgres?.remove();
    });
    beforeEach(async () => {
      folder = fs.mkdtempSync(join(tmpdir(), "docmirror-backups-"));
      const startAt = new Date(Date.now() - 2 * DAY);
      world = createWorld({ ...SMALL, builds: 300, outputBytes: 100, startAt });
      service = await startSimulation({ world });
      env = { PATH, DOCMIRROR_BASE_URL: service.url, DOCMIRROR_RATE: "0" };
    });
    afterEach(async () => {
      await service?.close();
      fs.rmSync(folder, { recursive: true, force: true });
    });

    /** The folder of the docs, which the account of the server may write. */
    const backups = () => postgres.pathOf("backups");
    const inBackups = (text: string) => text.replaceAll("/backups", backups());
    const { spawnAs } = findServerAccount();
    function giveToServer(path: string): void {
      if (spawnAs.uid !== undefined && spawnAs.gid !== undefined)
        fs.chownSync(path, spawnAs.uid, spawnAs.gid);
    }
    const admin = <T>(fn: (sql: Sql) => Promise<T>) => withTestSql(postgres.url(port), fn);

    /** Runs a block of the docs, and returns what it wrote. Throws where a command fails. */
    async function shell(block: string, more: Record<string, string> = {}, asServer = false) {
      const script = inBackups(block.replaceAll("@host:5432/", `@127.0.0.1:${port}/`));
      // All users of the machine can read it, and what the tools are called with.
      expect(script).not.toContain(PASSWORD);
      const cwd = asServer ? backups() : folder;
      const { code, text } = await run(script, { cwd, env: { ...env, ...more }, ...(asServer && spawnAs) });
      if (code !== 0) throw new Error(`exit code ${code}:\n${text}`);
      return text;
    }

    /** The URL that `docmirror database --with-password` prints. */
    const urlOf = async (cli: RunningCli) => (await cli.waitFor("stdout", /^postgres:\S+/))[0];

    /** The live records of two mirrors. */
    async function expectSame(oneUrl: string, otherUrl: string): Promise<void> {
      const [one, other] = await Promise.all([mirrorRows(oneUrl), mirrorRows(otherUrl)]);
      for (const table of RESOURCES.map((resource) => `${resource}s`)) {
        const live = (rows: string[] = []) => rows.filter((row) => !row.includes('"deleted": true'));
        expect({ table, rows: live(one[table]) }).toEqual({ table, rows: live(other[table]) });
      }
    }

    const address = () => `postgres://docmirror@127.0.0.1:${port}/`;
    const inServer = (name = "docmirror") => ({ ...env, DATABASE_URL: `${address()}${name}` });
    const sync = async (to: Record<string, string>) => {
      const { code, stdout } = await runCli(["sync", "--full", "--json"], { env: to });
      expect(code).toBe(0);
      return JSON.parse(stdout);
    };

    describe("of a large mirror", () => {
      beforeEach(async () => {
        await admin((sql) => sql`create database docmirror template template0 encoding 'UTF8'`);
        // With the programs of the server's own version.
        env.PATH = [system.POSTGRES_BIN, PATH].join(delimiter);
        env.DOCMIRROR_DATABASE_PASSWORD = PASSWORD;
        await sync(inServer());
      });
      afterEach(async () => {
        for (const name of ["docmirror", "docmirror_restored"])
          await admin((sql) => sql`drop database if exists ${sql(name)} with (force)`);
      });

      it("give the tools a password, and bring an old state back, from which the mirror goes on and says so", async () => {
        const path = join(folder, "docmirror.pgpass");
        await shell(password);
        const given = fs.readFileSync(path, "utf8");
        expect(given).toBe(`*:*:*:*:${PASSWORD.replace(/[:\\]/g, "\\$&")}\n`);
        expect(fs.statSync(path).mode & 0o777).toBe(0o600);
        fs.rmSync(path);
        fs.writeFileSync(join(folder, "secret"), `${PASSWORD}\n`);
        const { DOCMIRROR_DATABASE_PASSWORD: _, ...rest } = env;
        env = { ...rest, DOCMIRROR_DATABASE_PASSWORD_FILE: join(folder, "secret") };
        await shell(password);
        expect(fs.readFileSync(path, "utf8")).toBe(given);

        await shell(blockOf("pg_dump "));
        world.advance(DAY);
        const second = await sync(inServer());
        expect(second).toMatchObject({ run_id: 2, status: "succeeded" });
        expect(second.warnings ?? []).not.toContainEqual(expect.stringMatching(RESTORED));

        const written = await shell(blockOf("pg_restore "));
        expect(written).toMatch(RESTORED);
        expect(written).toMatch(/run 2, full: succeeded/);
        await expectSame(replaceDatabase(url, "docmirror_restored"), url);
        const again = await sync(inServer("docmirror_restored"));
        expect(again).toMatchObject({ run_id: 3, status: "succeeded", transitions: 0 });
        expect(again.warnings ?? []).not.toContainEqual(expect.stringMatching(RESTORED));
      });

      // Point-in-time recovery is Postgres' own; the tests before show what a restored mirror does.
      it("bring back any moment since the last base", { tags: ["exhaustive"] }, async () => {
        await shell(password);
        const passwords = join(backups(), "pgpass");
        fs.writeFileSync(passwords, fs.readFileSync(join(folder, "docmirror.pgpass")), { mode: 0o600 });
        giveToServer(passwords);
        await shell(blockOf("pg_basebackup "), { PGPASSFILE: passwords }, true);
        world.advance(DAY);
        await sync(inServer());
        const before = await mirrorRows(url);
        const [now] = await admin((sql) => sql<{ text: string }[]>`select clock_timestamp()::text as text`);
        world.advance(DAY);
        await sync(inServer());
        expect(await mirrorRows(url)).not.toEqual(before);
        await admin(async (sql) => {
          const [last] = await sql<{ name: string }[]>`select pg_walfile_name(pg_switch_wal()) as name`;
          const since = last?.name ?? "";
          const archived = () => sql`select from pg_stat_archiver where last_archived_wal >= ${since}`;
          await expect.poll(archived).toHaveLength(1);
        });

        const restoredPort = await freePort();
        // Where the server listens stands in its configuration.
        const place = join(backups(), "base", "postgresql.auto.conf");
        const text = `port = ${restoredPort}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\n`;
        fs.writeFileSync(place, fs.readFileSync(place, "utf8") + text);
        const restore = blockOf("pg_ctl ").replace(/(?<=recovery_target_time = ')[^']*/, now?.text ?? "");
        await shell(restore, {}, true);
        try {
          const restored = replaceDatabase(postgres.url(restoredPort), "docmirror");
          expect(await mirrorRows(restored)).toEqual(before);
          const after = await sync({ ...env, DATABASE_URL: restored });
          expect(after.warnings).toContainEqual(expect.stringMatching(/was restored/));
          await expectSame(restored, url);
        } finally {
          postgres.run("pg_ctl", `--pgdata=${join(backups(), "restored")}`, "--mode=immediate", "stop");
        }
      });
    });

    const own = blockOf("docmirror backup ").replaceAll("/backups/", "");
    it("of an embedded mirror bring it back", async () => {
      const [original, restored] = [".docmirror", "restored"];
      const inFolder = (data: string) => ({ env: { ...env, DOCMIRROR_DATA_DIR: join(folder, data) } });
      expect((await runCli(["sync"], inFolder(original))).code).toBe(0);
      await shell(own);
      world.advance(DAY);
      expect((await runCli(["sync", "--full"], inFolder(original))).code).toBe(0);
      const first = await runCli(["sync", "--full"], inFolder(restored));
      expect(first).toMatchObject({ code: 0, stderr: expect.stringMatching(RESTORED) });
      await using one = startCli(["database", "--with-password"], inFolder(original));
      const oneUrl = await urlOf(one);
      // A copy has the same port, and takes another where that one is taken.
      await using other = startCli(["database", "--with-password"], inFolder(restored));
      await expectSame(oneUrl, await urlOf(other));
      for (const cli of [one, other]) cli.signal("SIGTERM");
      await Promise.all([one.ended, other.ended]);
    });
  },
);
