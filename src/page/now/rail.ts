import { counted, grouped } from "../../base/text.ts";
import { ask, onPage, pick, type Question, relation } from "../../report/ask.ts";
import { countIn, type Row, sumIn } from "../parts/answers.ts";
import { block } from "../parts/block.ts";
import { keyEntry, renderKey } from "../parts/charts.ts";
import { foreign, html, type Markup, slugWords } from "../parts/html.ts";
import { kindLabel } from "../parts/kinds.ts";
import { buildLink, projectLink, targetTag } from "../parts/links.ts";
import { age, agoWords, mark, momentMs, outcomeMark, span } from "../parts/marks.ts";
import {
  askForFixedCounts,
  askForKinds,
  askForOpenCounts,
  askForTotals,
  momentsOf,
  type NowScope,
} from "./now-scope.ts";
import type { NowSaid } from "./now-verdict.ts";
import { knownDays } from "./verdict.ts";

const open = relation("open_builds");
const streak = relation("recoveries");
const MOST_BARS = 8;
const MOST_FIXED = 5;
/** Kinds that the line of a phone names. */
const MOST_NAMED = 3;

/** Why builds failed, by kinds, each with how often it is so on a usual day. */
export const why = block({
  id: "why",
  narrowedBy: { day: null },
  asks: (scope: NowScope) => ({ rows: askForKinds(scope), totals: askForTotals() }),
  draw({ rows, totals }, { at }, { of, isQuiet, facts }: NowSaid) {
    if (isQuiet) return null;
    const days = knownDays(totals[0]?.first_day, at);
    const finished = facts.finishedLately;
    const kinds = rows.filter(({ failures }) => Number(failures) > 0);
    const total = sumIn(kinds, "failures");
    const most = kinds.slice(0, MOST_NAMED);
    const others = total - sumIn(most, "failures");
    const named = most.map((row) => `${grouped(countIn(row, "failures"))} ${kindLabel(row.error_class)}`);
    return {
      title: `Why, ${of.short}`,
      count: grouped(total),
      short:
        total === 0
          ? `${finished === 0 ? "none finished" : "none failed"}, ${of.words}`
          : `${named.join(", ")}${others === 0 ? "" : `; ${counted(others, "other")}`}`,
      empty:
        total === 0 &&
        (finished === 0
          ? ["unknown", "None finished.", `No build that was triggered ${of.within} has finished.`]
          : ["none", "None failed.", `No build that was triggered ${of.within} has failed.`]),
      body: renderBars(kinds.slice(0, MOST_BARS), (usual) => (days < 7 ? null : (usual * 28) / days)),
    };
  },
});

const askForOpen = (): Question => ask("open_builds")`
select ${pick(open, "build_id", "project_slug", "version_slug", "type", "state", "outcome", "triggered_at", "last_seen_at")}
from ${open}
order by ${open.triggered_at} desc nulls last, ${open.build_id} desc${onPage`\nlimit 5`}`;

/** Builds that have not finished: the newest, and how many are stuck. */
export const stuck = block({
  id: "stuck",
  narrowedBy: {},
  asks: (scope: NowScope) => ({ rows: askForOpen(), openCounts: askForOpenCounts(scope) }),
  draw({ rows, openCounts: [counts] }, { day }, { of, isQuiet }: NowSaid) {
    // What was open on a day of the past is not known.
    if (isQuiet || day !== undefined) return null;
    const stuck = countIn(counts, "stuck");
    const oldest = agoWords(counts?.oldest, of.now);
    const age = oldest === null ? "" : `, the oldest ${oldest}`;
    const stuckWords = html`<a href="/projects?state=stuck">${counted(stuck, "stuck build")}</a>${age}`;
    return {
      title: "Not finished",
      count: grouped(countIn(counts, "builds")),
      short:
        stuck === 0
          ? "none of them is stuck"
          : `${grouped(stuck)} stuck, ${grouped(countIn(counts, "lately"))} in 24 hours${age}`,
      empty: rows.length === 0 && ["none", "None.", "Every build that the mirror knows has finished."],
      body: html`<ul class="rows">${rows.map((row) => renderOpenBuild(row, of.now))}</ul>
<p class="more">${stuck === 0 ? "None of them is stuck." : stuckWords}</p>`,
    };
  },
});

function renderOpenBuild(row: Row, now: Date): Markup {
  const { kind, word } = outcomeMark(row.outcome);
  const seen = agoWords(row.last_seen_at, now);
  return html`<li><span>${mark(kind, word)} ${buildLink(row.build_id)} ${projectLink(row.project_slug)}</span>
    ${age(row.triggered_at, now)}
    <small>still “${foreign(String(row.state), 24)}” when last seen${seen === null ? "" : `, ${seen} ago`}</small></li>`;
}

