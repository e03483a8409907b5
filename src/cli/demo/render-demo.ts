import { styleText } from "node:util";
import { breakLines } from "../output/break-lines.ts";
import { type Cell, renderTable } from "../output/table.ts";
import type { Findings, SuccessRate } from "./findings.ts";
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
  return sections(report)
    .map(({ title, head, rows, right = head.slice(1), none, note }) => {
      const heading = colour ? styleText(["bold", "cyan"], title, { validateStream: false }) : title;
      const table =
        rows.length > 0
          ? renderTable({ head, rows, right, maxCellLength: 60, columns, colour })
          : `${none}\n`;
      return `${heading}\n${colour ? "" : `${"-".repeat(title.length)}\n`}${table}${note ? `${breakNote(note)}\n` : ""}`;
    })
    .join("\n");
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
      rows: day.map((row) => [
        row.resource,
        row.at_first,
        row.new,
        row.updated,
        row.deleted,
        row.restored,
        row.now,
      ]),
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
      rows: transitions.map(({ from_state, to_state, builds, known_within_s }) => [
        from_state ?? "(first sight)",
        to_state,
        builds,
        duration(known_within_s),
      ]),
      none: "none",
      note: "known within: the median interval in which the state was entered",
    },
    {
      title: "Success by project, the ten with the most builds",
      head: ["project", "builds", "finished", "succeeded", "success rate"],
      rows: projects.map((row) => [row.project, ...rateCells(row)]),
      none: "no builds",
      note: `all projects: ${success.succeeded} of ${success.finished} finished builds succeeded, ${percent(success.success_rate)}`,
    },
    {
      title: "References to records that the mirror does not have",
      head: ["resource", "field", "status", "references", "example"],
      right: ["references"],
      rows: unresolved_references.map(({ resource, field, status, references, example }) => [
        resource,
        field,
        status,
        references,
        example,
      ]),
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

function rateCells({ builds, finished, succeeded, success_rate }: SuccessRate): Cell[] {
  return [builds, finished, succeeded, percent(success_rate)];
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
