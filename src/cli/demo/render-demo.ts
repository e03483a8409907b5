import { styleText } from "node:util";
import { type Cell, renderTable } from "../table.ts";
import type { Findings, SuccessRate } from "./findings.ts";
import { type DemoRun, sumOf } from "./simulated-day.ts";

interface Section {
  title: string;
  head: readonly string[];
  rows: readonly (readonly Cell[])[];
  right?: readonly string[];
  /** Stands for the table when it has no rows. */
  none: string;
  /** A line below the table. */
  note?: string;
}

/** The demo's report for a terminal: tables under headings. */
export function renderDemo(runs: readonly DemoRun[], findings: Findings, colour: boolean): string {
  return sections(runs, findings)
    .map(({ title, head, rows, right = head.slice(1), none, note }) => {
      const heading = colour ? styleText(["bold", "cyan"], title, { validateStream: false }) : title;
      const table =
        rows.length > 0 ? renderTable({ head, rows, right, maxCellLength: 60, colour }) : `${none}\n`;
      return `${heading}\n${colour ? "" : `${"-".repeat(title.length)}\n`}${table}${note ? `${note}\n` : ""}`;
    })
    .join("\n");
}

function sections(runs: readonly DemoRun[], findings: Findings): Section[] {
  const { day, changed_fields, build_states, transitions, success, projects, unresolved_references } =
    findings;
  return [
    {
      title: "The syncs of one simulated day",
      head: ["virtual time", "kind", "status", "requests", "new", "updated", "transitions", "took"],
      right: ["requests", "new", "updated", "transitions", "took"],
      rows: runs.map((run) => [
        minute(run.started_at),
        run.kind,
        run.status,
        run.requests,
        sumOf(run, "inserted"),
        sumOf(run, "updated"),
        run.transitions,
        `${(run.took_ms / 1000).toFixed(1)} s`,
      ]),
      none: "no syncs",
    },
    {
      title: "What the day brought",
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
      title: "References whose record is not here",
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
