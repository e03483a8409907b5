import { EXIT, StoppedError } from "../../base/errors.ts";
import type { RunResult } from "../../mirror/run/with-run.ts";
import { exitCodeOfRun } from "../../mirror/run/with-run.ts";
import type { ReportedResult } from "../../report/refresh/after-run.ts";

/**
 * The exit code of a run, after its summary was printed. Throws the error that made the run fail, and a stop
 * that came while the reports were refreshed. A good run is partial when its reports could not be refreshed.
 */
export function exitCodeOrThrow(result: RunResult & ReportedResult): number {
  const { summary, error, reportError } = result;
  if (summary.status === "failed" || summary.status === "interrupted") throw error;
  if (reportError instanceof StoppedError) throw reportError;
  const code = exitCodeOfRun(result);
  return code === EXIT.done && reportError !== null ? EXIT.partial : code;
}
