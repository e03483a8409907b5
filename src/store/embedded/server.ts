import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { readFile, stat, truncate, writeFile } from "node:fs/promises";
import net from "node:net";
import { systemClock } from "../../base/clock.ts";
import { StoreError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { EmbeddedPaths } from "./binaries.ts";
import { assertRoom, type ClusterOptions, readIfThere, SERVER_ENV } from "./cluster.ts";
import { isAlive } from "./lock-file.ts";

const POLL_MS = 25;
const LOG_LIMIT_BYTES = 10e6;
const STOP_PATIENCE_MS = 60_000;
/** Below the ports that the system gives to outgoing connections, so that they rarely take ours. */
const PORTS = { first: 20_000, last: 29_999 };

/** A server that runs on our cluster. */
export interface RunningServer {
  pid: number;
  port: number;
  state: string;
  /** When it wrote that. */
  writtenAt: number;
}

/** The running server by postmaster.pid, or null: also when that pid is dead or of another program. */
export async function findServer(paths: EmbeddedPaths): Promise<RunningServer | null> {
  const server = await readPidFile(paths);
  return server !== null && isOurServer(server.pid, paths) ? server : null;
}

/**
 * Starts the server and waits until it accepts connections. It has its own session: neither Ctrl-C in the
 * terminal nor the end of this process stops it. Call it under the lock, with no server running.
 */
export async function startPostgres(
  options: Omit<ClusterOptions, "durable"> & { log: Logger; settings: Record<string, string> },
): Promise<RunningServer> {
  const { paths, binaries, account, log, signal, settings } = options;
  await assertRoom(paths.dataDir, 40);
  if ((await sizeOf(paths.log)) > LOG_LIMIT_BYTES) await truncate(paths.log, 0);
  const port = await choosePort(paths, log);
  const stale = await readPidFile(paths);
  const seen = paths.seenByServer(account, "postgres");
  const logSize = await sizeOf(paths.log);
  const given = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const logFile = openSync(paths.log, "a", 0o600);
  const child = spawn(binaries.postgres, ["-D", seen.path, "-p", String(port), ...given], {
    cwd: "/",
    detached: true,
    // A stale postmaster.pid may name a pid that another program has now. Postgres would refuse to start,
    // unless it takes that process for the one that started it. (Its check for orphaned sessions stays.)
    env: { ...SERVER_ENV, ...(stale === null ? {} : { PG_GRANDPARENT_PID: String(stale.pid) }) },
    stdio: ["ignore", logFile, logFile, ...(seen.descriptor === undefined ? [] : [seen.descriptor])],
    ...account.spawnAs,
  });
  let ended: string | undefined;
  child.once("error", (error) => {
    ended ??= error.message;
  });
  child.once("exit", (code, killedBy) => {
    ended ??= killedBy === null ? `exit code ${code}` : `killed by ${killedBy}`;
  });
  child.unref();
  closeSync(logFile);
  seen.close();
  try {
    return await awaitReady(paths, child.pid, signal, log, () => ended, stale);
  } catch (error) {
    if (signal?.aborted) child.kill("SIGINT");
    if (!(error instanceof EndedEarly)) throw error;
    await assertRoom(paths.dataDir, 40);
    const words = (await lastWords(paths.log, logSize)).replaceAll(seen.path, paths.cluster);
    throw new StoreError(`could not start the embedded Postgres (${error.message}): ${words}`, {
      hint: words.includes("invalid permissions")
        ? `run \`chmod 700 ${paths.cluster}\``
        : `read its log, ${paths.log}`,
    });
  }
}

/** Waits until the server that is starting accepts connections. Null when it ended or is stopping. */
export async function awaitRunning(paths: EmbeddedPaths, signal: AbortSignal | undefined, log: Logger) {
  const server = await findServer(paths);
  if (server === null) return null;
  if (server.state === "stopping") {
    await awaitExit(paths, server.pid, signal);
    return null;
  }
  try {
    const ended = () => (isOurServer(server.pid, paths) ? undefined : "it ended");
    return await awaitReady(paths, server.pid, signal, log, ended);
  } catch (error) {
    if (error instanceof EndedEarly) return null;
    throw error;
  }
}

/** Fast shutdown: ends the sessions, keeps what is committed. Throws StoreError after a minute. */
export async function stopServer(paths: EmbeddedPaths, server: RunningServer): Promise<void> {
  try {
    process.kill(server.pid, "SIGINT");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
  await awaitExit(paths, server.pid, undefined);
}

class EndedEarly extends Error {
  override name = "EndedEarly";
}

async function awaitReady(
  paths: EmbeddedPaths,
  pid: number | undefined,
  signal: AbortSignal | undefined,
  log: Logger,
  ended: () => string | undefined,
  stale: RunningServer | null = null,
): Promise<RunningServer> {
  const startedAt = Date.now();
  let isReported = false;
  for (;;) {
    const how = ended();
    if (how !== undefined) throw new EndedEarly(how);
    const server = await readPidFile(paths);
    // In a new container a process may have the pid that the file of a killed one names.
    if (server !== null && server.pid === pid && server.writtenAt !== stale?.writtenAt) {
      if (server.state === "ready") return server;
      if (server.state === "stopping") throw new EndedEarly("it is stopping");
    }
    if (!isReported && Date.now() - startedAt > 5000) {
      // After a crash it first replays its log, which may take long.
      log.info({ log_file: paths.log }, "the embedded Postgres is still starting");
      isReported = true;
    }
    await systemClock.sleep(POLL_MS, signal);
  }
}

export async function awaitExit(paths: EmbeddedPaths, pid: number, signal: AbortSignal | undefined) {
  const giveUpAt = Date.now() + STOP_PATIENCE_MS;
  while (isOurServer(pid, paths)) {
    if (Date.now() > giveUpAt) {
      throw new StoreError(`could not stop the embedded Postgres: process ${pid} still runs after a minute`, {
        hint: `read its log, ${paths.log}`,
      });
    }
    await systemClock.sleep(POLL_MS, signal);
  }
}

async function readPidFile(paths: EmbeddedPaths): Promise<RunningServer | null> {
  const file = `${paths.cluster}/postmaster.pid`;
  const { mtimeMs: writtenAt } = await stat(file).catch(() => ({ mtimeMs: 0 }));
  const lines = (await readIfThere(file)).split("\n");
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return null;
  return { pid, port: Number(lines[3]), state: lines[7]?.trim() ?? "starting", writtenAt };
}

/** True where that process is the server of this cluster. Its working directory is that of the cluster. */
function isOurServer(pid: number, paths: EmbeddedPaths): boolean {
  if (!isAlive(pid)) return false;
  if (process.platform !== "linux") return true;
  try {
    // A zombie has ended, but its parent has not collected it yet.
    if (/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))) return false;
    const folder = readlinkSync(`/proc/${pid}/cwd`);
    // At its very start it is not in that folder yet, but already has the name of the program.
    if (folder === realpathSync(paths.cluster)) return true;
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    return folder === "/" && (command[0] ?? "").endsWith("/postgres") && command[1] === "-D";
  } catch (error) {
    // We may not inspect the process, so it is not ours; or it has just ended.
    return !["EACCES", "EPERM", "ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "");
  }
}

async function choosePort(paths: EmbeddedPaths, log: Logger): Promise<number> {
  const kept = Number((await readFile(paths.port, "utf8").catch(() => "")).trim());
  if (kept > 0 && kept < 65_536) {
    if (await isFree(kept)) return kept;
    log.warn(
      { port: kept },
      "another program uses the port of the embedded Postgres; it moves to a new port",
    );
  }
  for (let attempt = 0; attempt < 200; attempt++) {
    const port = PORTS.first + Math.floor(Math.random() * (PORTS.last - PORTS.first + 1));
    if (port === kept || !(await isFree(port))) continue;
    await writeFile(paths.port, `${port}\n`);
    return port;
  }
  throw new StoreError(
    `could not find a free port for the embedded Postgres between ${PORTS.first} and ${PORTS.last}`,
    { hint: `write a free port into ${paths.port}` },
  );
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = net.createServer();
    probe.once("error", () => resolve(false));
    probe.listen({ port, host: "127.0.0.1", exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => ({ size: 0 }))).size;
}

async function lastWords(file: string, from: number): Promise<string> {
  const said = (await readFile(file)).subarray(from).subarray(-2000).toString("utf8");
  return said.trim().split("\n").slice(-3).join(" | ") || "it printed nothing";
}
