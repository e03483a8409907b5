import type { Command } from "commander";
import { requireBaseUrl } from "../config.ts";
import { NOTIFY_SETTINGS, webhookOf } from "../notify/webhook.ts";
import { withReport } from "../report/after-run.ts";
import { serveMirror } from "../serve/serve-mirror.ts";
import { runSync } from "../sync/run.ts";
import { SYNC_SETTINGS } from "../sync/sync-settings.ts";
import { runWatchRound } from "../sync/watch-round.ts";
import { withContent } from "../sync/with-content.ts";
import { createNightlySync } from "../worker/nightly-sync.ts";
import { createWatchJob } from "../worker/watch-job.ts";
import { createCommand } from "./create-command.ts";
import { type JobDeps, keepWorking } from "./keep-working.ts";
import { type CommandContext, runCommand } from "./run-command.ts";
import { showProgress } from "./sync-command.ts";
import { withNotifyJob } from "./with-notify-job.ts";

export function workerCommand(summary: string): Command {
  return createCommand({
    name: "worker",
    summary,
    settings: [
      "baseUrl",
      "databaseUrl",
      "dataDir",
      "syncCron",
      "watchCron",
      "timezone",
      ...SYNC_SETTINGS,
      "staleAfterMs",
      "httpHost",
      "httpPort",
      "httpAllowedHosts",
      "httpRate",
      "httpCors",
      ...NOTIFY_SETTINGS,
    ],
    examples: [
      [
        "worker --base-url https://docs.example.org",
        "syncs every night, or at once when the last sync was missed, and watches builds in between",
      ],
      ['worker --sync-cron "30 3 * * *" --timezone Europe/Berlin', "at half past three in Berlin"],
    ],
  }).action(runCommand(work));
}

function work(context: CommandContext): Promise<never> {
  const { config } = context;
  const { syncCron, watchCron, timezone } = config;
  const webhook = webhookOf(config);
  const createJobs = (shared: JobDeps) =>
    withNotifyJob(context, webhook, shared, (afterRun) => [
      createNightlySync({
        ...shared,
        cron: syncCron,
        timezone,
        async runSync(options) {
          // A new one for each night, so that the last state of an earlier night stays on the screen.
          const progress = await context.progress();
          try {
            const run = afterRun(withContent(withReport(runSync)));
            return await run({ ...options, onProgress: showProgress(progress) });
          } finally {
            progress.stop();
          }
        },
      }),
      createWatchJob({
        ...shared,
        cron: watchCron,
        timezone,
        runWatchRound: afterRun(withReport(runWatchRound)),
      }),
    ]);
  return keepWorking(context, requireBaseUrl(config), "worker", createJobs, (database) =>
    serveMirror(context, database),
  );
}
