import { type Command, InvalidArgumentError, Option } from "commander";
import { formatSpan } from "../builds/format-span.ts";
import { duration } from "../config/setting-values.ts";
import { EXIT } from "../errors.ts";
import { findStatus, type MirrorStatus, type RunRow } from "../sync/find-status.ts";
import { breakLines } from "./break-lines.ts";
import { createCommand } from "./create-command.ts";
import type { Output } from "./output.ts";
import { runCommand } from "./run-command.ts";
import { renderTable } from "./table.ts";
import { withMirror } from "./with-mirror.ts";

interface Options {
  maxAge?: number;
  json?: true;
}

export function statusCommand(summary: string): Command {
  return createCommand({
    name: "status",
    summary,
    settings: ["databaseUrl", "dataDir", "stuckAfterMs", "sourceTimezone"],
    examples: [
      ["status", "how fresh the mirror is, the last runs, open builds"],
      ["status --max-age 30h", "exits 11 when any list is older, as a health check"],
    ],
  })
    .addOption(
      new Option(
        "--max-age <duration>",
        "exit 11 when the oldest list is older than this, such as 30h",
      ).argParser(parseAge),
    )
    .option("--json", "print one JSON document")
    .action(
      runCommand<Options>((context, { options }) =>
        withMirror(context, { command: "status", max: 4 }, async (sql, database) => {
          const { config, clock, out } = context;
          const now = clock.now();
          const status = await findStatus(sql, { ...config, now });
          const { age_ms, oldest_list } = status;
          const isStale = options.maxAge !== undefined && (age_ms === null || age_ms > options.maxAge);
          if (options.json) await out.json({ database: database.describe, stale: isStale, ...status });
          else await out.write(render(status, out));
          if (!isStale) return EXIT.done;
          const { resource, why } = oldest_list;
          context.log.error({ resource, reason: `the ${resource} list ${why}` }, "the mirror is too old");
          return EXIT.stale;
        }),
      ),
    );
}

function parseAge(text: string): number {
  const parsed = duration(text);
  if ("fault" in parsed) throw new InvalidArgumentError(`It ${parsed.fault}.`);
  return parsed.value;
}

function render(status: MirrorStatus, out: Output): string {
  const { colour, columns } = out;
  const { age_ms, oldest_list, clock_faults } = status;
  const age = age_ms === null ? "not known" : `${formatSpan(age_ms)} ago`;
  const freshness = `fresh as of ${status.last_good_at ?? "never"} (${age}): the ${oldest_list.resource} list ${oldest_list.why}`;
  const resources = renderTable({
    head: ["resource", "rows", "last good walk", "walk"],
    rows: status.resources.map(({ resource, rows, last_good_at, walk }) => [
      resource,
      rows,
      last_good_at === null ? "never" : toSecond(last_good_at),
      walk,
    ]),
    right: ["rows"],
    columns,
    colour,
  });
  const runs = renderTable({
    head: ["run", "kind", "status", "started", "took", "requests"],
    rows: status.runs.map((run) => [
      run.run_id,
      run.kind,
      run.status,
      toSecond(run.started_at),
      tookOf(run),
      run.requests,
    ]),
    right: ["run", "took", "requests"],
    columns,
    colour,
  });
  const open = renderTable({
    head: ["state", "open", "stuck", "vanished", "oldest"],
    rows: status.open_builds.map((row) => [row.state, row.open, row.stuck, row.vanished, row.oldest]),
    right: ["open", "stuck", "vanished"],
    columns,
    colour,
  });
  return [
    paragraphs([freshness, ...clock_faults], columns),
    resources,
    status.runs.length > 0 ? `${runs}${errorsOf(status.runs, columns)}` : "no runs yet\n",
    renderRound(status.last_watch_round, columns),
    status.open_builds.length > 0 ? open : "no open builds\n",
    `${status.quarantined} records in quarantine, ${status.unresolved_references} unresolved references\n`,
  ].join("\n");
}

function renderRound(round: RunRow | null, columns: number | undefined): string {
  if (round === null) return "no round of the watch yet\n";
  const { run_id, status, started_at, error } = round;
  const text = `last round of the watch: run ${run_id}, ${status}, ${toSecond(started_at)}${error ? `: ${error}` : ""}`;
  return paragraphs([text], columns);
}

/** The errors of runs, each as a paragraph: they are too long for a column. */
function errorsOf(runs: readonly RunRow[], columns: number | undefined): string {
  const errors = runs.flatMap(({ run_id, error }) => (error === null ? [] : [`run ${run_id}: ${error}`]));
  return paragraphs(errors, columns);
}

/** Each text on its own lines. */
function paragraphs(texts: readonly string[], columns: number | undefined): string {
  return texts
    .flatMap((text) => breakLines(text, columns ?? Infinity))
    .map((line) => `${line}\n`)
    .join("");
}

/** A moment without fractions of its second; `--json` has them. */
function toSecond(moment: string | null): string {
  return (moment ?? "").replace(/\.\d+/, "");
}

function tookOf({ started_at, finished_at }: RunRow): string | null {
  return finished_at === null ? null : formatSpan(Date.parse(finished_at) - Date.parse(started_at));
}
