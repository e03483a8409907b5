import { EventEmitter, once } from "node:events";
import { type NotifyOptions, notify } from "../../notify/notify.ts";
import type { Delivered } from "../../notify/outbox.ts";
import type { Webhook } from "../../notify/webhook.ts";
import type { CommandContext } from "../context/run-command.ts";
import type { JobDeps } from "./keep-working.ts";
import type { KeptDatabase } from "./kept-database.ts";
import type { Job } from "./worker.ts";

/** A try may begin in this part of a minute, so that a round with a slow receiver ends before the next one. */
const BEGIN_WITHIN_MS = 40_000;

interface NotifyJobDeps
  extends Pick<NotifyOptions, "webhook" | "staleAfterMs" | "proxies" | "clock" | "log"> {
  database: KeptDatabase;
  notify(options: NotifyOptions): Promise<Delivered>;
}

interface NotifyJob extends Job {
  /** Makes a run function whose every end wakes the job, so that a notice need not wait for the next minute. */
  afterRun<O, R>(run: (options: O) => Promise<R>): (options: O) => Promise<R>;
}

/**
 * Sending notices as a job: a round each minute, and one after each run. A receiver that is slow or down delays no run,
 * because the job has its own schedule. A round that fails is not repeated: the next one covers it.
 */
export function createNotifyJob({ database, notify, ...what }: NotifyJobDeps): NotifyJob {
  const runs = new EventEmitter();
  let hasEnded = false;
  return {
    name: "notify",
    cron: "* * * * *",
    timezone: "Etc/UTC",
    startsAtOnce: true,
    async run(signal, rest) {
      for (;;) {
        hasEnded = false;
        const databaseUrl = await database.ready(signal);
        await notify({ ...what, databaseUrl, beginWithinMs: BEGIN_WITHIN_MS, signal });
        if (rest === undefined) return "done";
        const waiting = AbortSignal.any([signal, rest()]);
        try {
          if (!hasEnded) await once(runs, "end", { signal: waiting });
          waiting.throwIfAborted();
        } catch {
          signal.throwIfAborted();
          return "done";
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

/** The jobs of a process. Where there is a webhook, one more sends notices, also after each run of the others. */
export function withNotifyJob(
  { config }: CommandContext,
  webhook: Webhook | null,
  shared: Pick<JobDeps, "database" | "clock" | "log">,
  createJobs: (afterRun: NotifyJob["afterRun"]) => Job[],
): Job[] {
  if (webhook === null) return createJobs((run) => run);
  const { staleAfterMs, proxies } = config;
  const job = createNotifyJob({ ...shared, webhook, staleAfterMs, proxies, notify });
  return [...createJobs(job.afterRun), job];
}
