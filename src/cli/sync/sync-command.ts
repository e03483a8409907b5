import { Option } from "commander";
import { requireBaseUrl } from "../../base/config.ts";
import { EXIT } from "../../base/errors.ts";
import { runDrySync } from "../../mirror/run/dry-run.ts";
import { runSync, type SyncOptions } from "../../mirror/run/run.ts";
import { withContent } from "../../mirror/run/with-content.ts";
import { webhookOf } from "../../notify/webhook.ts";
import { readDefinitions } from "../../report/definitions.ts";
import { withReport } from "../../report/refresh/refresh.ts";
import { RESOURCES, type Resource } from "../../resources/resources.ts";
import { withSql } from "../../store/connection/connect.ts";
import type { OpenDatabase } from "../../store/embedded/open-embedded.ts";
import { migrationStatus } from "../../store/migrate/migrate.ts";
import type { CommandContext } from "../context/run-command.ts";
import { isMirrorAbsent, withDatabase } from "../context/with-mirror.ts";
import type { Progress } from "../output/progress.ts";
import type { CommandDeclaration } from "../usage/create-command.ts";
import { parseResources } from "../usage/flag-values.ts";
import { createSummaryPrinter, METRICS_FILE_OPTION, runOnce, withMetricsFile } from "./after-run.ts";

interface Options {
  full?: true;
  incremental?: true;
  resource?: Resource[];
  dryRun?: true;
  allowMassDelete?: true;
  metricsFile?: string;
  json?: true;
}

export const syncCommand: CommandDeclaration<Options> = {
  settings: ["requests", "database", "sync", "notices"],
  exits: ["partial", "locked", "unprinted"],
  examples: [
    ["sync --base-url https://docs.example.org", "mirrors everything that is due"],
    ["sync --full", "reads every page of every list"],
    ["sync --resource build,project --json", "two lists, the summary as JSON"],
    ["sync --dry-run", "fetches and counts, writes nothing"],
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
      .option(
        "--resource <names>",
        `only these, separated by commas: ${RESOURCES.join(", ")} [default all]`,
        parseResources,
      )
      .addOption(new Option("--dry-run", "fetch and count, write nothing").conflicts("metricsFile"))
      .option(
        "--allow-mass-delete",
        "in this run mark what is gone as deleted, even more than --max-delete-ratio allows",
      )
      .option(...METRICS_FILE_OPTION)
      .option("--json", "print the run summary as one JSON document"),
  run: (context, { options }) => {
    const baseUrl = requireBaseUrl(context.config);
    const webhook = webhookOf(context.config);
    if (options.dryRun && isMirrorAbsent(context.config)) return drySync(context, null, baseUrl, options);
    return withMetricsFile(context, options.metricsFile, (measured) => {
      // The origin has no login. It takes a moment until the database and the service have answered.
      if (!options.dryRun) context.log.info({ service: baseUrl.origin }, "sync started");
      return withDatabase(context, async (database) => {
        if (options.dryRun) return drySync(context, database, baseUrl, options);
        return measured(database.url, async () => {
          const progress = await context.progress();
          const run = syncOptions(context, database.url, baseUrl, options, progress);
          return runOnce(context, database, { baseUrl, webhook, json: options.json === true }, async () => {
            const result = await withContent(withReport(runSync))(run);
            progress.stop();
            return result;
          });
        });
      });
    });
  },
};

/** Counts what a run would do. Without a database everything is new; it makes none. */
async function drySync(
  context: CommandContext,
  database: OpenDatabase | null,
  baseUrl: URL,
  options: Options,
): Promise<number> {
  const progress = await context.progress();
  const sync = syncOptions(context, database?.url ?? "", baseUrl, options, progress);
  const printSummary = await createSummaryPrinter(options.json === true);
  const run = await runDrySync({ ...sync, hasSchema: database !== null && (await hasSchema(database)) });
  await printSummary(run, context.out);
  return run.status === "succeeded" ? EXIT.done : EXIT.partial;
}

function syncOptions(
  { config, clock, log, signal }: CommandContext,
  databaseUrl: string,
  baseUrl: URL,
  options: Options,
  progress: Progress,
): SyncOptions {
  return {
    settings: { ...config, databaseUrl, baseUrl },
    kind: options.full ? "full" : options.incremental ? "incremental" : null,
    resources: options.resource ?? null,
    allowMassDelete: options.allowMassDelete ?? false,
    clock,
    log,
    signal,
    onProgress: showProgress(progress),
  };
}

/** Passes the counts of a run's pages on to the progress display. */
export function showProgress(progress: Progress): NonNullable<SyncOptions["onProgress"]> {
  return (resource, { pages, records }, totalCount, runId) =>
    progress.update(resource, { pages, records, totalCount, runId });
}

async function hasSchema({ url }: OpenDatabase): Promise<boolean> {
  const connection = { applicationName: "docmirror dry run", max: 1 };
  return withSql(url, connection, async (sql) => (await migrationStatus(sql, readDefinitions())).usable);
}
