/** The commands of `docs/database.md`, "Backups", as they stand there. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { RESOURCES } from "../../src/resources/resources.ts";
import { type Simulation, startSimulation } from "../../src/simulate/service.ts";
import { createWorld, type World } from "../../src/simulate/world.ts";
import { replaceDatabase, withSql } from "../../src/store/connection/connect.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import { findServerAccount } from "../../src/store/embedded/account.ts";
import { type RunningCli, runCli, startCli } from "../support/cli.ts";
import { freePort } from "../support/free-port.ts";
import { mirrorRows } from "../support/mirror-rows.ts";
import { SMALL } from "../support/quick-world.ts";
import * as system from "../support/system-postgres.ts";

const page = readFileSync(new URL("../../docs/database.md", import.meta.url), "utf8");
const section = page.split(/^## /m).find((part) => part.startsWith("Backups\n")) ?? "";
const blocks = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = ""]) => block);
const blockOf = (tool: string) => blocks.find((block) => block.includes(tool)) ?? "";
const password = blockOf("umask 077");
const keepChanges = /```\n(archive_mode[\s\S]*?)```/.exec(section)?.[1] ?? "";

/** With what the file of passwords has to escape. */
const PASSWORD = String.raw`back:up\1'$ `;
const SESSION = { applicationName: "docmirror test", max: 1 } as const;

/** What the docs call docmirror. */
const PROGRAM = fileURLToPath(new URL("../support/path", import.meta.url));
const RESTORED = /since run 1 of \S+Z this database was restored/;
const DAY = 86_400_000;

