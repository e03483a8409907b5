import { join } from "node:path";
import { programName, shellWord } from "../../base/config/program.ts";
import { defaultValues, type SettingInForce } from "../../base/config.ts";
import { ConfigError, EXIT, LockedError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { createMeters } from "../../base/metrics/meters.ts";
import type { SyncSettings } from "../../mirror/lists/plan.ts";
import { exitCodeOfRun } from "../../mirror/run/close-run.ts";
import { writeSite } from "../../page/write-site.ts";
import { readDefinitions } from "../../report/definitions.ts";
import { withSnapshot } from "../../report/read-answer.ts";
import { serveMirror } from "../../serve/http/serve-mirror.ts";
import { startSimulation } from "../../simulate/service.ts";
import { createWorld } from "../../simulate/world.ts";
import { connect, withSql } from "../../store/connection/connect.ts";
import { type Sql, withTransaction } from "../../store/connection/sql.ts";
import { withStoreErrors } from "../../store/connection/store-errors.ts";
import type { OpenDatabase } from "../../store/embedded/open-embedded.ts";
import { tryReserve } from "../../store/ledger/leases.ts";
import { readDemoMark, writeDemoMark } from "../../store/ledger/mirrored-service.ts";
import { prepareDatabase } from "../../store/migrate/prepare.ts";
import type { CommandContext } from "../context/run-command.ts";
import { showPath, withConnections } from "../context/with-mirror.ts";
import { breakLines } from "../output/output.ts";
import { showProgress } from "../sync/sync-command.ts";
import type { CommandDeclaration } from "../usage/create-command.ts";
import { findFindings, renderDemo } from "./findings.ts";
import { DAY_MS, type DemoSyncDeps, keepGoing, passDay } from "./simulated-day.ts";

/** Indents what a step does. Its command has its own line, so that it can be copied. */
const STEP_INDENT = "      ";

export const command: CommandDeclaration<{ keep?: true }> = {
  isForPeople: true,
  settings: ["dataDir", "sourceTimezone", "httpHost", "httpPort", "httpAllowedHosts"],
  exits: ["partial", "database", "locked"],
  examples: [
    ["demo", "a simulated service, its mirror, a day of syncs and watching, and what was seen"],
    ["demo --keep", "the same, then the service goes on building until Ctrl-C, and the page is served"],
    ["demo --data-dir .docmirror-demo --json", "in another folder, the report as JSON"],
  ],
  hasJson: true,
  flags: (command) =>
    command.option(
      "--keep",
      "stay up after the report and serve the page: a round of the watch each minute, a sync each hour",
    ),
  run: (context, { options }) => demo(context, options.keep === true),
};

async function demo(context: CommandContext, isKept: boolean): Promise<number> {
  const { clock, config, log, signal } = context;
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
    const embedded = { ...context, config: { ...config, databaseUrl: null } };
    return await withConnections(embedded, async (database, connections) => {
      const claim = await claimDatabase(database, connections.sql, service.url, {
        dataDir: config.dataDir,
        log,
        signal,
      });
      try {
        const settings = demoSettings(context, service.url);
        const deps: DemoSyncDeps = { world, settings, connections, log, signal };
        const progress = await context.progress();
        const onFirst = showProgress(progress);
        const { runs, watches, imperfect } = await passDay(deps, onFirst, () => progress.stop());
        const [first] = runs;
        if (first === undefined) return EXIT.bug;
        const findings = await findFindings(connections.sql, first);
        const folder = `${config.dataDir}-report`;
        await withSnapshot(
          connections.sql,
          (tx) => writeSite(tx, folder, { ...config, clock, log }, { withPeople: true, signal }),
          signal,
        );
        const next = nextSteps({
          settings: context.settings,
          dataDir: config.dataDir,
          serviceUrl: isKept ? service.url : null,
          folder,
          buildId: findings.best_watched,
        });
        const places = { service: service.url, database: database.describe, report: folder };
        await context.print({ ...places, runs, watches, ...findings, next }, () => {
          const width = (context.out.columns ?? Infinity) - STEP_INDENT.length;
          const steps = next.map(({ command, does }) => {
            const lines = breakLines(does, width).map((line) => `${STEP_INDENT}${line}\n`);
            return `  ${command}\n${lines.join("")}`;
          });
          return `${renderDemo({ runs, watches, findings }, context.out)}\nNext steps\n${steps.join("")}`;
        });
        if (isKept) {
          const kept = { ready: async () => connections };
          const server = await serveMirror(context, kept, { meters: createMeters(), isWorker: false });
          try {
            log.info({ service: service.url, page: server.url }, "the demo stays up; Ctrl-C ends it");
            await keepGoing(deps);
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
function demoSettings({ config }: CommandContext, serviceUrl: string): SyncSettings {
  return {
    ...defaultValues(),
    baseUrl: new URL(serviceUrl),
    ratePerSecond: 0,
    fullEveryDays: 7,
    sourceTimezone: config.sourceTimezone,
    stuckAfterMs: config.stuckAfterMs,
    // It has no replicas.
    replicaLagMs: 0,
  };
}

/** A number that no other program uses on this database. */
const DEMO_LOCK = "5072386416925104713";

/**
 * Makes the database an empty mirror for a demo, and keeps other demos out until `release` is called, once or twice.
 * Drops the content of an earlier demo. Never touches other content: it throws ConfigError then. Throws LockedError
 * while another demo or a sync runs there.
 */
async function claimDatabase(
  database: OpenDatabase,
  sql: Sql,
  serviceUrl: string,
  { dataDir, log, signal }: { dataDir: string; log: Logger; signal: AbortSignal },
): Promise<{ release(): Promise<void> }> {
  const lock = connect(database.url, { applicationName: "docmirror demo", max: 1 });
  const release = () => lock.end({ timeout: 1 });
  try {
    await withStoreErrors("make room for the demo", async () => {
      const [taken] = await lock<{ locked: boolean }[]>`select pg_try_advisory_lock(${DEMO_LOCK}) as locked`;
      if (!taken?.locked) {
        throw new LockedError(`another demo is using ${dataDir}`, {
          hint: "end it with Ctrl-C, or give this one another folder: --data-dir .docmirror-demo",
        });
      }
      await empty(database.url, serviceUrl, dataDir, log);
    });
    await prepareDatabase(database, sql, readDefinitions(), log, signal);
  } catch (error) {
    await release();
    throw error;
  }
  return { release };
}

async function empty(url: string, serviceUrl: string, dataDir: string, log: Logger): Promise<void> {
  // An open transaction of another session must not block the demo forever.
  const options = { applicationName: "docmirror demo", max: 1, session: { lock_timeout: "10s" } };
  await withSql(url, options, async (sql) => {
    const earlier = await readDemoMark(sql);
    if (earlier === null && (await hasRows(sql))) {
      const message = `${dataDir} holds a mirror that was not made by a demo; the demo does not touch it`;
      const hint = "give the demo another folder: `docmirror demo --data-dir .docmirror-demo`";
      throw new ConfigError(message, { hint });
    }
    // The mark comes first: if this demo fails from here on, the next one may still drop its content.
    await writeDemoMark(sql, serviceUrl);
    if (earlier === null) return;
    log.info({ data_dir: dataDir }, "replacing the mirror of an earlier demo");
    await withTransaction(sql, async (tx) => {
      if (!(await tryReserve(tx, "run")))
        throw new LockedError(`a run is under way in ${dataDir}`, { hint: "wait until it has ended" });
      await tx`drop schema if exists report, report_people, rollup, mirror, sync cascade`;
    });
  });
}

async function hasRows(sql: Sql): Promise<boolean> {
  const tables = await sql<{ schema: string; name: string }[]>`
    select schemaname as schema, tablename as name from pg_tables where schemaname in ('mirror', 'sync')`;
  for (const { schema, name } of tables) {
    const [found] = await sql<{ filled: boolean }[]>`
      select exists (select from ${sql(schema)}.${sql(name)}) as filled`;
    if (found?.filled) return true;
  }
  return false;
}

interface NextStepFacts {
  settings: readonly SettingInForce[];
  dataDir: string;
  /** The report page as files. */
  folder: string;
  /** Set while the simulated service stays up. */
  serviceUrl: string | null;
  /** A build whose transitions were seen; null when there is none. */
  buildId: string | null;
}

const QUERY = "select day, builds, success_rate from report.success_rate_daily order by day desc limit 7";

/** The commands to type after the demo, in the same folder. They contain no password, and need no other program. */
function nextSteps({ settings, dataDir, folder: site, serviceUrl, buildId }: NextStepFacts) {
  const program = programName();
  const shown = showPath(dataDir);
  // The next command finds the other sources by itself.
  const isFlag = settings.some(({ key, source }) => key === "dataDir" && source === "flag");
  const folder = isFlag ? ` --data-dir ${shellWord(shown)}` : "";
  const steps = [
    {
      command: join(showPath(site), "index.html"),
      does: "the report page as a folder of files: open it in a browser",
    },
    {
      command: `${program} serve${folder}`,
      does: "the same page with its filters and search, and the API, below /api/v1/",
    },
    { command: `${program} status${folder}`, does: "how fresh the mirror is, its runs, open builds" },
    {
      command: `${program} report failing_now${folder}`,
      does: "what fails now; without a name it lists all reports",
    },
    {
      command: `${program} sql "${QUERY}"${folder}`,
      does: "a question of your own; docs/cookbook.md has more",
    },
    {
      command: `${program} database${folder}`,
      does: "keeps the database up and prints its URL, with --with-password for psql or a BI tool",
    },
  ];
  if (buildId !== null) {
    steps.splice(3, 0, {
      command: `${program} explain build ${shellWord(buildId)}${folder}`,
      does: "one build: when it entered each state, and how that is known",
    });
  }
  if (serviceUrl !== null) {
    steps.push({
      command: `${program} get build --limit 3 --base-url ${serviceUrl}`,
      does: "asks the simulated service, which is still up",
    });
  }
  steps.push({
    command: `${program} sync --base-url https://docs.example.org --data-dir .docmirror-real`,
    does: "mirrors a real service, in another folder",
  });
  return steps;
}
