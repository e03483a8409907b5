/** The commands of `docs/database.md`, "Backups", as they stand there. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { RESOURCES } from "../../src/resources/resources.ts";
import { type Simulation, startSimulation } from "../../src/simulate/service.ts";
import { createWorld, type World } from "../../src/simulate/world.ts";
import { type RunningCli, runCli, startCli } from "../support/cli.ts";
import { freePort } from "../support/free-port.ts";
import { mirrorRows } from "../support/mirror-rows.ts";
import { SMALL } from "../support/quick-world.ts";
import {
  createSystemPostgres,
  POSTGRES_BIN,
  type SystemPostgres,
  type SystemServer,
} from "../support/system-postgres.ts";

const page = readFileSync(new URL("../../docs/database.md", import.meta.url), "utf8");
const section = page.split(/^## /m).find((part) => part.startsWith("Backups\n")) ?? "";
const blocks = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = ""]) => block);
const [own = "", dump = "", restore = ""] = ["docmirror backup ", "pg_dump ", "pg_restore "].map((tool) =>
  blocks.find((block) => block.includes(tool)),
);

/** The newest dump that the machine's own program can take. */
const dumpVersion = Number(/ (\d+)/.exec(String(spawnSync("pg_dump", ["--version"]).stdout ?? ""))?.[1] ?? 0);

const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
const TSX = fileURLToPath(new URL("../../node_modules/tsx/dist/cli.mjs", import.meta.url));
const RESTORED = /since run 1 of \S+Z this database was restored/;
const DAY = 86_400_000;

