import type { Command } from "commander";
import { requireBaseUrl } from "../config.ts";
import { withReport } from "../report/after-run.ts";
import { runSync } from "../sync/run.ts";
import { runWatchRound } from "../sync/watch-round.ts";
import { createNightlySync } from "../worker/nightly-sync.ts";
import { createWatchJob } from "../worker/watch-job.ts";
import { createCommand } from "./create-command.ts";
import { type JobDeps, keepWorking } from "./keep-working.ts";
import { createProgress } from "./progress.ts";
import { type CommandContext, runCommand } from "./run-command.ts";
import { serveMirror } from "./serve-mirror.ts";
import { REQUEST_SETTINGS } from "./sync-command.ts";

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
      ...REQUEST_SETTINGS,
      "fullEveryDays",
      "maxDeleteRatio",
      "sourceTimezone",
      "stuckAfter",
      "httpHost",
      "httpPort",
    ],
    examples: [
      [
        "worker --base-url https://docs.example.org",
        "syncs every night, at once when the last one was missed, and watches builds in between",
      ],
      ['worker --sync-cron "30 3 * * *" --timezone Europe/Berlin', "at half past three in Berlin"],
    ],
  }).action(runCommand(work));
}

function work(context: CommandContext): Promise<never> {
  const { config, log, clock } = context;
  const { syncCron, watchCron, timezone } = config;
  const createJobs = (shared: JobDeps) => [
    createNightlySync({
      ...shared,
      cron: syncCron,
      timezone,
      runSync: withReport(runSync),
      watchRun() {
        // Log lines on a terminal too: bars would stand there from night to night.
        const look = { isTty: false, columns: 80, colour: false };
        const progress = createProgress({ stream: process.stderr, ...look, clock, log });
        return (resource, { pages, records }, totalCount) =>
          progress.update(resource, { pages, records, totalCount });
      },
    }),
    createWatchJob({ ...shared, cron: watchCron, timezone, runWatchRound: withReport(runWatchRound) }),
  ];
  return keepWorking(context, requireBaseUrl(config), "worker", createJobs, (database) =>
    serveMirror(context, database),
  );
}
