/**
 * Opens the parts that a command needs before it can begin, and closes them after it: settings, log, signals, database, service. Each
 * `with-…` file opens one of these, hands it on and closes it. A command takes the ones that it needs, and `runCommand`
 * is around all.
 */
import type { Command } from "commander";
import { type Clock, LONGEST_SLEEP_MS, systemClock } from "../../base/clock.ts";
import { canRedraw, findLibpqDefaults, wantsColour } from "../../base/config/environment.ts";
import { spellProgram } from "../../base/config/program.ts";
import { flagOf } from "../../base/config/setting.ts";
import { SETTING_KEYS, SETTINGS } from "../../base/config/settings.ts";
import {
  type Config,
  type ConfigInput,
  type LoadedConfig,
  loadConfig,
  type SettingInForce,
} from "../../base/config.ts";
import {
  ConfigError,
  EXIT,
  MirrorError,
  STOP_SIGNALS,
  StoppedError,
  type StopSignal,
} from "../../base/errors.ts";
import { createLog, type Logger } from "../../base/log.ts";
import { printableColoured } from "../../base/text.ts";
import { withDefaults } from "../../store/connection/database-url.ts";
import { scramPassword } from "../../store/connection/scram-password.ts";
import { createOutput, type Output, whenStored } from "../output/output.ts";
import { isAbort, printError } from "../output/print-error.ts";
import type { Progress } from "../output/progress.ts";

/** The parts that each command gets. */
export interface CommandContext {
  /** The command's name. */
  readonly command: string;
  readonly config: Config;
  /**
   * The settings as they are now, since a password may have been rotated in its file. Those of before, with a warning, where
   * they cannot be read.
   */
  reread(): Promise<Config>;
  /** Where each setting came from, secrets masked. */
  readonly settings: readonly SettingInForce[];
  readonly log: Logger;
  readonly clock: Clock;
  /** Aborted with a StoppedError by the first SIGINT, SIGTERM or SIGHUP. Every wait of the command listens to it. */
  readonly signal: AbortSignal;
  /** Stdout, for data. */
  readonly out: Output;
  /** Prints what the command found: one JSON document with `--json`, else a text for people. */
  print(document: unknown, text: () => string): Promise<void>;
  /** The same for what was stored before. Throws UnprintedError where stdout takes nothing. */
  printStored(document: unknown, text: () => string): Promise<void>;
  /** The progress display. Made by the first call, and by the first one after it was stopped, as by the end. */
  progress(): Promise<Progress>;
}

export interface CommandBody<Options = object> {
  /**
   * Resolves to the exit code once everything it opened is closed: the process ends by itself when nothing is left to do. It may throw
   * anything: a MirrorError is printed with its hint and has its own exit code; everything else is a bug and exits 1.
   */
  run(
    context: CommandContext,
    invocation: { readonly options: Options; readonly args: readonly string[] },
  ): Promise<number>;
  /** Runs instead when the settings cannot be used. @default the error is printed and the exit code is 2 */
  onConfigError?(error: ConfigError, context: Pick<CommandContext, "out" | "print">): Promise<number>;
  /** Its log is pretty off a terminal too, unless a setting says otherwise. @default false */
  readonly isForPeople?: boolean;
}

/** Wires settings, log, signals and the exit code around a command's body. Never rejects. */
export async function runCommand(command: Command, { run, onConfigError, isForPeople = false }: CommandBody) {
  const verbose = isGiven(command, "verbose");
  const noColorFlag = isGiven(command, "color");
  const stop = new AbortController();
  let isReaderGone = false;
  let progress: Progress | undefined;

  const out = createOutput({
    stream: process.stdout,
    colour: wantsColour({ isTty: process.stdout.isTTY === true, noColorFlag }),
    onClosed() {
      isReaderGone = true;
      stop.abort(new Error("the reader of stdout has gone"));
    },
  });
  const options = command.opts();
  const print = (document: unknown, text: () => string) =>
    options.json === true ? out.json(document) : out.write(text());
  /** Where the log is JSON, so are the last words. */
  let jsonLog: Logger | undefined;
  const printLast = (error: unknown) => printError(error, verbose, jsonLog);
  let onSignal = (_signal: string): void => {};
  const signals = listenForSignals(stop, { announce: (signal) => onSignal(signal), printLast });
  try {
    const isTty = process.stderr.isTTY === true;
    const colour = wantsColour({ isTty, noColorFlag });
    const input = { flags: settingFlags(command, verbose), isTty: isTty || isForPeople };
    const loaded = tryConfig(input);
    if (loaded instanceof ConfigError) {
      if (onConfigError === undefined) throw loaded;
      process.exitCode = await onConfigError(loaded, { out, print });
      return;
    }
    const config = await completeUrls(loaded.config);
    const plainLog = await createLog({
      level: config.logLevel,
      format: config.logFormat,
      colour,
      clean: (text) => spellProgram(printableColoured(text), { isJson: config.logFormat === "json" }),
    });
    const log = wrapLog(plainLog, (write) => (progress ? progress.withoutBars(write) : write()));
    if (config.logFormat === "json") jsonLog = log;
    process.prependListener("uncaughtException", (error) => process.exit(printLast(error)));
    warnOfSecrets(loaded, log);
    onSignal = (signal) => log.info({ signal }, "stopping; a second signal ends at once");
    const context: CommandContext = {
      command: command.name(),
      config,
      async reread() {
        const now = tryConfig(input);
        if (!(now instanceof ConfigError)) return completeUrls(now.config);
        log.warn({ error: now.message }, "the settings cannot be read again; those of before are used");
        return config;
      },
      settings: loaded.settings,
      log,
      clock: systemClock,
      signal: stop.signal,
      out,
      print,
      printStored: (document, text) => whenStored(print(document, text)),
      async progress() {
        const { createProgress } = await import("../output/progress.ts");
        // A terminal that does not know its size (0 by 0) would show no bar at all.
        const { columns = 0, rows = 0 } = process.stderr;
        const isDrawn = canRedraw({ isTty }) && columns > 0 && rows > 0;
        // The library that draws bars takes a tenth of the start of a program.
        const createBars = isDrawn ? (await import("log-update")).createLogUpdate : null;
        if (progress?.isStopped()) progress = undefined;
        progress ??= createProgress({ stream: process.stderr, createBars, columns, colour, log: plainLog });
        return progress;
      },
    };
    process.exitCode = await run(context, { options, args: command.args });
    progress?.stop();
  } catch (error) {
    progress?.stop();
    const isStop = isAbort(error, stop.signal);
    const shown = isStop ? stop.signal.reason : error;
    process.exitCode = isStop && isReaderGone ? EXIT.done : printLast(shown);
  } finally {
    signals.stop();
  }
}

