import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import fs, { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { fileURLToPath, pathToFileURL } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { printable } from "../../src/base/text.ts";
import { assertNoSecret } from "./planted-secret.ts";

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

export type RunningCli = ReturnType<typeof startCli>;

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
export function startCli(line: CommandLine, options: CliOptions = {}) {
  const args = wordsOf(line);
  const folder = options.cwd === undefined ? newFolder() : undefined;
  const built = options.script === undefined ? findBuiltProgram() : null;
  const script = built ?? fileURLToPath(options.script ?? MAIN);
  const program = script.endsWith(".js") ? [script] : ["--import", TSX, script];
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
    /** What came so far. */
    stdout: () => text.stdout,
    stderr: () => text.stderr,
    /** Resolves when the process has ended and its streams are read. */
    ended,
    signal: (signal: NodeJS.Signals) => void child.kill(signal),
    /** Sends a signal and waits for the end. */
    stop(signal: NodeJS.Signals = "SIGTERM") {
      child.kill(signal);
      return ended;
    },
    /** Resolves with the first match in what came and comes; rejects when the process ends without it. */
    waitFor(stream: "stdout" | "stderr", pattern: RegExp): Promise<RegExpMatchArray> {
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

/** The words of a command line, or one text where a blank is in none of them. */
export type CommandLine = string | readonly string[];

const wordsOf = (line: CommandLine) => (typeof line === "string" ? line.split(" ") : line);

/** The address of the page of a worker or a server, once it is up. */
export async function pageOf(cli: RunningCli): Promise<string> {
  const up = /"url":"([^"]+)","msg":"the report page and the API are up"/;
  return (await cli.waitFor("stderr", up))[1] ?? "";
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
export async function runCli(line: CommandLine, options: CliOptions = {}): Promise<CliResult> {
  const args = wordsOf(line);
  if (needsProcess(options) || isProcessTaken()) return await startCli(args, options).ended;
  const folder = options.cwd === undefined ? newFolder() : undefined;
  try {
    const cwd = options.cwd ?? folder ?? "";
    return checked(await runInProcess(args, cwd, environment(options)), args, options);
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

function environment({ env }: CliOptions): Environment {
  const surroundings = Object.entries(process.env).filter(([name]) => !OURS.test(name));
  // Where `docmirror` on the path is this program, messages name it so.
  return { ...Object.fromEntries(surroundings), PATH: `${ON_PATH}:${process.env.PATH}`, ...env };
}

function checked(result: CliResult, args: readonly string[], { showsSecret }: CliOptions): CliResult {
  if (!showsSecret) assertNoSecret(`docmirror ${args.join(" ")}`, result.stdout + result.stderr);
  // Node's warning of a leak: one signal that many wait for, and that nobody lets go.
  if (result.stderr.includes("MaxListenersExceededWarning")) throw new Error(result.stderr);
  return {
    ...result,
    stderr: result.stderr.replaceAll(/^\{.*"msg":"the command (?:failed|ends)"\}$/gm, spoken),
  };
}

/** The last words as a terminal shows them: off one they are JSON, as the log is. `startCli(…).stderr()` has them as they came. */
function spoken(line: string): string {
  const { error, reason, hint, stack } = JSON.parse(line);
  const lines = [`docmirror: ${error ?? reason}`, ...(hint ? [`  ${hint}`] : []), ...(stack ? [stack] : [])];
  return printable(lines.join("\n"), { keepNewlines: true });
}

type Environment = Record<string, string | undefined>;

/** A running command has the process for itself. */
let isTaken = false;
const isProcessTaken = (): boolean => isTaken;

const EVENTS = ["uncaughtException", "SIGINT", "SIGTERM", "exit"] as const;

/**
 * Runs one command line in this process, as `bin/docmirror.js` does in its own, which takes a tenth of the time of a new one. While it runs,
 * it has the process: environment, folder, streams, exit code and exit are its own, and are put back at its end.
 * What a process alone can show needs one: signals, closed pipes, the end by itself when nothing is left to do.
 */
async function runInProcess(args: readonly string[], cwd: string, env: Environment): Promise<CliResult> {
  if (isTaken) throw new Error("another command has the process");
  isTaken = true;
  const { runProgram } = await import("../../src/cli/run-program.ts");
  const text = { stdout: "", stderr: "" };
  const { exit, exitCode } = process;
  const before = { cwd: process.cwd(), env: { ...process.env }, exit, exitCode };
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

function setEnvironment(env: Environment): void {
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

const SOURCE = fileURLToPath(new URL("../../src", import.meta.url));
const BUILT = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

let found: string | null | undefined;

/** The built program's main script, or null where it is missing or older than any source. It looks once. */
export function findBuiltProgram(): string | null {
  if (found !== undefined) return found;
  const sources = readdirSync(SOURCE, { recursive: true, encoding: "utf8" });
  const isFresh = sources
    .filter((name) => /\.(ts|css|sql)$/.test(name))
    .every((name) => writtenAt(BUILT) >= writtenAt(join(SOURCE, name)));
  found = isFresh ? BUILT : null;
  return found;
}

function writtenAt(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
