import { toOutputError } from "../base/system-errors.ts";
import { printError } from "./output/print-error.ts";

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
