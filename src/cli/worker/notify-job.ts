import { EventEmitter, once } from "node:events";
import type { Clock } from "../../base/clock.ts";
import type { Proxies } from "../../base/config/proxies.ts";
import type { Logger } from "../../base/log.ts";
import type { Delivered } from "../../notify/deliver.ts";
import type { NotifyOptions } from "../../notify/notify.ts";
import type { Webhook } from "../../notify/webhook.ts";
import type { Job } from "./job.ts";
import type { KeptDatabase } from "./kept-database.ts";

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
  afterRun<Options, Result>(
    run: (options: Options) => Promise<Result>,
  ): (options: Options) => Promise<Result>;
}

/**
 * Sending notices as a job: a round each minute, and one after each run. It has its own schedule, so a receiver that is slow
 * or down delays no run. A round that fails is not repeated: the next one covers it.
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
        await deps.notify({
          databaseUrl,
          webhook,
          staleAfterMs,
          proxies,
          beginWithinMs: BEGIN_WITHIN_MS,
          clock,
          log,
          signal,
        });
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
