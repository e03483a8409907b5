import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Arrival } from "../service.ts";
import type { Service } from "../start-service.ts";
import type { PeerPostgres } from "./peer-postgres.ts";
import { endedChildrenCpu, treeMemory } from "./process-figures.ts";
import type { Program } from "./programs.ts";

/** What one command did, from its start to its exit. */
export interface Night {
  seconds: number;
  /** Seconds of CPU of the program and its children. */
  programCpu: number;
  /** Seconds of CPU of all processes of Postgres meanwhile. */
  databaseCpu: number;
  /** The most resident memory that its processes had together, in MB. */
  peakMb: number;
  requests: number;
  /** When it was started, in milliseconds since 1970, its requests as the service saw them, and what it wrote to stderr. */
  startedAtMs: number;
  arrivals: Arrival[];
  log: string;
  exitCode: number | null;
}

export interface NightOptions {
  program: Program;
  service: Service;
  postgres: PeerPostgres;
  databaseUrl: string;
  folder: string;
  /** @default an exit code other than 0 throws */
  mayFail?: boolean;
}

const LOOK_EVERY_MS = 20;

/** Runs one command of a program. Nothing else that is measured may run meanwhile. */
export async function measureNight(options: NightOptions): Promise<Night> {
  const { program, service, postgres, databaseUrl, folder, mayFail = false } = options;
  const [file, ...args] = program.command(service.url, databaseUrl, folder);
  await service.ask({ reset: true });
  const [cpuBefore, databaseBefore] = [endedChildrenCpu(), await postgres.cpu(databaseUrl)];
  const startedAt = performance.now();
  const startedAtMs = performance.timeOrigin + startedAt;
  const child = spawn(file, args, {
    cwd: folder,
    env: { ...process.env, ...program.env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let peakMb = 0;
  const watch = setInterval(() => {
    peakMb = Math.max(peakMb, treeMemory(child.pid ?? 0));
  }, LOOK_EVERY_MS);
  let log = "";
  child.stderr.on("data", (chunk) => {
    log += chunk;
  });
  const [exitCode] = (await once(child, "exit")) as [number | null];
  const seconds = (performance.now() - startedAt) / 1000;
  clearInterval(watch);
  if (exitCode !== 0 && !mayFail) throw new Error(`${program.name} exited ${exitCode}: ${log.slice(-2000)}`);
  const arrivals = (await service.ask({ arrivals: true })) as Arrival[];
  return {
    seconds,
    programCpu: endedChildrenCpu() - cpuBefore,
    databaseCpu: (await postgres.cpu(databaseUrl)) - databaseBefore,
    peakMb,
    requests: arrivals.length,
    startedAtMs,
    arrivals,
    log,
    exitCode,
  };
}
