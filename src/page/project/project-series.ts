import { grouped } from "../../base/text.ts";
import { age } from "../parts/age.ts";
import { renderBlock } from "../parts/block.ts";
import { drawStrip } from "../parts/charts/build-strip.ts";
import { rateDot } from "../parts/charts/rate-dot.ts";
import { renderEmpty } from "../parts/empty.ts";
import { html } from "../parts/html.ts";
import type { Query } from "../parts/links.ts";
import { type Column, renderListTable } from "../parts/list-table.ts";
import { mark } from "../parts/mark.ts";
import type { Row } from "../parts/row.ts";
import { foreign, type Markup, slugWords, targetWords } from "../parts/words.ts";
import { numberOf, type ProjectAnswers, type ProjectOffers } from "./project-answers.ts";
import { onlyQuery } from "./project-builds.ts";
import { FEW_SERIES, MOST_SERIES, type ProjectChoice } from "./project-questions.ts";
import type { SeriesStrips } from "./series-strips.ts";

export interface SeriesFacts {
  readonly choice: ProjectChoice;
  readonly answers: ProjectAnswers;
  readonly offers: ProjectOffers;
  readonly strips: SeriesStrips;
  readonly href: (query: Query) => string;
  readonly now: Date;
}

/** The versions and formats of a project with their states: the main docs, what fails, then the last built. */
export function renderSeries({ choice, answers, offers, strips, href, now }: SeriesFacts): Markup {
  const { series } = answers;
  const total = numberOf(series, "total");
  const rows = series.map((row) => ({ row, outcomes: strips(row) }));
  return renderBlock({
    id: "versions",
    title: "Versions and formats",
    count: grouped(total),
    note: "Their builds of all time.",
    tools: offers.versions,
    body:
      total === 0
        ? renderEmpty({
            kind: "unknown",
            strong: "Not known.",
            say: "The mirror has no build of this project.",
          })
        : html`${renderListTable({ caption: "Versions and formats", columns: columnsOf(href, now), rows })}
${renderMore(choice, total, href)}`,
  });
}

function renderMore(
  { isAllSeries }: ProjectChoice,
  total: number,
  href: SeriesFacts["href"],
): Markup | string {
  if (isAllSeries && total > MOST_SERIES)
    return html`<p class="more">These are ${MOST_SERIES} of ${grouped(total)}; the others are in the files.</p>`;
  if (isAllSeries || total <= FEW_SERIES) return "";
  const words = total > MOST_SERIES ? `${MOST_SERIES} of ${grouped(total)}` : `All ${total}`;
  return html`<p class="more"><a href="${href({ versions: "all" })}#versions">${words} versions and formats</a></p>`;
}

interface SeriesRow {
  readonly row: Row;
  readonly outcomes: readonly string[];
}

function columnsOf(href: SeriesFacts["href"], now: Date): Column<SeriesRow>[] {
  return [
    { head: "Version · format", isName: true, cell: ({ row }) => nameOf(row, href) },
    { head: "State", cell: ({ row }) => stateOf(row) },
    {
      head: "Last 20 builds",
      cell: ({ row, outcomes }) => drawStrip(outcomes, targetWords(row.version_slug, row.type)),
    },
    { head: "Succeeded", cell: ({ row }) => rateDot(Number(row.succeeded), Number(row.finished)) },
    {
      head: "Last build",
      isNumber: true,
      isWide: true,
      label: "last build",
      cell: ({ row }) => age(row.last_triggered_at, now),
    },
  ];
}

function nameOf(row: Row, href: SeriesFacts["href"]): Markup {
  const only = {
    version: String(row.version_slug),
    type: String(row.type),
    reference: row.reference === null ? undefined : String(row.reference),
  };
  const tag = (words: string, kind = "") => html` <span class="tag${kind}">${words}</span>`;
  const state = row.is_deleted === true ? tag("gone") : row.is_active === false ? tag("not active") : "";
  const tags = html`${row.is_main === true ? tag("main docs", " strong") : ""}${state}`;
  const words =
    row.version_slug === ""
      ? html`${slugWords("")} · ${foreign(only.type, 24)}`
      : targetWords(row.version_slug, row.type);
  return html`<a href="${href(onlyQuery(only))}#builds">${words}</a>${tags}
    ${row.reference === null ? "" : html`<small>named ${foreign(String(row.reference), 80)}</small>`}`;
}

function stateOf(row: Row): Markup {
  const of = (sign: Markup, words: string) => html`<span class="state">${sign}<span>${words}</span></span>`;
  if (row.is_deleted === true) return of(mark("flat", "gone"), "version is gone");
  if (row.is_failing === true) return of(mark(row.is_main === true ? "bad" : "bad2", "failed"), "fails");
  if (Number(row.finished) === 0 || row.reference === "(none)")
    return of(mark("idle", "question mark"), "not known");
  return of(mark("good", "succeeded"), "good");
}
