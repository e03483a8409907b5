/**
 * Where the workers of `workers.ts` keep their mirror: a primary and a standby that may change places, a pooler before the primary, and a role
 * whose password changes. A commit waits for the standby, so a promotion loses none.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { withSql } from "../../src/store/connection/connect.ts";
import { freePort } from "../../test/support/free-port.ts";
import { type Pooler, startPooler } from "../../test/support/pgbouncer.ts";
import { PLANTED_SECRET } from "../../test/support/planted-secret.ts";
import { replaceDatabase } from "../../test/support/replace-database.ts";
import { createSystemPostgres, type SystemServer } from "../../test/support/system-postgres.ts";

const ROLE = "mirror";
/** It gets its rights by `grant-reader`. */
export const READER = "reader";
const DATABASE = "docmirror";
const CLIENT = { applicationName: "docmirror soak", max: 1 };
const SETTINGS = { fsync: "off", max_connections: 100, wal_retrieve_retry_interval: "100ms" };

export interface MirrorServers extends AsyncDisposable {
  /** Of the mirror at the primary, as the superuser. */
  adminUrl(): string;
  /** Both servers, the first or the second before the other; the one that takes writes is wanted. The password is in `passwordFile`. */
  url(first: 0 | 1): string;
  /** At the primary, as a role that only reads. */
  readerUrl(): string;
  /** By the pooler to the primary, which knows the password. */
  pooledUrl(): string;
  readonly passwordFile: string;
  /** Changes the password and ends the role's sessions. The file and the pooler have the old one until `tellPassword`. */
  rotate(): Promise<void>;
  tellPassword(): Promise<void>;
  /** Cuts the pooler's sessions, and starts it in this mode. */
  restartPooler(mode: "session" | "transaction"): Promise<void>;
  restart(downMs: number): Promise<void>;
  /** The primary dies, the standby takes its place, and a new standby is made of it. */
  promote(downMs: number): Promise<void>;
}

/** `folder` is for the password. Call it only where there are a POSTGRES_BIN and a PGBOUNCER. */
export async function startMirrorServers(folder: string): Promise<MirrorServers> {
  const postgres = createSystemPostgres(PLANTED_SECRET);
  const ports = [await freePort(), await freePort()] as const;
  const poolerPort = await freePort();
  const servers = new Map<number, SystemServer>();
  const passwordFile = join(folder, "password");
  let primary = 0;
  let passwords = 0;
  let pooler: Pooler | null = null;
  let pooledPassword = "";

  const portOf = (nth: number) => ports[nth === 0 ? 0 : 1];
  const nameOf = (nth: number) => `server${nth}`;
  const adminUrl = (nth = primary) => replaceDatabase(postgres.url(portOf(nth)), DATABASE);
  const password = () => `${PLANTED_SECRET}${passwords}`;
  const ask = (url: string, statement: string) => withSql(url, CLIENT, (sql) => sql.unsafe(statement));

  async function start(nth: number): Promise<void> {
    servers.set(nth, await postgres.start(nameOf(nth), portOf(nth), SETTINGS));
  }

  async function setSynchronous(nth: number, names: string): Promise<void> {
    const url = postgres.url(portOf(nth));
    await ask(url, `alter system set synchronous_standby_names = '${names}'`);
    await ask(url, "select pg_reload_conf()");
  }

  async function makeStandby(): Promise<void> {
    const nth = 1 - primary;
    postgres.removeCluster(nameOf(nth));
    postgres.copy(portOf(primary), nameOf(nth));
    await start(nth);
    await setSynchronous(primary, "*");
    for (;;) {
      const [row] = await ask(
        postgres.url(portOf(primary)),
        "select from pg_stat_replication where sync_state = 'sync'",
      );
      if (row) return;
      await delay(50);
    }
  }

  async function restartPooler(mode: "session" | "transaction"): Promise<void> {
    await pooler?.[Symbol.asyncDispose]();
    pooler = null;
    const url = Object.assign(new URL(adminUrl()), { username: ROLE, password: pooledPassword });
    pooler = await startPooler(url.href, { pool_mode: mode, listen_port: String(poolerPort) });
  }

  async function tellPassword(): Promise<void> {
    writeFileSync(passwordFile, `${password()}\n`, { mode: 0o600 });
    pooledPassword = password();
    await restartPooler("session");
  }

  async function dispose(): Promise<void> {
    await pooler?.[Symbol.asyncDispose]();
    for (const server of servers.values()) await server.stop();
    postgres.remove();
  }

  try {
    postgres.init(nameOf(0));
    await start(0);
    await ask(postgres.url(portOf(0)), `create role ${ROLE} login password '${password()}'`);
    await ask(postgres.url(portOf(0)), `create role ${READER} login password '${PLANTED_SECRET}'`);
    await ask(postgres.url(portOf(0)), `create database ${DATABASE} owner ${ROLE}`);
    await makeStandby();
    await tellPassword();
  } catch (error) {
    await dispose();
    throw error;
  }
  return {
    adminUrl,
    passwordFile,
    url(first) {
      const nths = [first, 1 - first];
      const hosts = nths.map((nth) => `127.0.0.1:${portOf(nth)}`).join(",");
      return `postgres://${ROLE}@${hosts}/${DATABASE}?target_session_attrs=read-write&connect_timeout=2`;
    },
    readerUrl: () => Object.assign(new URL(adminUrl()), { username: READER, password: PLANTED_SECRET }).href,
    pooledUrl: () => `postgres://${ROLE}@127.0.0.1:${poolerPort}/${DATABASE}`,
    async rotate() {
      passwords += 1;
      await ask(adminUrl(), `alter role ${ROLE} password '${password()}'`);
      await ask(
        adminUrl(),
        `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${ROLE}'`,
      );
    },
    tellPassword,
    restartPooler,
    async restart(downMs) {
      await servers.get(primary)?.stop();
      await delay(downMs);
      await start(primary);
    },
    async promote(downMs) {
      await servers.get(primary)?.stop();
      await delay(downMs);
      primary = 1 - primary;
      // Nobody would confirm its commits before there is a new standby.
      await setSynchronous(primary, "");
      await ask(postgres.url(portOf(primary)), "select pg_promote()");
      await restartPooler("session");
      await makeStandby();
    },
    [Symbol.asyncDispose]: dispose,
  };
}
