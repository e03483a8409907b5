import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { isRecoveryConflict } from "../../src/store/connection/store-errors.ts";
import { findServerAccount } from "../../src/store/embedded/account.ts";
import { freePort } from "./free-port.ts";
import { PLANTED_SECRET } from "./planted-secret.ts";

const NEEDED = ["initdb", "postgres", "pg_basebackup"];
const DEBIAN = "/usr/lib/postgresql";
const UP_WITHIN_MS = 60_000;

/**
 * The folder of a whole Postgres: `POSTGRES_BIN`, else one of PATH or of Debian's packages; null where there is
 * none. The embedded one has no pg_basebackup.
 */
export const POSTGRES_BIN =
  [
    process.env.POSTGRES_BIN,
    ...(process.env.PATH ?? "").split(delimiter),
    ...(existsSync(DEBIAN) ? readdirSync(DEBIAN).toSorted().reverse() : []).map((version) =>
      join(DEBIAN, version, "bin"),
    ),
  ].find((folder) => folder && NEEDED.every((name) => existsSync(join(folder, name)))) ?? null;

export type SystemPostgres = ReturnType<typeof createSystemPostgres>;
export type SystemServer = Awaited<ReturnType<SystemPostgres["start"]>>;

/**
 * Clusters in a folder of their own, run by the account that may run them, whose superuser `docmirror` has this password. Call
 * it only where there is a POSTGRES_BIN.
 */
export function createSystemPostgres(password: string) {
  const folder = mkdtempSync(join(tmpdir(), "docmirror-postgres-"));
  // Postgres refuses to run as root.
  const { spawnAs } = findServerAccount();
  const give = (path: string) => {
    if (spawnAs.uid !== undefined && spawnAs.gid !== undefined) chownSync(path, spawnAs.uid, spawnAs.gid);
  };
  give(folder);
  const programOf = (name: string) => join(POSTGRES_BIN ?? "", name);
  const pathOf = (cluster: string) => join(folder, cluster);
  const url = (port: number) =>
    `postgres://docmirror:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`;

  function run(program: string, ...args: string[]): void {
    const env = { PATH: process.env.PATH, LC_ALL: "C", PGPASSWORD: password };
    const { status, stderr } = spawnSync(programOf(program), args, {
      cwd: "/",
      encoding: "utf8",
      env,
      ...spawnAs,
    });
    if (status !== 0) throw new Error(`${program} exited ${status}: ${stderr}`);
  }

  return {
    run,
    pathOf,
    url,
    init(cluster: string): void {
      const secret = pathOf("password");
      writeFileSync(secret, password, { mode: 0o600 });
      give(secret);
      const login = ["--username=docmirror", `--pwfile=${secret}`, "--auth=scram-sha-256"];
      run("initdb", `--pgdata=${pathOf(cluster)}`, ...login, "--encoding=UTF8", "--locale=C", "--no-sync");
    },
    /** Makes a cluster that follows the server at this port, once it is started. */
    copy(fromPort: number, cluster: string): void {
      const from = ["--host=127.0.0.1", `--port=${fromPort}`, "--username=docmirror", "--checkpoint=fast"];
      run("pg_basebackup", ...from, `--pgdata=${pathOf(cluster)}`, "--write-recovery-conf", "--no-sync");
    },
    /** Starts a cluster, and waits until it answers. */
    async start(cluster: string, port: number, settings: Record<string, string | number> = {}) {
      const all = { port, listen_addresses: "127.0.0.1", unix_socket_directories: "", ...settings };
      const flags = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
      const server = spawn(programOf("postgres"), ["-D", pathOf(cluster), ...flags], {
        cwd: "/",
        stdio: "ignore",
        env: { LC_ALL: "C", TZ: "UTC" },
        ...spawnAs,
      });
      const kill = () => void server.kill("SIGKILL");
      process.once("exit", kill);
      server.once("exit", () => process.off("exit", kill));
      await untilUp(url(port));
      const pid = server.pid ?? 0;
      let frozen: number[] = [];
      return {
        pid,
        /** Stops all its processes for a moment: its connections stay, and are silent. `stop` ends it. */
        freeze(): void {
          // The parent first, so that no child comes after they were counted.
          server.kill("SIGSTOP");
          const children = spawnSync("pgrep", ["-P", String(pid)], { encoding: "utf8" }).stdout;
          frozen = [pid, ...children.split("\n").filter(Boolean).map(Number)];
          for (const one of frozen) signalIfThere(one, "SIGSTOP");
        },
        /** An immediate shutdown: the sessions are cut, and the children end too. May be called twice. */
        async stop(): Promise<void> {
          if (server.exitCode !== null || server.signalCode !== null) return;
          const ended = once(server, "exit");
          server.kill("SIGQUIT");
          for (const one of frozen) signalIfThere(one, "SIGCONT");
          await ended;
        },
      };
    },
    /** Its server must have been stopped. */
    removeCluster: (cluster: string) => rmSync(pathOf(cluster), { recursive: true, force: true }),
    /** Removes everything. The servers must have been stopped. */
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A session's process may end at any moment. */
function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

async function untilUp(url: string): Promise<void> {
  const until = performance.now() + UP_WITHIN_MS;
  for (;;) {
    try {
      await withTestSql(url, (sql) => sql`select`);
      return;
    } catch (error) {
      if (performance.now() > until) throw error;
      await systemClock.sleep(50);
    }
  }
}

type Which = "primary" | "replica";

/** In every URL of the two servers. */
export { PLANTED_SECRET as PASSWORD } from "./planted-secret.ts";

import { withTestSql } from "./database.ts";

const SETTINGS = {
  fsync: "off",
  max_connections: 30,
  // A query that holds up the replay is cancelled soon, not after half a minute.
  max_standby_streaming_delay: "100ms",
  wal_retrieve_retry_interval: "100ms",
};

export type Replicated = Awaited<ReturnType<typeof startReplicated>>;

/** A primary and a streaming replica of it, both empty. Call it only where there is a POSTGRES_BIN. */
export async function startReplicated() {
  const postgres = createSystemPostgres(PLANTED_SECRET);
  const ports = { primary: await freePort(), replica: await freePort() };
  const servers = new Map<Which, SystemServer>();

  async function start(which: Which): Promise<void> {
    servers.set(which, await postgres.start(which, ports[which], SETTINGS));
  }

  async function stop(which: Which): Promise<void> {
    await servers.get(which)?.stop();
  }

  async function end(): Promise<void> {
    await stop("replica");
    await stop("primary");
    postgres.remove();
  }

  try {
    postgres.init("primary");
    await start("primary");
    postgres.copy(ports.primary, "replica");
    await start("replica");
  } catch (error) {
    await end();
    throw error;
  }
  return {
    primaryUrl: postgres.url(ports.primary),
    replicaUrl: postgres.url(ports.replica),
    /** Runs SQL at one of the two, and returns its rows. */
    ask: (which: Which, statement: string): Promise<Record<string, unknown>[]> =>
      withTestSql(postgres.url(ports[which]), (sql) =>
        untilNoConflict(async () => [...(await sql.unsafe(statement))]),
      ),
    start,
    stop,
    /** Its connections stay, and are silent, until it is stopped. */
    freeze: (which: Which) => servers.get(which)?.freeze(),
    [Symbol.asyncDispose]: end,
  };
}

/** A replica that catches up after a pause cancels a query at once, and may do so several times. */
async function untilNoConflict<T>(read: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await read();
    } catch (error) {
      if (!isRecoveryConflict(error) || tries === 20) throw error;
    }
  }
}
