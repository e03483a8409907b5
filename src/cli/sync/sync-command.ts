import { Option } from "commander";
import { createHostPace } from "../../mirror/api/host-pace.ts";
import { runSync, type SyncOptions, type SyncResult } from "../../mirror/run/run.ts";
import { withContent } from "../../mirror/run/with-content.ts";
import { withCheck } from "../../mirror/verify/verify.ts";
import { type ReportedResult, withReport } from "../../report/refresh/refresh.ts";
import { RESOURCES, type Resource } from "../../resources/resources.ts";
import { findRecord } from "../../serve/catalog/mirror-catalog.ts";
import type { Progress } from "../output/progress.ts";
import type { CommandDeclaration } from "../usage/create-command.ts";
import { RESOURCES_OPTION } from "../usage/flag-values.ts";
import { METRICS_FILE_OPTION } from "./metrics-file.ts";
import { runOnce } from "./run-once.ts";

interface Options {
  full?: true;
  incremental?: true;
  resource?: Resource[];
  allowMassDelete?: true;
  metricsFile?: string;
  json?: true;
}

export const command: CommandDeclaration<Options> = {
  settings: ["requests", "database", "sync", "notices"],
  exits: ["partial", "locked", "unprinted"],
  examples: [
    ["sync --base-url https://docs.example.org", "mirrors everything that is due"],
    ["sync --full", "reads every page of every list"],
    ["sync --resource build,project --json", "two lists, the summary as JSON"],
    ["sync --metrics-file /var/lib/node_exporter/docmirror.prom", "from a timer, with metrics"],
    ["sync --content", "then fetches the pages of the files too, for the searches"],
    [
      "sync --full --allow-mass-delete",
      "after a cleanup of the service: marks any number of records deleted",
    ],
  ],
  words: { "--resource": RESOURCES },
  flags: (command) =>
    command
      .addOption(new Option("--full", "read every list to its end").conflicts("incremental"))
      .option("--incremental", "read only the head of the builds, down to what is known")
      .option(...RESOURCES_OPTION)
      .option(
        "--allow-mass-delete",
        "in this run mark what is gone as deleted, even more than --max-delete-ratio allows",
      )
      .option(...METRICS_FILE_OPTION)
      .option("--json", "print the run summary as one JSON document"),
  run: (context, { options }) => {
    // The origin has no login.
    const onBegin = ({ origin: service }: URL) => context.log.info({ service }, "sync started");
    return runOnce(context, { ...options, onBegin }, async (run) => {
      const progress = await context.progress();
      const result = await withContent(runChecked)({
        ...run,
        pace: createHostPace({ ...context.config, clock: run.clock }),
        kind: options.full ? "full" : options.incremental ? "incremental" : null,
        resources: options.resource ?? null,
        allowMassDelete: options.allowMassDelete ?? false,
        onProgress: showProgress(progress),
      });
      progress.stop();
      return result;
    });
  },
};

/** The reports are refreshed beside the check: it compares what the run has committed, and a refresh changes none of that. */
async function runChecked(options: SyncOptions): Promise<SyncResult & ReportedResult> {
  const running = runSync(options);
  const [result] = await Promise.all([
    withReport(() => running)(options),
    withCheck(() => running, findRecord)(options),
  ]);
  return result;
}

/** Passes the counts of a run's pages on to the progress display. */
export function showProgress(progress: Progress): NonNullable<SyncOptions["onProgress"]> {
  return (resource, { pages, records }, totalCount, runId) =>
    progress.update(resource, { pages, records, totalCount, runId });
}
