import { nameSources, spellProgram } from "../../base/config/program.ts";
import { EXIT, MirrorError } from "../../base/errors.ts";
import { toOutputError } from "../../base/system-errors.ts";
import { printable } from "../../base/text.ts";

/**
 * Writes an error to stderr: message and hint, or one line for a bug. `--verbose` adds the stack. Returns the exit code.
 */
export function printError(error: unknown, verbose: boolean): number {
  const lines: string[] = [];
  const isBug = !(error instanceof MirrorError);
  if (isBug) {
    const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    lines.push(`docmirror: a bug: ${message.split("\n", 1)[0]}`);
    if (!verbose) lines.push("  run again with --verbose for the stack trace");
  } else {
    lines.push(`docmirror: ${error.message}`);
    if (error.hint) lines.push(`  ${error.hint}`);
  }
  if (verbose) lines.push(...stacks(error).map((stack) => nameSources(stack)));
  process.stderr.write(`${printable(spellProgram(lines.join("\n")), { keepNewlines: true })}\n`);
  return isBug ? EXIT.bug : error.exitCode;
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

/** Whether an error only means that `signal` was aborted. The reason may be at any depth among its causes. */
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
