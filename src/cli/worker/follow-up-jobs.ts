/**
 * The work that follows each run, as jobs of their own: the refresh of the reports, and sending notices. A reader that holds a lock, and a
 * receiver that is slow or down, delay no run. A round that fails is not repeated: the next one covers it.
 */
import { EventEmitter, once } from "node:events";
import type { StoreMeter } from "../../base/metrics/meters.ts";
import { type NotifyOptions, notify } from "../../notify/notify.ts";
import type { Delivered } from "../../notify/outbox.ts";
import type { Webhook } from "../../notify/webhook.ts";
import { refreshMeasured } from "../../report/refresh/refresh.ts";
import type { CommandContext } from "../context/run-command.ts";
import type { JobDeps } from "./keep-working.ts";
import type { KeptDatabase } from "./kept-database.ts";
import { BUSY, DONE, type Job, type JobEnd } from "./worker.ts";

/** A try may begin in this part of a minute, so that a round with a slow receiver ends before the next one. */
const BEGIN_WITHIN_MS = 40_000;

interface FollowUpJob extends Job {
  /** Makes a run function whose every end wakes the job, so that its work need not wait for the next tick. */
  afterRun<O, R>(run: (options: O) => Promise<R>): (options: O) => Promise<R>;
}

/** A job with a round at the start, at each tick, and after each run. */
function createFollowUp(
  name: string,
  cron: string,
  work: (signal: AbortSignal) => Promise<JobEnd>,
): FollowUpJob {
  const runs = new EventEmitter();
  let hasEnded = false;
  return {
    name,
    cron,
    timezone: "Etc/UTC",
    startsAtOnce: true,
    async run(signal, rest) {
      for (;;) {
        hasEnded = false;
        const end = await work(signal);
        if (end.outcome === "failed" || rest === undefined) return end;
        const waiting = AbortSignal.any([signal, rest()]);
        try {
          if (!hasEnded) await once(runs, "end", { signal: waiting });
          waiting.throwIfAborted();
        } catch {
          signal.throwIfAborted();
          return end;
        }
      }
    },
    afterRun: (run) => async (options) => {
      try {
        return await run(options);
      } finally {
        hasEnded = true;
        runs.emit("end");
      }
    },
  };
}

interface NotifyJobDeps
  extends Pick<NotifyOptions, "webhook" | "staleAfterMs" | "proxies" | "clock" | "log"> {
  database: KeptDatabase;
  notify(options: NotifyOptions): Promise<Delivered>;
}

export function createNotifyJob({ database, notify, ...what }: NotifyJobDeps): FollowUpJob {
  const receiver = what.webhook.url.origin;
  return createFollowUp("notify", "* * * * *", async (signal) => {
    const { sql } = await database.ready(signal);
    const sent = await notify({ ...what, sql, beginWithinMs: BEGIN_WITHIN_MS, signal });
    const { failed, error, waiting } = sent;
    if (failed > 0) return { outcome: "failed", trouble: `${error}`, facts: { error, receiver, waiting } };
    // A try that failed is made again later. Until then nothing is known.
    return waiting > 0 && sent.delivered === 0 ? BUSY : DONE;
  });
}

/**
 * The jobs of a process, with those that follow each run: the reports are refreshed, and where there is a webhook notices are
 * sent, after each refresh too.
 */
export function withFollowUps(
  { config }: CommandContext,
  webhook: Webhook | null,
  shared: Pick<JobDeps, "database" | "clock" | "log">,
  meter: StoreMeter | undefined,
  createJobs: (afterRun: FollowUpJob["afterRun"]) => Job[],
): Job[] {
  const { staleAfterMs, proxies } = config;
  const { database, log } = shared;
  const notices = webhook && createNotifyJob({ ...shared, webhook, staleAfterMs, proxies, notify });
  const noticed: FollowUpJob["afterRun"] = notices?.afterRun ?? ((run) => run);
  const refresh = async (signal: AbortSignal) => {
    const { sql } = await database.ready(signal);
    await refreshMeasured(sql, { ...config, signal }, log, meter);
    return DONE;
  };
  const reports = createFollowUp("reports", "*/5 * * * *", noticed(refresh));
  const jobs = createJobs((run) => noticed(reports.afterRun(run)));
  return [...jobs, reports, ...(notices ? [notices] : [])];
}
