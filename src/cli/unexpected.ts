import { explainError } from "./explain-error.ts";

/** An error that nobody awaited leaves the process in no known state: tell it and end at once. */
export function listenForTheUnexpected(verbose: boolean): void {
  process.on("uncaughtException", (error) => {
    const explained = explainError(error, verbose);
    process.stderr.write(explained.text);
    process.exit(explained.exitCode);
  });
  // A reader that has had enough, as `head` has, is no fault. Commands stop at it (`output.ts`); the help just ends.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
  // Nothing can be told any more when stderr itself has gone.
  process.stderr.on("error", () => undefined);
}
