import { grouped } from "../../base/text.ts";
import { age } from "../parts/age.ts";
import { block, type Row } from "../parts/block.ts";
import { rateDot } from "../parts/changes.ts";
import { foreign, html, type Markup, slugWords, targetWords } from "../parts/html.ts";
import { mark } from "../parts/marks.ts";
import { drawStrip } from "../parts/series.ts";
import { type Column, renderListTable } from "../parts/tables.ts";
import { onlyQuery } from "./builds.ts";
import {
  askForSeries,
  FEW_SERIES,
  findStrips,
  MOST_SERIES,
  numberOf,
  OWN,
  type ProjectChoice,
  type ProjectScope,
} from "./project-scope.ts";

/** The versions and formats of a project with their states: the main docs, what fails, then the last built. */
export const versions = block({
  id: "versions",
  narrowedBy: OWN,
  asks: (scope: ProjectScope) => ({ rows: askForSeries(scope) }),
  next: (tx, { rows }, scope) => findStrips(tx, scope, rows),
  draw({ rows: series, strips }, { choice, href, now }) {
    const total = numberOf(series, "total");
    const columns: Column[] = [
      { head: "Version · format", isName: true, cell: (row) => nameOf(row, href) },
      { head: "State", cell: stateOf },
      {
        head: "Last 20 builds",
        cell: (row) => drawStrip(strips(row), targetWords(row.version_slug, row.type)),
      },
      { head: "Succeeded", cell: (row) => rateDot(Number(row.succeeded), Number(row.finished)) },
      {
        head: "Last build",
        isNumber: true,
        isWide: true,
        label: "last build",
        cell: (row) => age(row.last_triggered_at, now),
      },
    ];
    return {
      title: "Versions and formats",
      count: grouped(total),
      note: "Their builds of all time.",
      empty: total === 0 && ["unknown", "Not known.", "The mirror has no build of this project."],
      body: html`${renderListTable({ caption: "Versions and formats", columns, rows: series })}
${renderMore(choice, total, href)}`,
    };
  },
});

function renderMore(
  { isAllSeries }: ProjectChoice,
  total: number,
  href: ProjectScope["href"],
): Markup | string {
  if (isAllSeries && total > MOST_SERIES)
    return html`<p class="more">These are ${MOST_SERIES} of ${grouped(total)}; the others are in the files.</p>`;
  if (isAllSeries || total <= FEW_SERIES) return "";
  const words = total > MOST_SERIES ? `${MOST_SERIES} of ${grouped(total)}` : `All ${total}`;
  return html`<p class="more"><a href="${href({ versions: "all" })}#versions">${words} versions and formats</a></p>`;
}

function nameOf(row: Row, href: ProjectScope["href"]): Markup {
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
