import { nameSources, spellProgram } from "../../base/config/program.ts";
import { EXIT, MirrorError, StoppedError, toMemoryError, toOutputError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { printable } from "../../base/text.ts";

/**
 * Writes an error to stderr: message and hint, or one line for a bug. `--verbose` adds the stack. Returns the exit code.
 * With `log`, which is given where the log is JSON, it is a line of that.
 */
export function printError(thrown: unknown, verbose: boolean, log?: Logger): number {
  const error = toMemoryError(thrown);
  const isBug = !(error instanceof MirrorError);
  const code = isBug ? EXIT.bug : error.exitCode;
  const bug = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const message = isBug ? `a bug: ${bug.split("\n", 1)[0]}` : error.message;
  const noStack = verbose ? undefined : "run again with --verbose for the stack trace";
  const hint = isBug ? noStack : error.hint;
  const stack = verbose ? stacks(error) : [];
  if (log?.isLevelEnabled("fatal")) {
    const facts = { hint, exit_code: code, ...(verbose && { stack: stack.join("\n") }) };
    if (error instanceof StoppedError) log.info({ reason: message, ...facts }, "the command ends");
    else log.fatal({ error: message, ...facts }, "the command failed");
    return code;
  }
  const lines = [
    `docmirror: ${message}`,
    ...(hint ? [`  ${hint}`] : []),
    ...stack.map((text) => nameSources(text)),
  ];
  process.stderr.write(`${printable(spellProgram(lines.join("\n")), { keepNewlines: true })}\n`);
  return code;
}

/** The error's own stack and its causes'. Other properties stay out: a driver may keep a password in them. */
function stacks(error: unknown): string[] {
  const lines: string[] = [];
  const seen = new Set<unknown>();
  for (let at = error; at instanceof Error && !seen.has(at); at = at.cause) {
    lines.push(`${seen.size === 0 ? "" : "caused by "}${at.stack ?? String(at)}`);
    seen.add(at);
  }
  return lines;
}

/** True where an error only means that `signal` was aborted. The reason may be at any depth among its causes. */
export function isAbort(error: unknown, signal: AbortSignal): boolean {
  if (!signal.aborted) return false;
  const seen = new Set<unknown>();
  for (let at = error; at !== undefined && !seen.has(at); at = at instanceof Error ? at.cause : undefined) {
    if (at === signal.reason || (at instanceof Error && at.name === "AbortError")) return true;
    seen.add(at);
  }
  return false;
}

/** An uncaught error leaves the process in an unknown state, so it is printed and the process ends at once. */
export function listenForTheUnexpected(verbose: boolean): void {
  process.on("uncaughtException", (error) => process.exit(printError(error, verbose)));
  // A reader that closes the pipe, as `head` does, is not a fault. Commands stop then (`output.ts`); the help
  // just ends. A full disk is none either: where a command writes, its own write fails and it closes what it opened.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE" || process.stdout.listenerCount("error") > 1) return;
    throw toOutputError(error, "stdout");
  });
  // Nothing can be printed when stderr itself is closed.
  process.stderr.on("error", () => undefined);
}