function askForFixed(scope: NowScope): Question {
  const { since } = momentsOf(scope);
  return ask("recoveries")`
select ${pick(streak, "project_id", "project_slug", "version_slug", "type", "recovered_at", "recovered_build_id", "broke_at", "failures", "error_class")}
from ${streak}
where ${since(streak.recovered_at, "24 hours")}
order by ${streak.recovered_at} desc, ${streak.first_failed_build_id}${onPage`\nlimit 100`}`;
}

/** What was fixed, a row a project, the newest first; all but some are folded. */
export const fixed = block({
  id: "fixed",
  narrowedBy: { day: null },
  asks: (scope: NowScope) => ({ rows: askForFixed(scope), fixedCounts: askForFixedCounts(scope) }),
  draw({ rows, fixedCounts: [counts] }, _scope, { of, isQuiet }: NowSaid) {
    if (isQuiet) return null;
    const projects = countIn(counts, "projects");
    const fixed = [...new Set(rows.map(({ project_id }) => project_id))].map((id) =>
      rows.filter(({ project_id }) => project_id === id),
    );
    const list = (shown: readonly Row[][]) =>
      html`<ul class="rows">${shown.map((series) => renderFixedProject(series, of.now))}</ul>`;
    const rest = fixed.slice(MOST_FIXED);
    const unlisted = projects - fixed.length;
    const newest = rows[0];
    return {
      title: `Fixed, ${of.short}`,
      count: grouped(projects),
      short:
        newest === undefined
          ? "none yet"
          : html`the newest ${slugWords(newest.project_slug)}, ${agoWords(newest.recovered_at, of.now) ?? "?"} ${of.ago}`,
      empty: rows.length === 0 && [
        "unknown",
        "None yet.",
        `Nothing that failed has succeeded again ${of.within}.`,
      ],
      body: html`${list(fixed.slice(0, MOST_FIXED))}${
        rest.length === 0
          ? ""
          : html`<details class="fold"><summary>${grouped(projects - MOST_FIXED)} more fixed</summary>
              ${list(rest)}${unlisted > 0 ? html`<p class="more">${grouped(unlisted)} more in the file.</p>` : ""}</details>`
      }`,
    };
  },
});

function renderFixedProject([row, ...more]: readonly Row[], now: Date): Markup {
  if (row === undefined) return html``;
  const lasted = momentMs(row.recovered_at) - momentMs(row.broke_at);
  const failed = Number.isNaN(lasted) ? "" : ` for ${span(Math.max(0, lasted))}`;
  return html`<li><span>${mark("good", "fixed")} ${projectLink(row.project_slug)} ${targetTag(row)}</span>
    ${age(row.recovered_at, now)}
    <small>failed${failed}: ${kindLabel(row.error_class)} · ${buildLink(row.recovered_build_id)}
    ${more.length === 0 ? "" : ` · ${grouped(more.length)} more here`}</small></li>`;
}

/** Kinds of error as bars, each with a line where it ends on a usual day; `usualOf` says null where that is not known. */
function renderBars(kinds: readonly Row[], usualOf: (usual: number) => number | null): Markup {
  const bars = kinds.map((row) => ({
    kind: row.error_class,
    count: countIn(row, "failures"),
    usual: usualOf(Number(row.usual)),
  }));
  const most = Math.max(...bars.flatMap(({ count, usual }) => [count, usual ?? 0]));
  const at = (value: number) => `${((100 * value) / most).toFixed(1)}%`;
  return html`<ul class="bars">${bars.map(({ kind, count, usual }) => {
    const told = `${grouped(count)} failed${usual === null ? "" : `, ${grouped(Math.round(usual))} on a usual day`}`;
    const line =
      usual === null
        ? ""
        : html`<line class="base" x1="${at(usual)}" x2="${at(usual)}" y1="-1" y2="11" stroke-width="2"/>`;
    return html`<li><a href="/errors?kind=${encodeURIComponent(String(kind))}">${kindLabel(kind)}</a><span class="n">${grouped(count)}</span>
      <svg role="img" width="100%" height="10" aria-label="${told}">
        <rect class="m-track" width="100%" height="6" y="2" rx="3"/>
        <rect class="m-bad" width="${at(count)}" height="6" y="2" rx="3"/>${line}</svg></li>`;
  })}</ul>
${bars.every(({ usual }) => usual === null) ? "" : renderKey([keyEntry([2, 12], html`<line class="base" x1="1" x2="1" y1="0" y2="12"/>`, "a usual day")])}`;
}
