import { printError } from "./output/print-error.ts";

/** An uncaught error leaves the process in an unknown state, so it is printed and the process ends at once. */
export function listenForTheUnexpected(verbose: boolean): void {
  process.on("uncaughtException", (error) => process.exit(printError(error, verbose)));
  // A reader that closes the pipe, as `head` does, is not a fault. Commands stop then (`output.ts`); the help
  // just ends.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
  // Nothing can be printed when stderr itself is closed.
  process.stderr.on("error", () => undefined);
}