describe.skipIf(system.POSTGRES_BIN === null)(
  "the commands for a backup",
  { tags: ["long"], timeout: 300_000 },
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
      mkdirSync(join(backups(), "wal"), { recursive: true });
      for (const path of [backups(), join(backups(), "wal")]) giveToServer(path);
      const settings = [...inBackups(keepChanges).matchAll(/^(\w+) = '?(.*?)'?$/gm)].map(
        ([, name, value]) => [name, value],
      );
      server = await postgres.start("own", port, Object.fromEntries(settings));
      await admin((sql) => sql`create role backup login replication`);
      await admin((sql) => sql.unsafe(`alter role backup password '${PASSWORD.replaceAll("'", "''")}'`));
    });
    afterAll(async () => {
      await server?.stop();
      postgres?.remove();
    });
    beforeEach(async () => {
      folder = mkdtempSync(join(tmpdir(), "docmirror-backups-"));
      const startAt = new Date(Date.now() - 2 * DAY);
      world = createWorld({ ...SMALL, builds: 300, outputBytes: 100, startAt });
      service = await startSimulation({ world });
      const PATH = [PROGRAM, process.env.PATH].join(delimiter);
      env = { PATH, DOCMIRROR_BASE_URL: service.url, DOCMIRROR_RATE: "0" };
    });
    afterEach(async () => {
      await service?.close();
      rmSync(folder, { recursive: true, force: true });
    });

    /** The folder of the docs, which the account of the server may write. */
    const backups = () => postgres.pathOf("backups");
    const inBackups = (text: string) => text.replaceAll("/backups", backups());
    const { spawnAs } = findServerAccount();
    function giveToServer(path: string): void {
      if (spawnAs.uid !== undefined && spawnAs.gid !== undefined) chownSync(path, spawnAs.uid, spawnAs.gid);
    }
    const admin = <T>(fn: (sql: Sql) => Promise<T>) => withSql(postgres.url(port), SESSION, fn);

    /** Runs a block of the docs, and returns what it wrote. Throws where a command fails. */
    async function shell(
      block: string,
      more: Record<string, string> = {},
      asServer = false,
    ): Promise<string> {
      const script = inBackups(block.replaceAll("@host:5432/", `@127.0.0.1:${port}/`));
      // All users of the machine can read it, and what the tools are called with.
      expect(script).not.toContain(PASSWORD);
      const child = spawn("sh", ["-euc", script], {
        cwd: asServer ? backups() : folder,
        env: { ...env, ...more },
        ...(asServer && spawnAs),
      });
      let text = "";
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => (text += String(part)));
      const [code] = await once(child, "close");
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

    const inServer = (name = "docmirror") => ({
      ...env,
      DATABASE_URL: `postgres://docmirror@127.0.0.1:${port}/${name}`,
    });
    const sync = async (to: Record<string, string>) => {
      const { code, stdout } = await runCli(["sync", "--full", "--json"], { env: to });
      expect(code).toBe(0);
      return JSON.parse(stdout);
    };

    describe("of a large mirror", () => {
      beforeEach(async () => {
        await admin((sql) => sql`create database docmirror template template0 encoding 'UTF8'`);
        // With the programs of the server's own version.
        env.PATH = [PROGRAM, system.POSTGRES_BIN, process.env.PATH].join(delimiter);
        env.DOCMIRROR_DATABASE_PASSWORD = PASSWORD;
        await sync(inServer());
      });
      afterEach(async () => {
        for (const name of ["docmirror", "docmirror_restored"])
          await admin((sql) => sql`drop database if exists ${sql(name)} with (force)`);
      });

      it("give the tools a password from its variable or its file, in any characters", async () => {
        const path = join(folder, "docmirror.pgpass");
        await shell(password);
        const given = readFileSync(path, "utf8");
        expect(given).toBe(`*:*:*:*:${PASSWORD.replace(/[:\\]/g, "\\$&")}\n`);
        expect(statSync(path).mode & 0o777).toBe(0o600);
        rmSync(path);
        writeFileSync(join(folder, "secret"), `${PASSWORD}\n`);
        const { DOCMIRROR_DATABASE_PASSWORD: _, ...rest } = env;
        env = { ...rest, DOCMIRROR_DATABASE_PASSWORD_FILE: join(folder, "secret") };
        await shell(password);
        expect(readFileSync(path, "utf8")).toBe(given);
      });

      it("bring an old state back, from which the mirror goes on and says so", async () => {
        await shell(password);
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

      it("bring back any moment since the last base", async () => {
        await shell(password);
        const passwords = join(backups(), "pgpass");
        writeFileSync(passwords, readFileSync(join(folder, "docmirror.pgpass")), { mode: 0o600 });
        giveToServer(passwords);
        await shell(blockOf("pg_basebackup "), { PGPASSFILE: passwords }, true);
        world.advance(DAY);
        await sync(inServer());
        const before = await mirrorRows(url);
        const moment = await admin(async (sql) => {
          const [now] = await sql<{ text: string }[]>`select clock_timestamp()::text as text`;
          return now?.text ?? "";
        });
        world.advance(DAY);
        await sync(inServer());
        expect(await mirrorRows(url)).not.toEqual(before);
        await admin(async (sql) => {
          const [last] = await sql<{ name: string }[]>`select pg_walfile_name(pg_switch_wal()) as name`;
          const archived = () =>
            sql`select from pg_stat_archiver where last_archived_wal >= ${last?.name ?? ""}`.then(
              ({ count }) => count,
            );
          await expect.poll(archived).toBe(1);
        });

        const restoredPort = await freePort();
        // Where the server listens stands in its configuration.
        const place = join(backups(), "base", "postgresql.auto.conf");
        const text = `port = ${restoredPort}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\n`;
        writeFileSync(place, readFileSync(place, "utf8") + text);
        await shell(blockOf("pg_ctl ").replace(/(?<=recovery_target_time = ')[^']*/, moment), {}, true);
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

    it.each([
      [
        "a backup",
        blockOf("docmirror backup ").replaceAll("/backups/", ""),
        ".docmirror",
        "restored",
        RESTORED,
      ],
      ["a copy of the folder", "cp -a original copy", "original", "copy", /./],
    ])("of an embedded mirror bring it back: %s", async (_, block, original, restored, says) => {
      const inFolder = (data: string) => ({ env: { ...env, DOCMIRROR_DATA_DIR: join(folder, data) } });
      expect((await runCli(["sync"], inFolder(original))).code).toBe(0);
      await shell(block);
      world.advance(DAY);
      expect((await runCli(["sync", "--full"], inFolder(original))).code).toBe(0);
      const first = await runCli(["sync", "--full"], inFolder(restored));
      expect(first).toMatchObject({ code: 0, stderr: expect.stringMatching(says) });
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
