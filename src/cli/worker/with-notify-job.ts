import { notify } from "../../notify/notify.ts";
import type { Webhook } from "../../notify/webhook.ts";
import type { CommandContext } from "../context/run-command.ts";
import type { Job } from "./job.ts";
import type { JobDeps } from "./keep-working.ts";
import { createNotifyJob, type NotifyJob } from "./notify-job.ts";

const asItIs: NotifyJob["afterRun"] = (run) => run;

/** The jobs of a process, and the one that sends notices where there is a webhook. It looks after each run of the others. */
export function withNotifyJob(
  { config }: Pick<CommandContext, "config">,
  webhook: Webhook | null,
  shared: Pick<JobDeps, "database" | "clock" | "log">,
  createJobs: (afterRun: NotifyJob["afterRun"]) => Job[],
): Job[] {
  if (webhook === null) return createJobs(asItIs);
  const { staleAfterMs, proxies } = config;
  const { database, clock, log } = shared;
  const job = createNotifyJob({ webhook, staleAfterMs, proxies, database, notify, clock, log });
  return [...createJobs(job.afterRun), job];
}