function tryConfig(input: ConfigInput): LoadedConfig | ConfigError {
  try {
    return loadConfig(input);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}

/** The first signal aborts `stop` and starts a timer. The second one, or the timer, ends the process at once. */
function listenForSignals(
  stop: AbortController,
  { announce, printLast }: { announce(signal: string): void; printLast(error: unknown): number },
) {
  let isFirst = true;
  const listen = (signal: StopSignal) => {
    const stopped = new StoppedError(signal);
    // Where a terminal is closed, both its system and its shell send one.
    if (!isFirst && signal === "SIGHUP") return;
    if (!isFirst) process.exit(stopped.exitCode);
    isFirst = false;
    // Never cleared: something may hang after the command itself has ended.
    setTimeout(() => {
      stopped.message += `; it did not end within ${STOP_WITHIN_MS / 1000} s and is cut short`;
      process.exit(printLast(stopped));
    }, STOP_WITHIN_MS).unref();
    announce(signal);
    stop.abort(stopped);
  };
  for (const signal of STOP_SIGNALS) process.on(signal, listen);
  return {
    stop() {
      for (const signal of STOP_SIGNALS) process.off(signal, listen);
    },
  };
}

/** True where a flag was typed, before or after the command's name. */
function isGiven(command: Command, name: string): boolean {
  return [command, command.parent].some((at) => at?.getOptionValueSource(name) === "cli");
}

function settingFlags(command: Command, verbose: boolean): Record<string, string> {
  const flags: Record<string, string> = {};
  for (const key of SETTING_KEYS) {
    const flag = flagOf(SETTINGS[key]);
    const option = command.options.find(({ long }) => long === `--${flag}`);
    const text: unknown = option && command.getOptionValue(option.attributeName());
    if (typeof text === "string") flags[flag] = text;
  }
  if (verbose) flags["log-level"] ??= "debug";
  return flags;
}

/** Supervisors kill a process 10 s after they ask it to stop. So it ends before that, even when something hangs. */
const STOP_WITHIN_MS = 9000;

/** Waits until `signal` is aborted, then throws its reason. For commands that only a signal ends. */
export async function untilStopped(signal: AbortSignal): Promise<never> {
  for (;;) await systemClock.sleep(LONGEST_SLEEP_MS, signal);
}

/** Runs the last steps of a command. When they hang, the process ends with the exit code of the signal's reason. */
export async function closeInTime({ reason }: AbortSignal, close: () => Promise<void>): Promise<void> {
  const exitCode = reason instanceof MirrorError ? reason.exitCode : EXIT.bug;
  const force = setTimeout(() => process.exit(exitCode), STOP_WITHIN_MS);
  await close();
  clearTimeout(force);
}

/**
 * The settings with all that each URL of a database lacks: the password of `databasePassword`, and the `defaults` of libpq's
 * variables.
 */
export async function completeUrls(config: Config, defaults = findLibpqDefaults()): Promise<Config> {
  const { databasePassword, databaseUrl, readUrl } = config;
  const own: typeof defaults =
    databasePassword === null ? [] : [["password", await scramPassword(databasePassword)]];
  const complete = (url: string) => withDefaults(withDefaults(url, own), defaults);
  return Object.freeze({
    ...config,
    databaseUrl: databaseUrl && complete(databaseUrl),
    readUrl: readUrl && complete(readUrl),
  });
}

/** Warns of each password in a flag: every user of the machine can read the command lines of all processes. */
function warnOfSecrets({ settings }: LoadedConfig, log: Logger): void {
  for (const { name, flag, source, isMasked } of settings) {
    if (source !== "flag" || !isMasked) continue;
    log.warn(
      { flag: `--${flag}`, hint: `give it by ${name}, or by the file that ${name}_FILE names` },
      "the password in a flag is visible to all users of this machine in the process list",
    );
  }
}

const WRITERS: readonly PropertyKey[] = ["fatal", "error", "warn", "info", "debug", "trace"];

/**
 * The same log, but `around` writes every line (those of children too), perhaps with more facts, or leaves it out. Lines
 * below the log's level do not call it.
 */
export function wrapLog(
  log: Logger,
  around: (write: (more?: object) => void, level: string, args: unknown[]) => void,
): Logger {
  return new Proxy(log, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== "function") return value;
      if (property === "child") {
        return (...args: unknown[]) => wrapLog(Reflect.apply(value, target, args), around);
      }
      if (!WRITERS.includes(property) || !target.isLevelEnabled(String(property))) return value.bind(target);
      return (...args: [object, ...unknown[]]) => {
        const [facts, ...rest] = args;
        const write = (more?: object) =>
          Reflect.apply(value, target, more ? [{ ...facts, ...more }, ...rest] : args);
        around(write, String(property), args);
      };
    },
  });
}
