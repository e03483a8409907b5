import { sql } from "drizzle-orm";
import { counted, grouped } from "../../base/text.ts";
import { askFor, relation } from "../../report/ask.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { askEach, type Row } from "../parts/answers.ts";
import { rateDot } from "../parts/changes.ts";
import { foreign, html, type Markup, shorten, slugWords, targetWords, wholePercent } from "../parts/html.ts";
import { kindLabel } from "../parts/kinds.ts";
import { buildHref, projectHref, projectLink, withQuery } from "../parts/links.ts";
import { drawMainDays, findMainDays, MAIN_DAYS, type MainDays } from "../parts/main-days.ts";
import { age, agoWords, mark, outcomeMark, outcomeSign } from "../parts/marks.ts";
import { drawStrip } from "../parts/series.ts";
import type { Column } from "../parts/tables.ts";
import { askForFailing, askForProjectStrips, ROW_STRIP_BUILDS } from "./projects-questions.ts";

/** A project with what stands in its row. */
export interface ProjectListRow {
  /** A row of `report.project_states`. */
  readonly row: Row;
  /** The outcomes of its last builds, the oldest first. */
  readonly outcomes: readonly string[];
  /** Rows of `report.failing_now`: what fails in it. */
  readonly failing: readonly Row[];
  readonly days: MainDays;
  /** Another project of the list has its slug. */
  readonly isTwin: boolean;
}

/** The strips and the failures of the listed projects. */
export async function findProjectRows(
  tx: TransactionSql,
  list: readonly Row[],
  at: Date,
): Promise<ProjectListRow[]> {
  if (list.length === 0) return [];
  const idsOf = (rows: readonly Row[]) => rows.map(({ project_id }) => String(project_id));
  const days = await findMainDays(tx, idsOf(list), at);
  const { strips, failing } = await askEach(tx, {
    strips: askForProjectStrips(idsOf(list)),
    failing: askForFailing(idsOf(list.filter(({ state }) => state === "failing"))),
  });
  const outcomes = new Map(strips.map((strip) => [strip.project_id, strip.outcomes as string[] | null]));
  return list.map((row) => ({
    row,
    outcomes: outcomes.get(row.project_id) ?? [],
    failing: failing.filter(({ project_id }) => project_id === row.project_id),
    days: days(row.project_id),
    isTwin: list.some((other) => other !== row && other.project_slug === row.project_slug),
  }));
}

/** The columns of the list of projects. */
export function projectColumns(now: Date): Column<ProjectListRow>[] {
  return [
    { head: "Project", isName: true, sort: "name", cell: nameOf },
    { head: "State", sort: "state", cell: ({ row, failing }) => stateOf(row, failing, now) },
    {
      head: `Last ${ROW_STRIP_BUILDS} builds`,
      cell: ({ row, outcomes }) =>
        drawStrip(outcomes, shorten(String(row.project_slug), 60), ROW_STRIP_BUILDS),
    },
    {
      head: "Succeeded",
      sort: "rate",
      cell: ({ row }) => rateDot(Number(row.succeeded), Number(row.finished)),
    },
    {
      head: `Main docs, ${MAIN_DAYS} days`,
      isWide: true,
      label: `main docs, ${MAIN_DAYS} days`,
      cell: ({ row, days }) => html`${drawMainDays(days, shorten(String(row.project_slug), 60))}
        <small>${days.finished === 0 ? "none finished" : `${wholePercent(days.succeeded / days.finished)} of ${grouped(days.finished)}`}</small>`,
    },
    {
      head: "Last build",
      isNumber: true,
      isWide: true,
      label: "last build",
      sort: "last",
      cell: ({ row }) => age(row.last_triggered_at, now),
    },
  ];
}

function nameOf({ row, isTwin }: ProjectListRow): Markup {
  const slug = String(row.project_slug);
  const href = isTwin ? withQuery(projectHref(slug), { id: String(row.project_id) }) : projectHref(slug);
  const name = row.project_name === slug ? "" : foreign(String(row.project_name), 60);
  const id = isTwin ? html`${name === "" ? "" : ", "}id ${foreign(String(row.project_id), 24)}` : "";
  return html`<a href="${href}">${slugWords(slug)}</a>${name === "" && id === "" ? "" : html`<small>${name}${id}</small>`}`;
}

