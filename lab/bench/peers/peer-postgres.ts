import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog } from "../../../src/base/log.ts";
import { connect, withSql } from "../../../src/store/connection/connect.ts";
import { openEmbedded } from "../../../src/store/embedded/open-embedded.ts";
import { freePort } from "../../../test/support/free-port.ts";
import { replaceDatabase } from "../../../test/support/replace-database.ts";
import { createSystemPostgres, POSTGRES_BIN } from "../../../test/support/system-postgres.ts";
import { treeCpu } from "./process-figures.ts";

/** The one Postgres of all programs, as it comes: no setting is changed. */
export interface PeerPostgres {
  description: string;
  /** Makes an empty database, and gives its URL. */
  createDatabase(): Promise<string>;
  /** Makes a database that is as another one is now, and gives its URL. Nobody may be connected to that one. */
  copyDatabase(url: string): Promise<string>;
  dropDatabase(url: string): Promise<void>;
  /** Seconds of CPU of all its processes since the start. Waits until nobody else is connected to the database. */
  cpu(url: string): Promise<number>;
  stop(): Promise<void>;
}

const AS_BENCH = { applicationName: "bench", max: 1 };

export async function startPeerPostgres(): Promise<PeerPostgres> {
  const { url: adminUrl, pid, stop } = await (POSTGRES_BIN === null ? startEmbedded() : startSystem());
  const admin = connect(adminUrl, AS_BENCH);
  const [server] = await admin<{ version: string }[]>`select current_setting('server_version') as version`;
  let databases = 0;
  async function createDatabase(template: string): Promise<string> {
    const name = `peer_${databases++}`;
    await admin.unsafe(`create database ${name} template ${template}`);
    return replaceDatabase(adminUrl, name);
  }
  return {
    description: `${POSTGRES_BIN === null ? "the embedded " : ""}Postgres ${server?.version.split(" ")[0]}`,
    createDatabase: () => createDatabase("template1"),
    copyDatabase: (url) => createDatabase(new URL(url).pathname.slice(1)),
    async dropDatabase(url) {
      await admin.unsafe(`drop database ${new URL(url).pathname.slice(1)} with (force)`);
    },
    async cpu(url) {
      const name = new URL(url).pathname.slice(1);
      await untilAlone(async () => {
        const [others] = await admin<{ sessions: number }[]>`
          select count(*) as sessions from pg_stat_activity where datname = ${name} and backend_type = 'client backend'`;
        return others?.sessions === 0;
      });
      return treeCpu(pid);
    },
    async stop() {
      await admin.end({ timeout: 1 });
      await stop();
    },
  };
}

interface Started {
  url: string;
  /** Of the process that all others of the server come from. */
  pid: number;
  stop(): Promise<void>;
}

async function startSystem(): Promise<Started> {
  const postgres = createSystemPostgres("bench");
  postgres.init("cluster");
  const port = await freePort();
  const { pid, stop } = await postgres.start("cluster", port);
  return {
    url: postgres.url(port),
    pid,
    async stop() {
      await stop();
      postgres.remove();
    },
  };
}

async function startEmbedded(): Promise<Started> {
  const dataDir = await mkdtemp(join(tmpdir(), "docmirror-peers-"));
  const { url, close } = await openEmbedded({ dataDir, log: silentLog });
  const [pid] = (await readFile(join(dataDir, "postgres", "postmaster.pid"), "utf8")).split("\n");
  return {
    url,
    pid: Number(pid),
    async stop() {
      await close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function untilAlone(isAlone: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if (await isAlone()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Rows that were inserted, updated or deleted in the user's own tables of a database, since it was made. */
export function rowsWritten(url: string): Promise<number> {
  return withSql(url, AS_BENCH, async (sql) => {
    const [sum] = await sql<{ rows: number }[]>`
      select coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)::float8 as rows from pg_stat_user_tables`;
    return sum?.rows ?? 0;
  });
}

/** The ids in a table of a database. */
export function idsIn(url: string, query: string): Promise<Set<string>> {
  return withSql(url, AS_BENCH, async (sql) => {
    return new Set((await sql.unsafe<{ id: string }[]>(query)).map(({ id }) => id));
  });
}
