import { EXIT, messageOf, StoppedError } from "../../base/errors.ts";
import { exitCodeOfRun, type RunResult } from "../../mirror/run/close-run.ts";
import { notify } from "../../notify/notify.ts";
import type { Webhook } from "../../notify/webhook.ts";
import type { ReportedResult } from "../../report/refresh/after-run.ts";
import type { CommandContext } from "../context/run-command.ts";

const WITHIN_MS = 30_000;
/** A try that has begun may last 15 s. */
const BEGIN_WITHIN_MS = 14_000;

/** Notes and sends the notices of a run, in 30 s at most. A failure is logged: the next run sends what is left. */
export async function notifyAfterRun(
  { config, clock, log, signal: stop }: CommandContext,
  webhook: Webhook | null,
  databaseUrl: string,
): Promise<void> {
  if (webhook === null || stop.aborted) return;
  const { staleAfterMs, proxies } = config;
  const signal = AbortSignal.any([stop, AbortSignal.timeout(WITHIN_MS)]);
  const what = { databaseUrl, webhook, staleAfterMs, proxies, beginWithinMs: BEGIN_WITHIN_MS };
  try {
    await notify({ ...what, clock, log, signal });
  } catch (error) {
    if (!stop.aborted)
      log.warn({ error: messageOf(error) }, "could not send all notices; the next run sends the rest");
  }
}

/** The exit code of a run: partial where only its reports failed. Throws the run's error, and a stop of the refresh. */
export function exitCodeOrThrow(result: RunResult & ReportedResult): number {
  const { summary, error, reportError } = result;
  if (summary.status === "failed" || summary.status === "interrupted") throw error;
  if (reportError instanceof StoppedError) throw reportError;
  const code = exitCodeOfRun(result);
  return code === EXIT.done && reportError !== null ? EXIT.partial : code;
}
