import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { findBuiltProgram } from "./built-program.ts";
import { assertNoSecret } from "./planted-secret.ts";
import { isProcessTaken, runInProcess } from "./run-in-process.ts";

export interface CliOptions {
  /** Beside a clean environment: no setting of the surroundings gets in. */
  env?: Record<string, string>;
  /** @default a new empty folder, so that no `.env` is found */
  cwd?: string;
  /** Another script than the program. */
  script?: URL;
  /** What is printed on purpose, such as by `docmirror database --with-password`. @default false: a planted secret is a fault */
  showsSecret?: true;
  /**
   * Runs it in a terminal of so many columns, where `hasTerminals`: all that it writes comes as stdout then,
   * with the terminal's newlines.
   */
  terminalColumns?: number;
  /** Where all that it prints goes instead, such as /dev/full. */
  stdoutFile?: string;
}

export interface CliResult {
  /** Null when a signal ended the process. */
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface RunningCli {
  readonly child: ChildProcess;
  /** What came so far. */
  stdout(): string;
  stderr(): string;
  /** Resolves with the first match in what came and comes; rejects when the process ends without it. */
  waitFor(stream: "stdout" | "stderr", pattern: RegExp): Promise<RegExpMatchArray>;
  signal(signal: NodeJS.Signals): void;
  /** Resolves when the process has ended and its streams are read. */
  readonly ended: Promise<CliResult>;
  /** Ends it at once if it still runs. Call it in a test's `finally`. */
  [Symbol.asyncDispose](): Promise<void>;
}

const MAIN = new URL("../../src/cli/main.ts", import.meta.url);
const ON_PATH = fileURLToPath(new URL("path", import.meta.url));
// By its path, since the child's working directory has no node_modules.
const TSX = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
const OURS =
  /^(?:DOCMIRROR_|DATABASE_URL|NO_COLOR$|FORCE_COLOR$|CI$|NODE_OPTIONS$|VITEST|(?:HTTPS?|NO)_PROXY$|(?:https?|no)_proxy$)/;

const running = new Set<ChildProcess>();

/** A test that ran out of time never comes to its end: what it started must not outlive the test's process. */
function killTheRest(): void {
  for (const child of running) child.kill("SIGKILL");
}

/**
 * Starts the program in a process of its own: the built one, which starts in half of the time, where the build is no older than its
 * source.
 */
export function startCli(args: readonly string[], options: CliOptions = {}): RunningCli {
  const folder = options.cwd === undefined ? newFolder() : undefined;
  const built = options.script === undefined ? findBuiltProgram() : null;
  const program = built ? [built] : ["--import", TSX, fileURLToPath(options.script ?? MAIN)];
  const command = [process.execPath, ...program, ...args];
  const [file = "", ...rest] = intoFile(inTerminal(command, options.terminalColumns), options.stdoutFile);
  const child = spawn(file, rest, {
    cwd: options.cwd ?? folder,
    env: environment(options),
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (running.size === 0) process.once("exit", killTheRest);
  running.add(child);
  const text = { stdout: "", stderr: "" };
  const waiting = new Set<() => void>();
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (chunk: string) => {
      text[name] += chunk;
      for (const look of waiting) look();
    });
  }
  const ended = new Promise<CliResult>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      running.delete(child);
      if (running.size === 0) process.off("exit", killTheRest);
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
      try {
        resolve(checked({ code, signal, ...text }, args, options));
      } catch (error) {
        reject(error);
      }
    });
  });
  return {
    child,
    stdout: () => text.stdout,
    stderr: () => text.stderr,
    ended,
    signal: (signal) => void child.kill(signal),
    waitFor(stream, pattern) {
      return new Promise((resolve, reject) => {
        const look = () => {
          const match = text[stream].match(pattern);
          if (match === null) return false;
          waiting.delete(look);
          resolve(match);
          return true;
        };
        if (look()) return;
        waiting.add(look);
        ended.then(() => {
          if (!look())
            reject(new Error(`ended without ${pattern} on ${stream}:\n${text.stdout}\n${text.stderr}`));
        }, reject);
      });
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
      await ended;
    },
  };
}

/** Whether this machine has what `terminalColumns` needs: util-linux' `script`. */
export const hasTerminals = String(spawnSync("script", ["--version"]).stdout ?? "").includes("util-linux");

function inTerminal(command: readonly string[], columns: number | undefined): readonly string[] {
  if (columns === undefined) return command;
  const line = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  return ["script", "-qec", `stty cols ${columns} rows 50; exec ${line}`, "/dev/null"];
}

function intoFile(command: readonly string[], stdoutFile: string | undefined): readonly string[] {
  return stdoutFile === undefined ? command : ["sh", "-c", 'exec "$@" > "$0"', stdoutFile, ...command];
}

/** The lines of what a terminal was sent, without its colours. */
export function linesOf(text: string): string[] {
  return stripVTControlCharacters(text).split(/\r?\n/);
}

/**
 * Runs the program to its end: in this process, where that shows the same, and beside another command in one of its own.
 * `startCli(…).ended` always has a process of its own.
 */
export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  if (needsProcess(options) || isProcessTaken()) return await startCli(args, options).ended;
  const folder = options.cwd === undefined ? newFolder() : undefined;
  try {
    const cwd = options.cwd ?? folder ?? "";
    return checked(await runInProcess(args, { cwd, env: environment(options) }), args, options);
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/** What Node or the terminal reads when a process starts. */
function needsProcess({ env = {}, script, terminalColumns, stdoutFile }: CliOptions): boolean {
  const isForNode = Object.keys(env).some((name) => /^(?:NODE_|TZ$|PATH$|SSL_|LANG$|LC_)/.test(name));
  return isForNode || [script, terminalColumns, stdoutFile].some((option) => option !== undefined);
}

function newFolder(): string {
  return mkdtempSync(join(tmpdir(), "docmirror-cli-"));
}

function environment({ env }: CliOptions): Record<string, string | undefined> {
  const surroundings = Object.entries(process.env).filter(([name]) => !OURS.test(name));
  // Where `docmirror` on the path is this program, messages name it so.
  return { ...Object.fromEntries(surroundings), PATH: `${ON_PATH}:${process.env.PATH}`, ...env };
}

function checked(result: CliResult, args: readonly string[], { showsSecret }: CliOptions): CliResult {
  if (!showsSecret) assertNoSecret(`docmirror ${args.join(" ")}`, result.stdout + result.stderr);
  // Node's warning of a leak: one signal that many wait for, and that nobody lets go.
  if (result.stderr.includes("MaxListenersExceededWarning")) throw new Error(result.stderr);
  return result;
}