function stateOf(row: Row, failing: readonly Row[], now: Date): Markup {
  const [sign, words, ...more] = describe(row, failing, now);
  const stuck = Number(row.stuck);
  const notes = [...more, stuck > 0 && `${stuck} stuck`].filter(Boolean).join(", ");
  return html`<span class="state">${sign}<span>${words}${notes === "" ? "" : html` <small>${notes}</small>`}</span></span>`;
}

function describe(
  row: Row,
  failing: readonly Row[],
  now: Date,
): [sign: Markup, words: string, ...notes: (string | false | null)[]] {
  // As old as what is worst in it.
  const since = agoWords(row.failing_since, now);
  const isOlder = row.newest_failing_since !== row.failing_since;
  const newest = isOlder && `newest ${agoWords(row.newest_failing_since, now)}`;
  switch (row.state) {
    case "main_failing": {
      const others = Number(row.failing) - 1;
      return [mark("bad", "failing"), "Main docs fail", since, others > 0 && `${others} more`, newest];
    }
    case "failing":
      return [mark("bad2", "failing in part"), partWords(row, failing), since, newest];
    case "good":
      return [mark("good", "succeeded"), "Good"];
    default:
      return [mark("idle", "state"), "Not known", "no finished build"];
  }
}

/** What fails, in few words: the series where it is one, else how many versions or formats. */
function partWords(row: Row, failing: readonly Row[]): string {
  const count = Number(row.failing);
  const [first] = failing;
  if (count === 1 && first) return `${targetWords(first.version_slug, first.type)} fails`;
  const versions = new Set(failing.map(({ version_id }) => version_id)).size;
  return versions === count ? `${counted(count, "version")} fail` : `${counted(count, "format")} fail`;
}

const build = relation("fact_builds");

/** The build whose id was searched for, if there is one. */
export async function findBuildHit(tx: TransactionSql, id: string): Promise<Row | undefined> {
  const { rows } = await askEach(tx, {
    rows: askFor("fact_builds", { limit: 1 }, [sql`${build.build_id} = ${id}`]),
  });
  return rows[0];
}

/** A build that was searched for, with the link to its page. */
export function renderBuildHit(row: Row, now: Date): Markup {
  const id = String(row.build_id);
  const why = row.error_class === null ? "" : html`, ${kindLabel(row.error_class)}`;
  return html`<section class="block hit" id="build" aria-labelledby="build-t">
${outcomeSign(row.outcome)} <h2 id="build-t"><a href="${buildHref(id)}">Build ${foreign(id, 24)}</a></h2>
<p class="note">${outcomeMark(row.outcome).word}${why}
  · ${targetWords(row.version_slug, row.type)} of ${projectLink(row.project_slug)} · ${age(row.triggered_at, now)} ago</p>
</section>`;
}

/** What the strips and the rates of a list mean. */
export function renderListKey(): Markup {
  return html`<p class="key"><span>
    <svg class="wl" width="24" height="22" viewBox="0 0 24 22" aria-hidden="true">
    <path class="axis" d="M0 11H24"/><path class="up" d="M2 10V4M7 10V4M17 10V4"/>
    <path class="down" d="M12 12v8"/><path class="mid" d="M22 9.5v3"/></svg>up: succeeded, down: failed, on
    the line: not finished; the newest at the right. By day: the line alone is a day without builds, no line one that is not
    known; the share is that of finished builds</span>
    <span><svg width="44" height="12" aria-hidden="true"><path class="wh-axis" d="M0 6H44"/>
    <path class="wh-range" d="M12 6H34"/><circle class="wh-dot" cx="26" cy="6" r="3.4"/></svg>share that
    succeeded, of all time, and how sure it is: few builds, long bar</span></p>`;
}
