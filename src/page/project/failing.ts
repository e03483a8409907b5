import { type SQL, sql } from "drizzle-orm";
import { counted, grouped } from "../../base/text.ts";
import { ask, inline, onPage, pick, type Question, relation } from "../../report/ask.ts";
import { age, dayWords, momentMs } from "../parts/age.ts";
import { block, type Empty, type Row } from "../parts/block.ts";
import { foreign, html, type Markup, targetWords } from "../parts/html.ts";
import { kindLabel } from "../parts/kinds.ts";
import { buildHref, buildLink, withQuery } from "../parts/links.ts";
import { mark } from "../parts/marks.ts";
import { drawStrip, lastFailed, renderWhy } from "../parts/series.ts";
import {
  askForFailing,
  askForTotals,
  findStrips,
  isOf,
  MOST_FAILING,
  NEWEST,
  numberOf,
  OWN,
  type ProjectScope,
} from "./project-scope.ts";

const build = relation("fact_builds");
const MOST_LINES = 200;
const FEW_LINES = 3;

/** What fails of a project: its main docs first, then the newest break. */
export const failing = block({
  id: "failing",
  narrowedBy: OWN,
  asks: (scope: ProjectScope) => ({ rows: askForFailing(scope), totals: askForTotals(scope) }),
  next: (tx, { rows }, scope) => findStrips(tx, scope, rows),
  draw({ rows, totals, strips }, { now, isNow }) {
    const total = numberOf(rows, "total");
    return {
      title: isNow ? "Failing now" : "Failing then",
      count: grouped(total),
      empty:
        total === 0 &&
        noneOf(
          totals,
          "None found.",
          (finished) =>
            `The last finished build of every version and format that exists succeeded, of ${finished}.`,
        ),
      body: html`<ol class="fails one">${rows.map((row) => renderFail(row, strips(row), now))}</ol>
${total > MOST_FAILING ? html`<p class="more">${grouped(total - MOST_FAILING)} more: they are in the files.</p>` : ""}`,
    };
  },
});

/** That nothing fails or failed; where nothing has finished it is not known. */
function noneOf(totals: readonly Row[], strong: string, say: (finished: string) => string): Empty {
  const finished = numberOf(totals, "finished");
  return finished === 0
    ? ["unknown", "Not known.", "No build of this project has finished."]
    : ["none", strong, say(counted(finished, "finished build"))];
}

function renderFail(row: Row, outcomes: readonly string[], now: Date): Markup {
  const target = targetWords(row.version_slug, row.type);
  const isMain = row.is_main === true;
  return html`<li>
<span class="when">${age(row.failing_since, now)}</span>
${isMain ? mark("bad", "main docs failing") : mark("bad2", "failing")}
<div class="name"><a href="${buildHref(String(row.last_failed_build_id))}">${target}</a>
  ${isMain ? html`<span class="tag strong">main docs</span>` : ""}
  ${row.is_active === false ? html`<span class="tag">not active</span>` : ""}</div>
${renderWhy(row)}
<div class="meta">${lastFailed(row, now)}${row.reference === null ? "" : html`<span>named ${foreign(String(row.reference), 80)}</span>`}</div>
${drawStrip(outcomes, target)}
</li>`;
}

/** Why builds of a project failed: kinds, and the lines of each with the newest build that has it. */
export const causes = block({
  id: "causes",
  narrowedBy: OWN,
  asks: (scope: ProjectScope) => ({ rows: askForCauses(scope), totals: askForTotals(scope) }),
  draw({ rows, totals }, { now }) {
    const failures = numberOf(rows, "all_failures");
    const since = momentMs(totals[0]?.first_triggered_at);
    const classes = [...new Set(rows.map(({ error_class }) => error_class))];
    const most = Math.max(1, ...rows.map(({ class_failures }) => Number(class_failures)));
    return {
      title: "Why it failed",
      count: counted(failures, "failed build"),
      ...(failures > 0 &&
        !Number.isNaN(since) && { note: `Of all its builds, since ${dayWords(since, now)}.` }),
      empty:
        failures === 0 && noneOf(totals, "None failed.", (finished) => `Each of its ${finished} succeeded.`),
      body: html`<ul class="causes">${classes.map((one) =>
        renderClass(
          rows.filter(({ error_class }) => error_class === one),
          most,
          now,
        ),
      )}</ul>`,
    };
  },
});

const newestOf = (column: SQL): SQL => sql`(array_agg(${column} order by ${NEWEST}))[1]`;

const askForCauses = (scope: ProjectScope): Question => ask("fact_builds")`
select ${pick(build, "error_class", "error_line_id")}, count(*) as failures, max(${build.triggered_at}) as last_triggered_at,
  ${newestOf(build.build_id)} as last_build_id,
  ${newestOf(build.error_line)} as example, count(distinct ${build.error_line}) as places,
  sum(count(*)) over (partition by ${build.error_class}) as class_failures${onPage`,
  count(*) over (partition by ${build.error_class}) as class_lines,
  sum(count(*)) over () as all_failures`}
from ${build}
where ${isOf(scope)} and ${build.failed} = 1
group by ${pick(build, "error_class", "error_line_id")}
order by class_failures desc, ${build.error_class}, failures desc, last_triggered_at desc nulls last, ${build.error_line_id}${onPage`
limit ${inline(MOST_LINES)}`}`;

function renderClass(lines: readonly Row[], most: number, now: Date): Markup {
  const [first] = lines;
  const failures = Number(first?.class_failures ?? 0);
  const more = lines.slice(FEW_LINES);
  const left = Number(first?.class_lines ?? 0) - lines.length;
  const label = kindLabel(first?.error_class);
  return html`<li><div class="cause-head">
    <a href="${withQuery("/errors", { kind: String(first?.error_class) })}">${label}</a>
    <span class="n">${grouped(failures)}</span>
    <svg class="mini" height="8" aria-hidden="true">
    <rect class="m-track" width="100%" height="6" y="1" rx="3"/>
    <rect class="m-bad" width="${((100 * failures) / most).toFixed(1)}%" height="6" y="1" rx="3"/></svg></div>
<ul class="lines">${lines.slice(0, FEW_LINES).map((line) => renderErrorLine(line, now))}</ul>${
    more.length === 0
      ? ""
      : html`<details class="also">
        <summary>${counted(more.length + left, "more line")}<span class="unseen"> of ${label}</span></summary>
        <ul class="lines">${more.map((line) => renderErrorLine(line, now))}</ul>
        ${left > 0 ? html`<p class="more">${grouped(left)} more are in the files.</p>` : ""}</details>`
  }</li>`;
}

/** Builds with the same error may differ in its place; the one that is shown is that of the last. */
function renderErrorLine(
  { example, places, failures, last_build_id, last_triggered_at }: Row,
  now: Date,
): Markup {
  const where = Number(places) > 1 ? ` in ${counted(Number(places), "place")}` : "";
  const times = Number(failures) > 1 ? `${counted(Number(failures), "build")}${where}, last ` : "";
  const line =
    example === null ? html`<span>no error line</span>` : html`<code>${foreign(String(example), 180)}</code>`;
  return html`<li>${line}<span>${times}${buildLink(last_build_id)}, ${age(last_triggered_at, now)}</span></li>`;
}
