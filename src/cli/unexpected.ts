import { explainError } from "./explain-error.ts";

/** An error that nobody awaited leaves the process in no known state: tell it and end at once. */
export function listenForTheUnexpected(verbose: boolean): void {
  process.on("uncaughtException", (error) => {
    const explained = explainError(error, verbose);
    process.stderr.write(explained.text);
    process.exit(explained.exitCode);
  });
  // Nothing can be told any more when stderr itself has gone.
  process.stderr.on("error", () => undefined);
}
