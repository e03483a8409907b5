import type { Command } from "commander";
import { defaultValues } from "../../base/config.ts";
import { EXIT, messageOf } from "../../base/errors.ts";
import { createMeters } from "../../base/metrics/meters.ts";
import type { SyncSettings } from "../../mirror/lists/sync-settings.ts";
import { exitCodeOfRun } from "../../mirror/run/close-run.ts";
import { serveMirror } from "../../serve/http/serve-mirror.ts";
import { startSimulation } from "../../simulate/service.ts";
import { createWorld } from "../../simulate/world.ts";
import { withSql } from "../../store/connection/connect.ts";
import { type CommandContext, runCommand } from "../context/run-command.ts";
import { withDatabase } from "../context/with-database.ts";
import { breakLines } from "../output/break-lines.ts";
import { showProgress } from "../sync/sync-command.ts";
import { createCommand } from "../usage/create-command.ts";
import { claimDatabase } from "./claim-database.ts";
import { findFindings } from "./findings.ts";
import { nextSteps } from "./next-steps.ts";
import { renderDemo } from "./render-demo.ts";
import { DAY_MS, type DemoSyncDeps, keepGoing, passDay } from "./simulated-day.ts";

interface Options {
  keep?: true;
  json?: true;
}

/** Indents what a step does. Its command has its own line, so that it can be copied. */
const STEP_INDENT = "      ";

export function demoCommand(summary: string): Command {
  return createCommand({
    name: "demo",
    summary,
    settings: ["dataDir", "sourceTimezone", "httpHost", "httpPort", "httpAllowedHosts"],
    examples: [
      ["demo", "a simulated service, its mirror, a day of syncs and watching, and what was seen"],
      ["demo --keep", "the same, then the service goes on building until Ctrl-C, and the page is served"],
      ["demo --data-dir .docmirror-demo --json", "in another folder, the report as JSON"],
    ],
  })
    .option(
      "--keep",
      "stay up after the report and serve the page: a round of the watch each minute, a sync each hour",
    )
    .option("--json", "print one JSON document")
    .action(runCommand<Options>((context, { options }) => demo(context, options)));
}

async function demo(context: CommandContext, options: Options): Promise<number> {
  const { config, log, signal } = context;
  if (config.databaseUrl !== null) {
    log.warn("DATABASE_URL is set; the demo does not touch that database and uses the embedded Postgres");
  }
  log.info({ data_dir: config.dataDir }, "the demo started");
  // The simulated day ends now, so that `docmirror status` finds a fresh mirror afterwards.
  const world = createWorld({
    startAt: new Date(Math.floor((Date.now() - DAY_MS) / 60_000) * 60_000),
    timeZone: config.sourceTimezone,
  });
  const service = await startSimulation({ world });
  try {
    log.info({ url: service.url }, "the simulated service is up");
    const embedded = { config: { ...config, databaseUrl: null }, log, signal };
    return await withDatabase(embedded, async (database) => {
      const claim = await claimDatabase(database, service.url, { dataDir: config.dataDir, log, signal });
      try {
        const settings = demoSettings(context, database.url, service.url);
        const deps: DemoSyncDeps = { world, settings, log, signal };
        const progress = await context.progress();
        const onFirst = showProgress(progress);
        const { runs, watches, imperfect } = await passDay(deps, onFirst, () => progress.stop());
        const [first] = runs;
        if (first === undefined) return EXIT.bug;
        const connection = { applicationName: "docmirror demo", max: 1 };
        const findings = await withSql(database.url, connection, (sql) => findFindings(sql, first));
        const next = nextSteps({
          settings: context.settings,
          dataDir: config.dataDir,
          serviceUrl: options.keep ? service.url : null,
          buildId: findings.best_watched,
        });
        if (options.json) {
          const places = { service: service.url, database: database.describe };
          await context.out.json({ ...places, runs, watches, ...findings, next });
        } else {
          const width = (context.out.columns ?? Infinity) - STEP_INDENT.length;
          const steps = next.map(({ command, does }) => {
            const lines = breakLines(does, width).map((line) => `${STEP_INDENT}${line}\n`);
            return `  ${command}\n${lines.join("")}`;
          });
          const report = renderDemo({ runs, watches, findings }, context.out);
          await context.out.write(`${report}\nNext steps\n${steps.join("")}`);
        }
        if (options.keep) {
          const kept = { ready: async () => database.url, close: async () => {} };
          const server = await serveMirror(context, kept, { meters: createMeters(), isWorker: false });
          try {
            log.info({ service: service.url, page: server.url }, "the demo stays up; Ctrl-C ends it");
            await keepGoing(deps, (error) => {
              log.error({ error: messageOf(error) }, "a sync failed");
            });
          } finally {
            await server.close();
          }
        }
        return imperfect === null ? EXIT.done : exitCodeOfRun(imperfect);
      } finally {
        await claim.release();
      }
    });
  } finally {
    await service.close();
  }
}

/** The user's settings are for a real service. This one is on loopback and needs no rate limit. */
function demoSettings({ config }: CommandContext, databaseUrl: string, serviceUrl: string): SyncSettings {
  return {
    ...defaultValues(),
    databaseUrl,
    baseUrl: new URL(serviceUrl),
    ratePerSecond: 0,
    fullEveryDays: 7,
    sourceTimezone: config.sourceTimezone,
    stuckAfterMs: config.stuckAfterMs,
    // It has no replicas.
    replicaLagMs: 0,
  };
}
