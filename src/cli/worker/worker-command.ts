import { requireBaseUrl } from "../../base/config.ts";
import { createMeters } from "../../base/metrics/meters.ts";
import { runSync } from "../../mirror/run/run.ts";
import { runWatchRound } from "../../mirror/run/watch-round.ts";
import { withContent } from "../../mirror/run/with-content.ts";
import { withCheck } from "../../mirror/verify/verify.ts";
import { webhookOf } from "../../notify/webhook.ts";
import { loadDuckDb } from "../../report/export/parquet.ts";
import { createNextRuns } from "../../report/status/read-status.ts";
import { findRecord } from "../../serve/catalog/mirror-catalog.ts";
import { serveMirror } from "../../serve/http/serve-mirror.ts";
import type { CommandContext } from "../context/run-command.ts";
import { showProgress } from "../sync/sync-command.ts";
import type { CommandDeclaration } from "../usage/create-command.ts";
import { withFollowUps } from "./follow-up-jobs.ts";
import { type JobDeps, keepWorking } from "./keep-working.ts";
import { createNightlySync, createWatchJob } from "./run-jobs.ts";
import { createUpkeepJobs } from "./upkeep-jobs.ts";

export const command: CommandDeclaration = {
  settings: ["requests", "database", "sync", "status", "server", "jobs", "notices"],
  exits: ["locked"],
  examples: [
    [
      "worker --base-url https://docs.example.org",
      "syncs every night, or at once when the last sync was missed, and watches builds in between",
    ],
    ['worker --sync-cron "30 3 * * *" --timezone Europe/Berlin', "at half past three in Berlin"],
  ],
  run: work,
};

async function work(context: CommandContext): Promise<never> {
  const { config, clock } = context;
  await loadForNights(context);
  const { syncCron, watchCron, timezone } = config;
  const meters = createMeters();
  const findNextRuns = createNextRuns(config);
  meters.schedule.watch(() => findNextRuns(clock.now()));
  const webhook = webhookOf(config);
  const createJobs = (deps: JobDeps) =>
    withFollowUps(context, webhook, deps, meters.store, (afterRun) => {
      const shared = { ...deps, meters, timezone };
      return [
        createNightlySync({
          ...shared,
          cron: syncCron,
          async runSync(options) {
            // A new one for each night, so that the last state of an earlier night stays on the screen.
            const progress = await context.progress();
            try {
              const run = withContent(withCheck(afterRun(runSync), findRecord));
              return await run({ ...options, onProgress: showProgress(progress) });
            } finally {
              progress.stop();
            }
          },
        }),
        createWatchJob({ ...shared, cron: watchCron, runWatchRound: afterRun(runWatchRound) }),
        ...createUpkeepJobs(config, shared),
      ];
    });
  return await keepWorking(context, requireBaseUrl(config), "worker", createJobs, (database) =>
    serveMirror(context, database, { meters, isWorker: true }),
  );
}

/** Loads what the first night needs, and this process not before: an upgrade may have replaced the program's files by then. */
async function loadForNights({ config, progress }: CommandContext): Promise<void> {
  (await progress()).stop();
  // The export says why it cannot be loaded.
  if (config.exportCron !== null) await loadDuckDb().catch(() => {});
}
