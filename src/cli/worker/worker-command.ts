import type { Command } from "commander";
import { requireBaseUrl } from "../../base/config.ts";
import { createDueTimes } from "../../base/due-times.ts";
import { createMeters } from "../../base/metrics/meters.ts";
import { SYNC_SETTINGS } from "../../mirror/lists/sync-settings.ts";
import { runSync } from "../../mirror/run/run.ts";
import { runWatchRound } from "../../mirror/run/watch-round.ts";
import { withContent } from "../../mirror/run/with-content.ts";
import { NOTIFY_SETTINGS, webhookOf } from "../../notify/webhook.ts";
import { withReport } from "../../report/refresh/after-run.ts";
import { SERVE_SETTINGS, serveMirror } from "../../serve/http/serve-mirror.ts";
import { type CommandContext, runCommand } from "../context/run-command.ts";
import { showProgress } from "../sync/sync-command.ts";
import { createCommand } from "../usage/create-command.ts";
import { type JobDeps, keepWorking } from "./keep-working.ts";
import { createNightlySync } from "./nightly-sync.ts";
import { withNotifyJob } from "./notify-job.ts";
import { createWatchJob } from "./watch-job.ts";

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
      ...SERVE_SETTINGS,
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
  const { config, clock } = context;
  const { syncCron, watchCron, timezone } = config;
  const meters = createMeters();
  for (const [command, cron] of [["sync", syncCron] as const, ["watch", watchCron] as const]) {
    const due = createDueTimes(cron, timezone);
    meters.schedule.watch(command, () => due.next(clock.now()));
  }
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
            return await run({ ...options, meters, onProgress: showProgress(progress) });
          } finally {
            progress.stop();
          }
        },
      }),
      createWatchJob({
        ...shared,
        cron: watchCron,
        timezone,
        runWatchRound: (options) => afterRun(withReport(runWatchRound))({ ...options, meters }),
      }),
    ]);
  return keepWorking(context, requireBaseUrl(config), "worker", createJobs, (database) =>
    serveMirror(context, database, { meters, isWorker: true }),
  );
}