describe.skipIf(POSTGRES_BIN === null)(
  "the commands for a backup",
  { tags: ["long"], timeout: 300_000 },
  () => {
    let folder: string;
    let postgres: SystemPostgres;
    let server: SystemServer;
    let serverUrl: string;
    let world: World;
    let service: Simulation;
    let env: Record<string, string>;

    beforeAll(async () => {
      postgres = createSystemPostgres("backup");
      postgres.init("own");
      const port = await freePort();
      server = await postgres.start("own", port);
      serverUrl = postgres.url(port).replace(/\/postgres$/, "");
    });
    afterAll(async () => {
      await server?.stop();
      postgres?.remove();
    });
    beforeEach(async () => {
      folder = mkdtempSync(join(tmpdir(), "docmirror-backups-"));
      world = createWorld({
        ...SMALL,
        builds: 300,
        outputBytes: 100,
        startAt: new Date(Date.now() - 2 * DAY),
      });
      service = await startSimulation({ world });
      // What the docs call docmirror.
      const program = join(folder, "docmirror");
      writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${TSX}" "${MAIN}" "$@"\n`);
      chmodSync(program, 0o755);
      env = {
        PATH: [folder, process.env.PATH].join(delimiter),
        DOCMIRROR_BASE_URL: service.url,
        DOCMIRROR_RATE: "0",
      };
    });
    afterEach(async () => {
      await service?.close();
      rmSync(folder, { recursive: true, force: true });
    });

    /** With the programs of the server's own version. */
    const ownPath = () => [folder, POSTGRES_BIN, process.env.PATH].join(delimiter);

    /** Runs a block of the docs, and returns what it wrote. Throws where a command fails. */
    async function shell(block: string, more: Record<string, string> = {}): Promise<string> {
      const script = block.replaceAll("postgres://docmirror:password@host:5432", serverUrl);
      const child = spawn("sh", ["-euc", script], { cwd: folder, env: { ...env, ...more } });
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

    it("bring an old state back, from which the mirror goes on and says so", async () => {
      env.PATH = ownPath();
      await shell(
        `createdb --maintenance-db="${serverUrl}/postgres" --encoding=UTF8 --template=template0 original`,
      );
      const original = { ...env, DATABASE_URL: `${serverUrl}/original` };
      const sync = (url: string) =>
        runCli(["sync", "--full", "--json"], { env: { ...env, DATABASE_URL: url } });
      expect((await sync(original.DATABASE_URL)).code).toBe(0);
      await shell(dump, original);
      world.advance(DAY);
      const second = JSON.parse((await sync(original.DATABASE_URL)).stdout);
      expect(second).toMatchObject({ run_id: 2, status: "succeeded" });
      expect(second.warnings ?? []).not.toContainEqual(expect.stringMatching(RESTORED));

      const written = await shell(restore, original);
      expect(written).toMatch(RESTORED);
      expect(written).toMatch(/run 2, full: succeeded/);
      const restored = `${serverUrl}/docmirror_restored`;
      await expectSame(restored, original.DATABASE_URL);
      const again = JSON.parse((await sync(restored)).stdout);
      expect(again).toMatchObject({ run_id: 3, status: "succeeded", transitions: 0 });
      expect(again.warnings ?? []).not.toContainEqual(expect.stringMatching(RESTORED));
    });

    it("of docmirror itself bring an embedded mirror back, without its server's tools", async () => {
      const inFolder = (data: string) => ({ env: { ...env, DOCMIRROR_DATA_DIR: join(folder, data) } });
      expect((await runCli(["sync"], inFolder(".docmirror"))).code).toBe(0);
      await shell(own.replaceAll("/backups/", ""));
      world.advance(DAY);
      expect((await runCli(["sync", "--full"], inFolder(".docmirror"))).code).toBe(0);
      const first = await runCli(["sync", "--full"], inFolder("restored"));
      expect(first).toMatchObject({ code: 0, stderr: expect.stringMatching(RESTORED) });
      await using one = startCli(["database", "--with-password"], inFolder(".docmirror"));
      await using other = startCli(["database", "--with-password"], inFolder("restored"));
      await expectSame(await urlOf(one), await urlOf(other));
      for (const cli of [one, other]) cli.signal("SIGTERM");
      await Promise.all([one.ended, other.ended]);
    });

    it("that copy the folder of the embedded Postgres bring it back too", async () => {
      const inFolder = (data: string) => ({ env: { ...env, DOCMIRROR_DATA_DIR: join(folder, data) } });
      expect((await runCli(["sync"], inFolder("original"))).code).toBe(0);
      await shell("cp -a original copy");
      world.advance(DAY);
      expect((await runCli(["sync", "--full"], inFolder("original"))).code).toBe(0);
      expect((await runCli(["sync", "--full"], inFolder("copy"))).code).toBe(0);
      await using one = startCli(["database", "--with-password"], inFolder("original"));
      const oneUrl = await urlOf(one);
      // The copy has the same port, and takes another where that one is taken.
      await using other = startCli(["database", "--with-password"], inFolder("copy"));
      const otherUrl = await urlOf(other);
      await expectSame(oneUrl, otherUrl);
      for (const cli of [one, other]) cli.signal("SIGTERM");
      await Promise.all([one.ended, other.ended]);
    });

    it.skipIf(dumpVersion < 18)("do the same between embedded ones", async () => {
      const inFolder = (data: string) => ({ env: { ...env, DOCMIRROR_DATA_DIR: join(folder, data) } });
      expect((await runCli(["sync"], inFolder("original"))).code).toBe(0);
      await using original = startCli(["database", "--with-password"], inFolder("original"));
      await using restored = startCli(["database", "--with-password"], inFolder("restored"));
      await shell(dump, { DATABASE_URL: await urlOf(original) });
      world.advance(DAY);
      expect((await runCli(["sync", "--full"], inFolder("original"))).code).toBe(0);
      const lines = restore.split("\n").filter((line) => !/^(createdb|export) /.test(line));
      expect(await shell(lines.join("\n"), { DATABASE_URL: await urlOf(restored) })).toMatch(RESTORED);
      await expectSame(await urlOf(restored), await urlOf(original));
    });
  },
);
