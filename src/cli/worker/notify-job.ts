import { EventEmitter, once } from "node:events";
import type { Clock } from "../../base/clock.ts";
import type { Proxies } from "../../base/config/proxies.ts";
import type { Logger } from "../../base/log.ts";
import { type NotifyOptions, notify } from "../../notify/notify.ts";
import type { Delivered } from "../../notify/outbox.ts";
import type { Webhook } from "../../notify/webhook.ts";
import type { CommandContext } from "../context/run-command.ts";
import type { JobDeps } from "./keep-working.ts";
import type { KeptDatabase } from "./kept-database.ts";
import type { Job } from "./worker.ts";

/** A try may begin in this part of a minute, so that a round with a slow receiver ends before the next one. */
const BEGIN_WITHIN_MS = 40_000;

export interface NotifyJobDeps {
  webhook: Webhook;
  staleAfterMs: number;
  proxies?: Proxies | undefined;
  database: KeptDatabase;
  notify(options: NotifyOptions): Promise<Delivered>;
  clock: Clock;
  log: Logger;
}

export interface NotifyJob extends Job {
  /** Makes a run function whose every end wakes the job, so that a notice need not wait for the next minute. */
  afterRun<O, R>(run: (options: O) => Promise<R>): (options: O) => Promise<R>;
}

/**
 * Sending notices as a job: a round each minute, and one after each run. A receiver that is slow or down delays no run,
 * because the job has its own schedule. A round that fails is not repeated: the next one covers it.
 */
export function createNotifyJob(deps: NotifyJobDeps): NotifyJob {
  const { database, webhook, staleAfterMs, proxies, clock, log } = deps;
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
        const what = { databaseUrl, webhook, staleAfterMs, proxies, beginWithinMs: BEGIN_WITHIN_MS };
        await deps.notify({ ...what, clock, log, signal });
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
  const { database, clock, log } = shared;
  const job = createNotifyJob({ webhook, staleAfterMs, proxies, database, notify, clock, log });
  return [...createJobs(job.afterRun), job];
}
