import { randomBytes } from "node:crypto";
import { access, chmod, constants, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { ConfigError, EXIT, messageOf, StoppedError } from "../../base/errors.ts";
import { counted, grouped } from "../../base/text.ts";
import type { ContentSummary, RunSummary } from "../../mirror/lists/summary.ts";
import { exitCodeOfRun, type RunResult } from "../../mirror/run/close-run.ts";
import { notify } from "../../notify/notify.ts";
import type { Webhook } from "../../notify/webhook.ts";
import { readDefinitions } from "../../report/definitions.ts";
import type { ReportedResult } from "../../report/refresh/refresh.ts";
import { RESOURCES } from "../../resources/resources.ts";
import type { Sql } from "../../store/connection/sql.ts";
import type { OpenDatabase } from "../../store/embedded/open-embedded.ts";
import type { Connections } from "../../store/ledger/connections.ts";
import { assertNotDemo } from "../../store/ledger/mirrored-service.ts";
import { prepareDatabase } from "../../store/migrate/prepare.ts";
import type { Unfinished } from "../../store/schema/runs.ts";
import type { CommandContext } from "../context/run-command.ts";
import { breakLines, type Output, whenStored } from "../output/output.ts";

const NOTICES_WITHIN_MS = 30_000;
/** A try that has begun may last 15 s. */
const BEGIN_WITHIN_MS = 14_000;

/**
 * Makes one run on a database that was opened: brings its schema up to date, prints the summary, sends notices. Gives the
 * exit code: partial where only the reports failed. Throws the run's error, and a stop of the refresh.
 */
export async function runOnce(
  context: CommandContext,
  database: OpenDatabase,
  { sql }: Connections,
  { baseUrl, webhook, json }: { baseUrl: URL; webhook: Webhook | null; json: boolean },
  run: () => Promise<RunResult & ReportedResult>,
): Promise<number> {
  await assertNotDemo(sql, baseUrl);
  await prepareDatabase(database, sql, readDefinitions(), context.log, context.signal);
  const printSummary = await createSummaryPrinter(json);
  const result = await run();
  const { summary, error, reportError } = result;
  const printing = whenStored(printSummary(summary, context.out));
  const unprinted = await printing.then(
    () => null,
    (fault: unknown) => fault,
  );
  await notifyAfterRun(context, webhook, sql);
  if (summary.status === "failed" || summary.status === "interrupted") throw error;
  if (reportError instanceof StoppedError) throw reportError;
  if (unprinted !== null) throw unprinted;
  const code = exitCodeOfRun(result);
  return code === EXIT.done && reportError !== null ? EXIT.partial : code;
}

/** Notes and sends the notices of a run, in 30 s at most. A failure is logged: the next run sends what is left. */
async function notifyAfterRun(
  { config, clock, log, signal: stop }: CommandContext,
  webhook: Webhook | null,
  sql: Sql,
): Promise<void> {
  if (webhook === null || stop.aborted) return;
  const signal = AbortSignal.any([stop, AbortSignal.timeout(NOTICES_WITHIN_MS)]);
  try {
    const options = { ...config, sql, webhook, beginWithinMs: BEGIN_WITHIN_MS, clock, log, signal };
    const { error } = await notify(options);
    if (error !== null) throw new Error(error);
  } catch (error) {
    if (!stop.aborted)
      log.warn({ error: messageOf(error) }, "could not send all notices; the next run sends the rest");
  }
}

/**
 * Gives the function that prints a summary: a line for each resource and one for the run; on a terminal, rare counts have
 * lines of their own. Call it before the run: an upgrade may replace the program's files until the run ends, and JSON
 * needs nothing that draws tables.
 */
export async function createSummaryPrinter(isJson: boolean) {
  if (isJson) return (run: RunSummary, out: Output) => out.json(run);
  const { renderTable } = await import("../output/table.ts");
  return (run: RunSummary, out: Output) => out.write(renderSummary(run, out, renderTable));
}

function renderSummary(
  run: RunSummary,
  { columns, colour, isTty }: Output,
  renderTable: typeof import("../output/table.ts").renderTable,
): string {
  const common = ["resource", "walk", "pages", "records", "new", "updated", "unchanged", "deleted"];
  const head = isTty ? common : [...common, "restored", "quarantined"];
  const walks = RESOURCES.flatMap((resource) => {
    const walk = run.resources[resource];
    return walk ? [{ resource, ...walk }] : [];
  });
  const rows = walks.map(({ resource, walk, pages, records, inserted, updated, unchanged, ...rest }) => {
    const counts = [
      pages,
      records,
      inserted,
      updated,
      unchanged,
      rest.deleted,
      rest.restored,
      rest.quarantined,
    ];
    return [resource, walk, ...counts].slice(0, head.length);
  });
  const notes = [
    ...(isTty ? describeLeft(run) : describeUnfinished(run.unfinished)),
    ...walks.flatMap(({ reason }) => reason ?? []),
    ...(run.warnings ?? []),
    ...describeContent(run.content),
  ];
  const { resolved, unresolved } = run.references;
  // A round of the watch leaves references to the next sync.
  const references =
    run.kind === "watch"
      ? ""
      : `, references: ${resolved} resolved, ${unresolved} to records that are not here`;
  const table =
    rows.length > 0 ? `${renderTable({ head, rows, right: head.slice(2) }, { columns, colour })}\n` : "";
  const summary =
    `run ${run.run_id}, ${run.kind}: ${run.status} ` +
    `after ${(run.duration_ms / 1000).toFixed(1)} s, ${run.requests} requests, ` +
    `${run.transitions} transitions${references}`;
  const width = columns ?? Infinity;
  const lines = [
    ...breakLines(summary, width),
    ...notes.flatMap((note) => breakLines(note, width - 2).map((line) => `  ${line}`)),
  ];
  return `${table}${lines.map((line) => `${line}\n`).join("")}`;
}

/** What the run left to later ones, and the counts of its walks that are 0 on most nights; empty where there is none. */
export function describeLeft({ unfinished, resources }: Pick<RunSummary, "unfinished" | "resources">) {
  const rare = Object.entries(resources).flatMap(([resource, walk]) => {
    const kinds = ["restored", "quarantined"] as const;
    const parts = kinds.flatMap((kind) => (walk[kind] > 0 ? [`${walk[kind]} ${kind}`] : []));
    return parts.length === 0 ? [] : [`${resource}: ${parts.join(", ")}`];
  });
  return [...describeUnfinished(unfinished), ...rare];
}

const CONTENT_ENDS: Record<ContentSummary["ended"], string> = {
  done: "",
  budget: "; the time for one sync was up",
  lost: "; their host does not answer",
  stopped: "; stopped",
  busy: "; another sync is fetching them",
  failed: "",
};

/** What became of the pages of the files; empty where none were to be fetched. */
function describeContent(content: ContentSummary | undefined): string[] {
  if (content === undefined) return [];
  const { fetched, unchanged, failed, left_out, left, ended, error, warnings = [] } = content;
  const counts = `${grouped(fetched)} fetched, ${grouped(unchanged)} unchanged, ${grouped(failed)} failed`;
  const kept = left_out === 0 ? "" : `, ${grouped(left_out)} left out by robots.txt`;
  const rest = `${kept}${left === null ? "" : `, ${grouped(left)} left`}`;
  const why = error === undefined ? CONTENT_ENDS[ended] : `; ${error}`;
  return [`pages of files: ${counts}${rest}${why}`, ...warnings];
}

function describeUnfinished({ deletions, waiting, references, open_builds, deficit }: Unfinished): string[] {
  const counts = [
    [deletions, "deletions to confirm"],
    [waiting, "records that are gone but were seen within the lag of a replica"],
    [references, "references to ask for"],
    [open_builds, "open builds to poll"],
  ] as const;
  const parts = counts.flatMap(([count, what]) => (count > 0 ? [`${grouped(count)} ${what}`] : []));
  const fewer = `the service counts ${counted(deficit, "record")} fewer than are here: the next sync looks for them`;
  return [
    ...(parts.length === 0 ? [] : [`left for the next run: ${parts.join(", ")}`]),
    ...(deficit === 0 ? [] : [fewer]),
  ];
}

/** How long the end of a run waits for the figures. */
const FIGURES_WITHIN_MS = 5000;
/** The agent that reads the file runs as another user as a rule. */
const MODE = 0o644;

/** Does the work of a run on a database, and writes the file when it has ended, in whatever way. */
type Measured = <T>(databaseUrl: string, work: () => Promise<T>) => Promise<T>;

export const METRICS_FILE_OPTION = [
  "--metrics-file <path>",
  "write the metrics of the mirror to this file at the end, for node_exporter's textfile collector",
] as const;

/**
 * Writes the metrics of the mirror to a file after a run. The file holds what the database says then, of all runs, so
 * that all commands of a mirror can share one file. When no database could be opened it says just that. A file that
 * cannot be written is logged, and the run's result stays. Throws ConfigError before the run when the folder cannot be
 * used. Without a path `use` runs alone.
 */
export async function withMetricsFile<T>(
  context: CommandContext,
  path: string | undefined,
  use: (measured: Measured) => Promise<T>,
): Promise<T> {
  if (path === undefined) return use((_url, work) => work());
  const file = resolve(path);
  await assertWritable(file);
  const describeMirror = await createDescriber(context);
  let isWritten = false;
  const write = async (databaseUrl: string | null) => {
    isWritten = true;
    try {
      await replaceFile(file, await describeMirror(databaseUrl));
    } catch (error) {
      context.log.error({ file, error: messageOf(error) }, "could not write the metrics file");
    }
  };
  try {
    return await use(async (databaseUrl, work) => {
      try {
        return await work();
      } finally {
        await write(databaseUrl);
      }
    });
  } finally {
    if (!isWritten) await write(null);
  }
}

async function assertWritable(file: string): Promise<void> {
  const folder = dirname(file);
  const refuse = (why: string) =>
    new ConfigError(`could not write the metrics file ${file}: ${why}`, {
      hint: "--metrics-file takes the path of a file in a folder that is there and that docmirror may write to",
    });
  const facts = await stat(folder).catch(() => null);
  if (facts?.isDirectory() !== true) throw refuse("its folder is not there");
  if ((await stat(file).catch(() => null))?.isDirectory() === true) throw refuse("it is a folder");
  await access(folder, constants.W_OK).catch(() => {
    throw refuse("its folder may not be written to");
  });
}

/**
 * Gives the same text as `/metrics`, without what only a process that stays up can tell. What it needs is loaded before the
 * run, because an upgrade may replace the program's files meanwhile; runs without a metrics file do not wait for it.
 */
async function createDescriber({ config, clock, log }: CommandContext) {
  const { createBuildInfoRegistry } = await import("../../base/metrics/meters.ts");
  const { createFigureRegistry, createReadFigures } = await import("../../report/status/figures.ts");
  const { createBoundedReader } = await import("../../serve/http/served-mirror.ts");
  const program = createBuildInfoRegistry();
  return async (databaseUrl: string | null): Promise<string> => {
    const mirror = { url: () => databaseUrl, reopen() {} };
    const { read, close } = createBoundedReader(mirror, FIGURES_WITHIN_MS, clock);
    const readFigures = createReadFigures(read, { ...config, isWorker: false }, log);
    try {
      const figures = databaseUrl === null ? createFigureRegistry(false, null) : await readFigures();
      return `${await figures.metrics()}\n${await program.metrics()}`;
    } finally {
      await close();
    }
  };
}

/** The collector may read at any moment: it must find the old file or the new one, and never a part. */
async function replaceFile(file: string, text: string): Promise<void> {
  // The collector reads only names that end in .prom.
  const draft = `${file}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    // Others may write to the folder: a link that they put there is not followed.
    await writeFile(draft, text, { flag: "wx" });
    await chmod(draft, MODE);
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
