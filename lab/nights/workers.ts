/** Real worker processes in virtual time, which may be killed, frozen and started again under their names. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
const VIRTUAL_TIME = fileURLToPath(new URL("virtual-time.ts", import.meta.url));

// By its path, since the workers' folder has no node_modules.
const TSX = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;

export interface WorkerPlace {
  name: string;
  port: number;
}

export interface Workers {
  readonly places: readonly WorkerPlace[];
  start(name: string): void;
  pidOf(name: string): number | undefined;
  nameOf(pid: number): string | undefined;
  /** Does nothing when that worker does not run. */
  signal(name: string, signal: NodeJS.Signals): void;
  /** Waits until a worker has ended, and returns how. */
  ended(name: string): Promise<string>;
  /** Ends of workers that nobody asked for. */
  readonly surprises: string[];
  close(): Promise<void>;
}

export function createWorkers(
  places: readonly WorkerPlace[],
  { env, folder }: { env: Record<string, string>; folder: string },
): Workers {
  const running = new Map<string, { child: ChildProcess; asked: boolean }>();
  const surprises: string[] = [];

  function start(name: string): void {
    const place = places.find((one) => one.name === name);
    if (!place || running.has(name)) return;
    const child = spawn(
      process.execPath,
      ["--import", TSX, "--import", VIRTUAL_TIME, MAIN, "worker", "--http-port", String(place.port)],
      { env: { ...process.env, ...env }, cwd: folder, stdio: ["ignore", "ignore", "pipe"] },
    );
    const log = createWriteStream(join(folder, `${name}.log`), { flags: "a" });
    child.stderr?.pipe(log);
    const entry = { child, asked: false };
    running.set(name, entry);
    child.once("exit", (code, signal) => {
      running.delete(name);
      if (!entry.asked) surprises.push(`worker ${name} ended by itself with ${signal ?? code}`);
    });
  }

  return {
    places,
    surprises,
    start,
    pidOf: (name) => running.get(name)?.child.pid,
    nameOf: (pid) => [...running].find(([, { child }]) => child.pid === pid)?.[0],
    signal(name, signal) {
      const entry = running.get(name);
      if (!entry) return;
      if (signal === "SIGKILL" || signal === "SIGTERM") entry.asked = true;
      entry.child.kill(signal);
    },
    async ended(name) {
      const entry = running.get(name);
      if (!entry) return "not running";
      const [code, signal] = (await once(entry.child, "exit")) as [number | null, string | null];
      return String(signal ?? code);
    },
    async close() {
      for (const entry of running.values()) {
        entry.asked = true;
        entry.child.kill("SIGCONT");
        entry.child.kill("SIGKILL");
      }
      await Promise.all(
        [...running.values()].map(({ child }) => child.exitCode ?? child.signalCode ?? once(child, "exit")),
      );
    },
  };
}
