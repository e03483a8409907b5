import { counted, grouped } from "../../base/text.ts";
import type { ContentSummary, RunSummary } from "../../mirror/lists/summary.ts";
import { RESOURCES } from "../../resources/resources.ts";
import type { Unfinished } from "../../store/schema/runs.ts";
import { breakLines, type Output, paragraph } from "../output/output.ts";

/** What the table has of each walk. */
const FACTS = [
  "resource",
  "walk",
  "pages",
  "records",
  "inserted",
  "updated",
  "unchanged",
  "deleted",
] as const;
/** Counts that are 0 on most nights. */
const RARE = ["restored", "quarantined"] as const;

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
  out: Output,
  renderTable: typeof import("../output/table.ts").renderTable,
): string {
  const { isTty, columns = Number.POSITIVE_INFINITY } = out;
  const facts = isTty ? FACTS : [...FACTS, ...RARE];
  const head = facts.map((fact) => (fact === "inserted" ? "new" : fact));
  const walks = RESOURCES.flatMap((resource) => {
    const walk = run.resources[resource];
    return walk ? [{ resource, ...walk }] : [];
  });
  const rows = walks.map((walk) => facts.map((fact) => walk[fact]));
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
  const table = rows.length > 0 ? `${renderTable({ head, rows }, out)}\n` : "";
  const summary =
    `run ${run.run_id}, ${run.kind}: ${run.status} ` +
    `after ${(run.duration_ms / 1000).toFixed(1)} s, ${run.requests} requests, ` +
    `${run.transitions} transitions${references}`;
  const lines = notes.flatMap((note) => breakLines(note, columns - 2).map((line) => `  ${line}\n`));
  return `${table}${paragraph(summary, out)}${lines.join("")}`;
}

/** The work that the run left to later ones, and the counts of its walks that are 0 on most nights; empty where there is none. */
export function describeLeft({ unfinished, resources }: Pick<RunSummary, "unfinished" | "resources">) {
  const rare = Object.entries(resources).flatMap(([resource, walk]) => {
    const parts = RARE.flatMap((kind) => (walk[kind] > 0 ? [`${walk[kind]} ${kind}`] : []));
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

/** The result for the pages of the files; empty where none were to be fetched. */
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
