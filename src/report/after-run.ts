import type { Logger } from "../log.ts";
import { type RefreshOptions, refreshReport } from "./refresh.ts";
import type { RefreshSettings } from "./refresh-settings.ts";

/** What a refresh needs of what a run is given. Said here once more, because what runs need reaches as far as upstream, and reports never do. */
interface RunOptions {
  settings: RefreshSettings & { databaseUrl: string };
  log: Logger;
  signal: AbortSignal;
}

/** Whether the reports show what a run saw. */
export interface ReportedResult {
  /** What kept the reports from being refreshed after it; null when nothing did. The next refresh makes up for it. */
  reportError: unknown;
}

/** What a run function becomes when the reports are refreshed after each run, however it ended; what the run throws comes out as it is. */
export function withReport<Options extends RunOptions, Result>(
  run: (options: Options) => Promise<Result>,
): (options: Options) => Promise<Result & ReportedResult> {
  return async (options) => {
    const result = await run(options);
    const { settings, log, signal } = options;
    const reportError = await tryRefresh(settings.databaseUrl, { ...settings, signal }, log);
    return { ...result, reportError };
  };
}

/** Refreshes the reports; a failure is told in the log and returned, null when there was none. A stop is not told. */
export async function tryRefresh(url: string, options: RefreshOptions, log: Logger): Promise<unknown> {
  const from = performance.now();
  try {
    const { changed, isFull, runId } = await refreshReport(url, options);
    const durationMs = Math.round(performance.now() - from);
    log.debug({ runId, changed, full: isFull, durationMs }, "reports refreshed");
    return null;
  } catch (error) {
    if (options.signal?.aborted !== true) {
      const message = error instanceof Error ? error.message : String(error);
      log.error(
        { error: message },
        "the reports could not be refreshed; they are as they were, the next run makes up for it",
      );
    }
    return error;
  }
}
