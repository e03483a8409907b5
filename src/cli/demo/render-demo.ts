import { styleText } from "node:util";
import { breakLines } from "../output/break-lines.ts";
import { type Cell, renderTable } from "../output/table.ts";
import type { Findings } from "./findings.ts";
import { type DemoRun, type DemoWatch, sumOf } from "./simulated-day.ts";

interface Section {
  title: string;
  head: readonly string[];
  rows: readonly (readonly Cell[])[];
  right?: readonly string[];
  /** Shown instead of a table without rows. */
  none: string;
  /** A line below the table. */
  note?: string;
}

/** The data of the demo's report. */
export interface DemoReport {
  runs: readonly DemoRun[];
  watches: readonly DemoWatch[];
  findings: Findings;
}

/** The demo's report for a terminal: tables under headings. */
export function renderDemo(
  report: DemoReport,
  { colour, columns }: { colour: boolean; columns?: number | undefined },
): string {
  const breakNote = (note: string) => breakLines(note, columns ?? Infinity).join("\n");
  const texts = sections(report).map(({ title, head, rows, right = head.slice(1), none, note }) => {
    const heading = colour
      ? styleText(["bold", "cyan"], title, { validateStream: false })
      : `${title}\n${"-".repeat(title.length)}`;
    const table = renderTable({ head, rows, right, maxCellLength: 60, columns, colour });
    return `${heading}\n${rows.length > 0 ? table : `${none}\n`}${note ? `${breakNote(note)}\n` : ""}`;
  });
  return texts.join("\n");
}

function sections({ runs, watches, findings }: DemoReport): Section[] {
  const { day, changed_fields, build_states, transitions, success, projects, unresolved_references } =
    findings;
  return [
    {
      title: "The runs of one simulated day",
      head: ["virtual time", "run", "requests", "new", "updated", "transitions", "took"],
      right: ["requests", "new", "updated", "transitions", "took"],
      rows: [...runs.map(syncRow), ...watches.map(watchRow)].sort(([one], [other]) => (one < other ? -1 : 1)),
      none: "no syncs",
    },
    {
      title: "Changes during the day",
      head: ["resource", "at first", "new", "updated", "deleted", "restored", "now"],
      rows: day.map(({ resource, at_first, updated, deleted, restored, ...row }) => {
        return [resource, at_first, row.new, updated, deleted, restored, row.now];
      }),
      none: "no records",
      note: `changed most: ${changed_fields.map(({ resource, field, changes }) => `${resource}.${field} ${changes}`).join(", ") || "nothing"}`,
    },
    {
      title: "Builds by state",
      head: ["state", "builds", "oldest", "newest"],
      rows: build_states.map(({ state, builds, oldest, newest }) => [state, builds, oldest, newest]),
      none: "no builds",
    },
    {
      title: "Transitions seen since the first sync",
      head: ["from", "to", "builds", "known within"],
      right: ["builds", "known within"],
      rows: transitions.map(({ from_state, to_state, builds, known_within_s }) => {
        return [from_state ?? "(first sight)", to_state, builds, duration(known_within_s)];
      }),
      none: "none",
      note: "known within: the median interval in which the state was entered",
    },
    {
      title: "Success by project, the ten with the most builds",
      head: ["project", "builds", "finished", "succeeded", "success rate"],
      rows: projects.map(({ project, builds, finished, succeeded, success_rate }) => {
        return [project, builds, finished, succeeded, percent(success_rate)];
      }),
      none: "no builds",
      note: `all projects: ${success.succeeded} of ${success.finished} finished builds succeeded, ${percent(success.success_rate)}`,
    },
    {
      title: "References to records that the mirror does not have",
      head: ["resource", "field", "status", "references", "example"],
      right: ["references"],
      rows: unresolved_references.map(({ resource, field, status, references, example }) => {
        return [resource, field, status, references, example];
      }),
      none: "none",
    },
  ];
}

function syncRow(run: DemoRun): [string, ...Cell[]] {
  const counts = [run.requests, sumOf(run, "inserted"), sumOf(run, "updated"), run.transitions];
  const kind = run.status === "succeeded" ? run.kind : `${run.kind}, ${run.status}`;
  return [minute(run.started_at), kind, ...counts, seconds(run.took_ms)];
}

function watchRow(watch: DemoWatch): [string, ...Cell[]] {
  const counts = [watch.requests, watch.inserted, watch.updated, watch.transitions];
  const kind = `watch, ${watch.rounds} rounds`;
  return [minute(watch.started_at), kind, ...counts, seconds(watch.took_ms)];
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function percent(rate: number | null): string {
  return rate === null ? "none finished" : `${(rate * 100).toFixed(1)} %`;
}

function minute(isoTime: string): string {
  return isoTime.slice(0, 16).replace("T", " ");
}

function duration(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
