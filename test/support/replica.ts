import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { vi } from "vitest";
import { withSql } from "../../src/db/connect.ts";
import { repeatAfterConflict } from "../../src/db/recovery-conflict.ts";
import { findServerAccount } from "../../src/embedded/account.ts";
import { freePort } from "./pgbouncer.ts";

const NEEDED = ["initdb", "postgres", "pg_basebackup"];
const DEBIAN = "/usr/lib/postgresql";

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

/** In every URL of the two servers, to see whether one is ever printed. */
export const PASSWORD = "hunter2";

export interface Replicated extends AsyncDisposable {
  primaryUrl: string;
  replicaUrl: string;
  /** Runs SQL at one of the two, and returns its rows. */
  ask(at: "primary" | "replica", statement: string): Promise<Record<string, unknown>[]>;
  stop(which: "primary" | "replica"): Promise<void>;
  /** Starts one again that was stopped. */
  start(which: "primary" | "replica"): Promise<void>;
}

/** A primary and a streaming replica of it, both empty. Call it only where there is a POSTGRES_BIN. */
export async function startReplicated(): Promise<Replicated> {
  const folder = mkdtempSync(join(tmpdir(), "docmirror-replica-"));
  // Postgres refuses to run as root.
  const { spawnAs } = findServerAccount();
  const give = (path: string) => {
    if (spawnAs.uid !== undefined && spawnAs.gid !== undefined) chownSync(path, spawnAs.uid, spawnAs.gid);
  };
  const programOf = (name: string) => join(POSTGRES_BIN ?? "", name);
  const run = (name: string, ...args: string[]) => {
    const env = { PATH: process.env.PATH, LC_ALL: "C", PGPASSWORD: PASSWORD };
    const { status, stderr } = spawnSync(programOf(name), args, {
      cwd: "/",
      encoding: "utf8",
      env,
      ...spawnAs,
    });
    if (status !== 0) throw new Error(`${name} exited ${status}: ${stderr}`);
  };
  const ports = { primary: await freePort(), replica: await freePort() };
  const urlOf = (which: "primary" | "replica") =>
    `postgres://docmirror:${PASSWORD}@127.0.0.1:${ports[which]}/postgres`;
  const servers = new Map<string, ChildProcess>();
  const killAll = () => {
    for (const server of servers.values()) server.kill("SIGKILL");
  };
  process.once("exit", killAll);

  async function start(which: "primary" | "replica"): Promise<void> {
    const settings = {
      port: ports[which],
      listen_addresses: "127.0.0.1",
      unix_socket_directories: "",
      fsync: "off",
      max_connections: 30,
      // A query that holds up the replay is cancelled soon, not after half a minute.
      max_standby_streaming_delay: "100ms",
      wal_retrieve_retry_interval: "100ms",
    };
    const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const server = spawn(programOf("postgres"), ["-D", join(folder, which), ...flags], {
      cwd: "/",
      stdio: "ignore",
      env: { LC_ALL: "C", TZ: "UTC" },
      ...spawnAs,
    });
    servers.set(which, server);
    await vi.waitFor(() => ask(which, "select"), { timeout: 20_000, interval: 50 });
  }

  async function stop(which: "primary" | "replica"): Promise<void> {
    const server = servers.get(which);
    servers.delete(which);
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, "exit");
    // An immediate shutdown: the sessions are cut, and the children end too.
    server.kill("SIGQUIT");
    await ended;
  }

  const ask = (which: "primary" | "replica", statement: string) =>
    withSql(urlOf(which), { applicationName: "docmirror test", max: 1 }, (sql) =>
      repeatAfterConflict(async () => [...(await sql.unsafe(statement))]),
    );

  async function end(): Promise<void> {
    await stop("replica");
    await stop("primary");
    process.off("exit", killAll);
    rmSync(folder, { recursive: true, force: true });
  }

  try {
    give(folder);
    const secret = join(folder, "password");
    writeFileSync(secret, PASSWORD, { mode: 0o600 });
    give(secret);
    const login = ["--username=docmirror", `--pwfile=${secret}`, "--auth=scram-sha-256"];
    run(
      "initdb",
      `--pgdata=${join(folder, "primary")}`,
      ...login,
      "--encoding=UTF8",
      "--locale=C",
      "--no-sync",
    );
    await start("primary");
    const from = [`--host=127.0.0.1`, `--port=${ports.primary}`, "--username=docmirror", "--checkpoint=fast"];
    run(
      "pg_basebackup",
      `--pgdata=${join(folder, "replica")}`,
      ...from,
      "--write-recovery-conf",
      "--no-sync",
    );
    await start("replica");
  } catch (error) {
    await end();
    throw error;
  }
  return {
    primaryUrl: urlOf("primary"),
    replicaUrl: urlOf("replica"),
    ask,
    start,
    stop,
    [Symbol.asyncDispose]: end,
  };
}
