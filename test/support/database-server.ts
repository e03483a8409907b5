import { randomBytes } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PostgreSqlContainer } from "@testcontainers/postgresql";
import { getContainerRuntimeClient } from "testcontainers";
import { silentLog } from "../../src/base/log.ts";
import { readDefinitions } from "../../src/report/definitions.ts";
import { describeDatabase } from "../../src/store/connection/connect.ts";
import { embeddedPasswordFile, openEmbedded } from "../../src/store/embedded/open-embedded.ts";
import { migrate } from "../../src/store/migrate/migrate.ts";
import { STRUCTURE, withTestSql } from "./database.ts";
import { PLANTED_SECRET } from "./planted-secret.ts";
import { replaceDatabase } from "./replace-database.ts";

/**
 * What every test worker is told. `template` is a migrated database that new ones are copied from, and `strategy` the end of `create
 * database`: copies file by file where the server can, which takes half of the time. `structure` tells the template from others.
 */
export type DatabaseServer = Record<"adminUrl" | "template" | "strategy" | "structure", string>;

/** `description` says which of the three ways was taken. */
type Server = Record<"adminUrl" | "description", string> & { stop(): Promise<void> };

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Nothing in a test database has to survive a power cut. */
const SETTINGS = { fsync: "off", synchronous_commit: "off", full_page_writes: "off", max_connections: "200" };

/**
 * A real Postgres for the tests: `testDatabaseUrl` when given, else one in Docker where Docker answers, else the
 * embedded one in a folder of its own. Stops what it started when it fails half-way.
 */
export async function startDatabaseServer(testDatabaseUrl?: string): Promise<DatabaseServer & Server> {
  const server = testDatabaseUrl
    ? {
        adminUrl: testDatabaseUrl,
        description: `TEST_DATABASE_URL ${describeDatabase(testDatabaseUrl)}`,
        stop: async () => {},
      }
    : ((await startContainer()) ?? (await startEmbedded()));
  const template = `docmirror_test_${randomBytes(4).toString("hex")}`;
  const stop = async () => {
    try {
      const names = await run(
        server.adminUrl,
        `select datname from pg_database where starts_with(datname, '${template}')`,
      );
      for (const { datname } of names)
        await run(server.adminUrl, `drop database if exists ${datname} with (force)`);
    } finally {
      await server.stop();
    }
  };
  try {
    await run(server.adminUrl, `create database ${template} template template0 encoding 'UTF8'`);
    const url = replaceDatabase(server.adminUrl, template);
    await migrate(url, readDefinitions());
    const [made] = await run(url, STRUCTURE);
    const [found] = await run(server.adminUrl, "select current_setting('server_version_num') as version");
    const strategy = Number(found?.version) >= 150_000 ? "strategy file_copy" : "";
    return { ...server, template, strategy, structure: String(made?.print), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startContainer(): Promise<Server | undefined> {
  try {
    await getContainerRuntimeClient();
  } catch {
    return undefined;
  }
  const flags = Object.entries(SETTINGS).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  try {
    const container = await new PostgreSqlContainer("postgres:18-alpine")
      .withCommand(["postgres", ...flags])
      .withEnvironment({ POSTGRES_INITDB_ARGS: "--no-sync" })
      .withPassword(PLANTED_SECRET)
      .withTmpFs({ "/var/lib/postgresql": "rw" })
      .start();
    return {
      adminUrl: container.getConnectionUri(),
      description: "Docker (postgres:18-alpine through testcontainers)",
      stop: async () => void (await container.stop()),
    };
  } catch (error) {
    // Docker without a way to a registry is as good as no Docker, but nobody should have to guess it.
    process.stderr.write(`Docker answers but did not start Postgres: ${String(error).slice(0, 200)}\n`);
    return undefined;
  }
}

async function startEmbedded(): Promise<Server> {
  const dataDir = await mkdtemp(join(tmpdir(), "docmirror-test-"));
  const remove = () => rm(dataDir, { recursive: true, force: true });
  try {
    await writeFile(embeddedPasswordFile(dataDir), PLANTED_SECRET, { mode: 0o600 });
    const server = await openEmbedded({ dataDir, log: silentLog, settings: SETTINGS });
    // Ctrl-C ends vitest without its teardown, and the server would run on, with its folder in memory.
    const leave = (signal: NodeJS.Signals) => {
      const [pid] = readFileSync(join(dataDir, "postgres/postmaster.pid"), "utf8").split("\n");
      process.kill(Number(pid), "SIGQUIT");
      rmSync(dataDir, { recursive: true, force: true });
      process.kill(process.pid, signal);
    };
    for (const signal of SIGNALS) process.once(signal, leave);
    return {
      adminUrl: server.url,
      description: "the embedded Postgres",
      stop: async () => {
        for (const signal of SIGNALS) process.off(signal, leave);
        await server.close();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

function run(url: string, statement: string): Promise<Record<string, unknown>[]> {
  return withTestSql(url, async (sql) => [...(await sql.unsafe(statement))]);
}
