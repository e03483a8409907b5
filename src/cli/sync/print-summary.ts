import type { ContentSummary, RunSummary, WalkSummary } from "../../mirror/lists/summary.ts";
import { RESOURCES, type Resource } from "../../resources/resources.ts";
import type { Unfinished } from "../../store/schema/runs.ts";
import { breakLines } from "../output/break-lines.ts";
import type { Output } from "../output/output.ts";

/**
 * Gives the function that prints a summary: a line for each resource and one for the run; on a terminal, rare counts have
 * lines of their own. Call it before the run: an upgrade may replace the program's files until the run ends, and JSON
 * needs nothing that draws tables.
 */
export async function createSummaryPrinter(options: { json?: true }) {
  if (options.json) return (run: RunSummary, out: Output) => out.json(run);
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
  const rows = RESOURCES.flatMap((resource) => {
    const walk = run.resources[resource];
    if (!walk) return [];
    const { pages, records, inserted, updated, unchanged, deleted, restored, quarantined } = walk;
    const counts = [pages, records, inserted, updated, unchanged, deleted, restored, quarantined];
    return [[resource, walk.walk, ...counts].slice(0, head.length)];
  });
  const rare = isTty ? RESOURCES.flatMap((resource) => describeRare(resource, run.resources[resource])) : [];
  const reasons = Object.values(run.resources).flatMap(({ reason }) => reason ?? []);
  const notes = [
    ...describeUnfinished(run.unfinished),
    ...rare,
    ...reasons,
    ...(run.warnings ?? []),
    ...describeContent(run.content),
  ];
  const { resolved, unresolved } = run.references;
  // A round of the watch leaves references to the next sync.
  const references =
    run.kind === "watch" ? "" : `, references: ${resolved} resolved, ${unresolved} unresolved`;
  const table =
    rows.length > 0 ? `${renderTable({ head, rows, right: head.slice(2), columns, colour })}\n` : "";
  const summary =
    `${run.run_id === null ? "dry run" : `run ${run.run_id}`}, ${run.kind}: ${run.status} ` +
    `after ${(run.duration_ms / 1000).toFixed(1)} s, ${run.requests} requests, ` +
    `${run.transitions} transitions${references}`;
  const width = columns ?? Infinity;
  const lines = [
    ...breakLines(summary, width),
    ...notes.flatMap((note) => breakLines(note, width - 2).map((line) => `  ${line}`)),
  ];
  return `${table}${lines.map((line) => `${line}\n`).join("")}`;
}

/** Counts of a walk that are 0 on most nights; empty where they are 0. */
function describeRare(resource: Resource, walk: WalkSummary | undefined): string[] {
  const counts = [
    [walk?.restored ?? 0, "restored"],
    [walk?.quarantined ?? 0, "quarantined"],
  ] as const;
  const parts = counts.flatMap(([count, what]) => (count > 0 ? [`${count} ${what}`] : []));
  return parts.length === 0 ? [] : [`${resource}: ${parts.join(", ")}`];
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
  const { fetched, unchanged, failed, left, ended, error, warnings = [] } = content;
  const number = (count: number) => count.toLocaleString("en-US");
  const counts = `${number(fetched)} fetched, ${number(unchanged)} unchanged, ${number(failed)} failed`;
  const rest = left === null ? "" : `, ${number(left)} left`;
  const why = error === undefined ? CONTENT_ENDS[ended] : `; ${error}`;
  return [`pages of files: ${counts}${rest}${why}`, ...warnings];
}

/** What the run left to later ones; empty where it left nothing. */
function describeUnfinished({ deletions, waiting, references, open_builds, deficit }: Unfinished): string[] {
  const number = (count: number) => count.toLocaleString("en-US");
  const counts = [
    [deletions, "deletions to confirm"],
    [waiting, "records that are gone but were seen within the lag of a replica"],
    [references, "references to ask for"],
    [open_builds, "open builds to poll"],
  ] as const;
  const parts = counts.flatMap(([count, what]) => (count > 0 ? [`${number(count)} ${what}`] : []));
  const fewer = `the service counts ${number(deficit)} ${deficit === 1 ? "record" : "records"} fewer than are here: the next sync looks for them`;
  return [
    ...(parts.length === 0 ? [] : [`left for the next run: ${parts.join(", ")}`]),
    ...(deficit === 0 ? [] : [fewer]),
  ];
}
