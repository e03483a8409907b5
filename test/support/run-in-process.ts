import fs from "node:fs";
import { Writable } from "node:stream";
import type { CliResult } from "./cli.ts";

/** What a command line is started with: where, and with which environment. */
export interface Surroundings {
  cwd: string;
  env: Record<string, string | undefined>;
}

/** A running command has the process for itself. */
let isTaken = false;
export const isProcessTaken = (): boolean => isTaken;

const EVENTS = ["uncaughtException", "SIGINT", "SIGTERM", "exit"] as const;

/**
 * Runs one command line in this process, as `bin/docmirror.js` does in its own, which takes a tenth of the time of a new one. While it runs,
 * it has the process: environment, folder, streams, exit code and exit are its own, and are put back at its end.
 * What a process alone can show needs one: signals, closed pipes, the end by itself when nothing is left to do.
 */
export async function runInProcess(args: readonly string[], { cwd, env }: Surroundings): Promise<CliResult> {
  if (isTaken) throw new Error("another command has the process");
  isTaken = true;
  const { runProgram } = await import("../../src/cli/run-program.ts");
  const text = { stdout: "", stderr: "" };
  const before = {
    cwd: process.cwd(),
    env: { ...process.env },
    exit: process.exit,
    exitCode: process.exitCode,
  };
  const streams = (["stdout", "stderr"] as const).map(
    (name) => [name, Object.getOwnPropertyDescriptor(process, name) as PropertyDescriptor] as const,
  );
  const listeners = EVENTS.map((event) => [event, new Set(process.rawListeners(event))] as const);
  const { writeSync } = fs;
  try {
    process.chdir(cwd);
    setEnvironment(env);
    process.exitCode = undefined;
    for (const [name, descriptor] of streams)
      Object.defineProperty(process, name, { ...without(descriptor), value: collect(name, text) });
    // The log writes to the file descriptor itself.
    fs.writeSync = ((fd: number, chunk: string | Uint8Array, ...rest: never[]) => {
      if (fd !== 2) return writeSync(fd, chunk as string, ...rest);
      text.stderr += String(chunk);
      return Buffer.byteLength(chunk);
    }) as typeof fs.writeSync;
    const code = await new Promise<number>((resolve, reject) => {
      process.exit = ((given?: number) =>
        resolve(given ?? Number(process.exitCode ?? 0))) as typeof process.exit;
      runProgram(args).then(() => resolve(Number(process.exitCode ?? 0)), reject);
    });
    return { code, signal: null, ...text };
  } finally {
    fs.writeSync = writeSync;
    process.exit = before.exit;
    process.exitCode = before.exitCode;
    for (const [name, descriptor] of streams) Object.defineProperty(process, name, descriptor);
    for (const [event, known] of listeners)
      for (const listener of process.rawListeners(event))
        if (!known.has(listener)) process.off(event, listener as () => void);
    setEnvironment(before.env);
    process.chdir(before.cwd);
    isTaken = false;
  }
}

function without({ configurable, enumerable }: PropertyDescriptor): PropertyDescriptor {
  return { configurable: configurable ?? true, enumerable: enumerable ?? true, writable: true };
}

function setEnvironment(env: Record<string, string | undefined>): void {
  for (const name of Object.keys(process.env)) if (env[name] === undefined) delete process.env[name];
  for (const [name, value] of Object.entries(env)) if (process.env[name] !== value) process.env[name] = value;
}

function collect(name: "stdout" | "stderr", text: { stdout: string; stderr: string }): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      text[name] += chunk.toString();
      done();
    },
  });
}
