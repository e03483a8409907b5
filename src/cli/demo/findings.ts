import { RESOURCES } from "../../resources/resources.ts";
import { oneRow, type Sql, statement } from "../../store/connection/sql.ts";
import { type Look, paragraph, styled } from "../output/output.ts";
import { type Cell, renderTable } from "../output/table.ts";
import { type DemoRun, type DemoWatch, sumOf } from "./simulated-day.ts";

/** Each resource: the records of the first sync, the new ones, what changed since, and how many exist now. */
const READ_DAY = statement<DayRow>("read_day", import.meta.url);

/** A part of finished builds that succeeded, as in the reports; `success_rate` is null where nothing finished. */
interface SuccessRate {
  builds: number;
  finished: number;
  succeeded: number;
  success_rate: number | null;
}

type DayRow = Record<"at_first" | "new" | "updated" | "deleted" | "restored" | "now", number> & {
  resource: string;
};

/** Reads from the mirror what the demo shows. `first` is the run that mirrored everything. */
export async function findFindings(sql: Sql, first: { run_id: number; started_at: string }) {
  const firstRun = first.run_id ?? 0;
  const success = await oneRow(
    sql<SuccessRate[]>`
      select coalesce(sum(builds), 0)::int as builds, coalesce(sum(finished), 0)::int as finished, coalesce(sum(succeeded), 0)::int as succeeded,
        sum(succeeded)::float8 / nullif(sum(finished), 0)::float8 as success_rate
      from report.success_rate_by_type`,
  );
  // The most states seen, then the narrowest bounds.
  const [best] = await sql<{ id: string }[]>`
    select build_id as id from mirror.build_transitions
    group by build_id having min(not_before) > '-infinity'
    order by count(*) desc, sum(not_after - not_before), build_id limit 1`;
  return {
    /** The id of the build that was followed most closely; null without builds. */
    best_watched: best?.id ?? null,
    day: await READ_DAY(sql, { resources: RESOURCES, firstAt: first.started_at, firstRun }),
    success,
  };
}

type Findings = Awaited<ReturnType<typeof findFindings>>;

interface Section {
  title: string;
  head: readonly string[];
  rows: readonly (readonly Cell[])[];
  /** A line below the table. */
  note?: string;
}

/** The data of the demo's report. */
interface DemoReport {
  runs: readonly DemoRun[];
  watches: readonly DemoWatch[];
  findings: Findings;
}

/** The demo's report for a terminal: tables under headings. */
export function renderDemo(report: DemoReport, look: Look): string {
  const texts = sections(report).map(({ title, head, rows, note }) => {
    const heading = look.colour
      ? styled(["bold", "cyan"], title, look)
      : `${title}\n${"-".repeat(title.length)}`;
    const table = renderTable({ head, rows, right: ["took"], maxCellLength: 60 }, look);
    return `${heading}\n${table}${note ? paragraph(note, look) : ""}`;
  });
  return texts.join("\n");
}

function sections({ runs, watches, findings: { day, success } }: DemoReport): Section[] {
  return [
    {
      title: "The runs of one simulated day",
      head: ["virtual time", "run", "requests", "new", "updated", "transitions", "took"],
      rows: [...runs.map(syncRow), ...watches.map(watchRow)].sort(([one], [other]) => (one < other ? -1 : 1)),
    },
    {
      title: "Changes during the day",
      head: ["resource", "at first", "new", "updated", "deleted", "restored", "now"],
      rows: day.map(({ resource, at_first, updated, deleted, restored, ...row }) => {
        return [resource, at_first, row.new, updated, deleted, restored, row.now];
      }),
      note: `${success.succeeded} of ${success.finished} finished builds succeeded, the deleted ones too: ${percent(success.success_rate)}`,
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
