import { requireBaseUrl } from "../../base/config.ts";
import { EXIT, messageOf, StoppedError } from "../../base/errors.ts";
import { exitCodeOfRun, type RunResult } from "../../mirror/run/close-run.ts";
import type { RunOptions } from "../../mirror/run/with-run.ts";
import { notify } from "../../notify/notify.ts";
import { type Webhook, webhookOf } from "../../notify/webhook.ts";
import { readDefinitions } from "../../report/definitions.ts";
import type { ReportedResult } from "../../report/refresh/refresh.ts";
import type { Sql } from "../../store/connection/sql.ts";
import { assertNotDemo } from "../../store/ledger/mirrored-service.ts";
import { prepareDatabase } from "../../store/migrate/prepare.ts";
import type { CommandContext } from "../context/run-command.ts";
import { withConnections } from "../context/with-mirror.ts";
import { whenStored } from "../output/output.ts";
import { openMetricsFile } from "./metrics-file.ts";
import { createSummaryPrinter } from "./print-summary.ts";

const NOTICES_WITHIN_MS = 30_000;
/** A try that has begun may last 15 s. */
const BEGIN_WITHIN_MS = 14_000;

export interface RunOnceOptions {
  metricsFile?: string;
  json?: true;
  /** Called before the database is opened, which may take a moment. */
  onBegin?(baseUrl: URL): void;
}

/**
 * Makes one run for a command that then ends: opens the database, brings its schema up to date, prints the summary, sends notices, writes
 * the metrics. Gives the exit code: partial where only the reports failed. Throws the run's error, and a stop of the refresh.
 */
export async function runOnce(
  context: CommandContext,
  { metricsFile, json, onBegin }: RunOnceOptions,
  run: (options: RunOptions) => Promise<RunResult & ReportedResult>,
): Promise<number> {
  const { config, clock, log, signal } = context;
  const baseUrl = requireBaseUrl(config);
  const webhook = webhookOf(config);
  const metrics = metricsFile === undefined ? null : await openMetricsFile(context, metricsFile);
  onBegin?.(baseUrl);
  try {
    return await withConnections(context, async (database, connections) => {
      const { sql } = connections;
      try {
        await assertNotDemo(sql, baseUrl);
        await prepareDatabase(database, sql, readDefinitions(), log, signal);
        const printSummary = await createSummaryPrinter(json === true);
        const result = await run({ settings: { ...config, baseUrl }, connections, clock, log, signal });
        const printing = whenStored(printSummary(result.summary, context.out));
        const unprinted = await printing.then(
          () => null,
          (fault: unknown) => fault,
        );
        await notifyAfterRun(context, webhook, sql);
        return exitCodeOf(result, unprinted);
      } finally {
        await metrics?.write(database.url);
      }
    });
  } finally {
    await metrics?.write(null);
  }
}

function exitCodeOf(result: RunResult & ReportedResult, unprinted: unknown): number {
  const { summary, error, reportError } = result;
  if (summary.status === "failed" || summary.status === "interrupted") throw error;
  if (reportError instanceof StoppedError) throw reportError;
  if (unprinted !== null) throw unprinted;
  const code = exitCodeOfRun(result);
  return code === EXIT.done && reportError !== null ? EXIT.partial : code;
}

/** Notes and sends the notices of a run, in 30 s at most. A failure is logged: the next run sends what is left. */
async function notifyAfterRun(
  { config, clock, log, signal: stop }: CommandContext,
  webhook: Webhook | null,
  sql: Sql,
): Promise<void> {
  if (webhook === null || stop.aborted) return;
  const signal = AbortSignal.any([stop, AbortSignal.timeout(NOTICES_WITHIN_MS)]);
  try {
    const options = { ...config, sql, webhook, beginWithinMs: BEGIN_WITHIN_MS, clock, log, signal };
    const { error } = await notify(options);
    if (error !== null) throw new Error(error);
  } catch (error) {
    if (!stop.aborted)
      log.warn({ error: messageOf(error) }, "could not send all notices; the next run sends the rest");
  }
}
