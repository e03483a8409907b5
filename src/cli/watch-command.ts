import { Option } from "commander";
import { requireBaseUrl } from "../base/config.ts";
import { ConfigError } from "../base/errors.ts";
import { runWatchRound } from "../mirror/run/watch-round.ts";
import { webhookOf } from "../notify/webhook.ts";
import { withReport } from "../report/refresh/refresh.ts";
import { METRICS_FILE_OPTION } from "./sync/metrics-file.ts";
import { runOnce } from "./sync/run-once.ts";
import type { CommandDeclaration } from "./usage/create-command.ts";
import { withFollowUps } from "./worker/follow-up-jobs.ts";
import { keepWorking } from "./worker/keep-working.ts";
import { createWatchJob } from "./worker/run-jobs.ts";

interface Options {
  once?: true;
  metricsFile?: string;
  json?: true;
}

export const command: CommandDeclaration<Options> = {
  settings: ["requests", "database", "watchCron", "timezone", "watch", "notices"],
  exits: ["partial", "locked", "unprinted"],
  examples: [
    ["watch --base-url https://docs.example.org", "a round at once, then one a minute, until it is stopped"],
    ["watch --once --json", "one round, its summary as JSON; for your own scheduler"],
    ['watch --watch-cron "*/5 * * * *"', "every five minutes"],
  ],
  flags: (command) =>
    command
      .option("--once", "one round, then exit")
      .option(...METRICS_FILE_OPTION)
      .addOption(
        new Option("--json", "print the summary of the round as one JSON document").implies({ once: true }),
      ),
  async run(context, { options }) {
    if (options.once) return runOnce(context, options, withReport(runWatchRound));
    const baseUrl = requireBaseUrl(context.config);
    const webhook = webhookOf(context.config);
    if (options.metricsFile !== undefined)
      throw new ConfigError("--metrics-file belongs to a run that ends", { hint: "add --once" });
    const { watchCron: cron, timezone } = context.config;
    return keepWorking(context, baseUrl, "watch", (shared) =>
      withFollowUps(context, webhook, shared, undefined, (afterRun) => [
        createWatchJob({
          ...shared,
          cron,
          timezone,
          runWatchRound: afterRun(runWatchRound),
          logsQuietRounds: true,
        }),
      ]),
    );
  },
};
