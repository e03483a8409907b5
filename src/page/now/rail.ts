import { counted, grouped } from "../../base/text.ts";
import { countIn, groupBy, sumIn } from "../parts/answers.ts";
import { block } from "../parts/block.ts";
import { keyEntry, renderKey } from "../parts/charts.ts";
import { foreign, html, type Markup, slugWords } from "../parts/html.ts";
import { kindLabel } from "../parts/kinds.ts";
import { buildLink, projectLink, targetTag, withQuery } from "../parts/links.ts";
import { age, ago, mark, outcomeSign, spanBetween } from "../parts/marks.ts";
import { renderRows } from "../parts/tables.ts";
import {
  askForFixedCounts,
  askForKinds,
  askForOpenCounts,
  type KindCount,
  type NowScope,
  nowQuestion,
} from "./now-scope.ts";
import type { NowSaid } from "./verdict.ts";

const MOST_BARS = 8;
const MOST_FIXED = 5;
/** Kinds that the line of a phone names. */
const MOST_NAMED = 3;

/** The failures of the 24 hours by kind, each with its number on a usual day. */
export const why = block({
  id: "why",
  narrowedBy: { day: null },
  asks: (scope: NowScope) => ({ rows: askForKinds(scope) }),
  draw({ rows }, _scope, { of, isQuiet, facts }: NowSaid) {
    if (isQuiet) return null;
    const days = facts.usualDays.length;
    const isFinished = facts.finishedLately > 0;
    const total = sumIn(rows, "failures");
    const most = rows.slice(0, MOST_NAMED);
    const others = total - sumIn(most, "failures");
    const named = most.map(({ failures, error_class }) => `${grouped(failures)} ${kindLabel(error_class)}`);
    return {
      title: `Why, ${of.short}`,
      count: grouped(total),
      short:
        total === 0
          ? `${isFinished ? "none failed" : "none finished"}, ${of.words}`
          : `${named.join(", ")}${others === 0 ? "" : `; ${counted(others, "other")}`}`,
      empty:
        total === 0 &&
        (isFinished
          ? ["none", "None failed.", `No build that was triggered ${of.within} has failed.`]
          : ["unknown", "None finished.", `No build that was triggered ${of.within} has finished.`]),
      body: renderBars(rows.slice(0, MOST_BARS), days < 7 ? null : 28 / days),
    };
  },
});

/** Kinds of error as bars, each with a line where it ends on a usual day: its usual count times `scale`, null where that is not known. */
function renderBars(kinds: readonly KindCount[], scale: number | null): Markup {
  const bars = kinds.map(({ error_class, failures, usual }) => ({
    kind: error_class,
    failures,
    usual: scale && usual * scale,
  }));
  const most = Math.max(...bars.flatMap(({ failures, usual }) => [failures, usual ?? 0]));
  const at = (value: number) => `${((100 * value) / most).toFixed(1)}%`;
  return html`<ul class="bars">${bars.map(({ kind, failures, usual }) => {
    const told = `${grouped(failures)} failed${usual === null ? "" : `, ${grouped(Math.round(usual))} on a usual day`}`;
    return html`<li><a href="${withQuery("/errors", { kind })}">${kindLabel(kind)}</a><span class="n">${grouped(failures)}</span>
      <svg role="img" width="100%" height="10" aria-label="${told}">
        <rect class="m-track" width="100%" height="6" y="2" rx="3"/>
        <rect class="m-bad" width="${at(failures)}" height="6" y="2" rx="3"/>
        ${usual !== null && html`<line class="base" x1="${at(usual)}" x2="${at(usual)}" y1="-1" y2="11" stroke-width="2"/>`}</svg></li>`;
  })}</ul>
${scale !== null && renderKey([keyEntry([2, 12], html`<line class="base" x1="1" x2="1" y1="0" y2="12"/>`, "a usual day")])}`;
}

interface OpenBuild {
  readonly build_id: string;
  readonly project_slug: string;
  readonly state: string;
  readonly outcome: string;
  readonly triggered_at: string | null;
  readonly last_seen_at: string | null;
}

const askForOpen = nowQuestion<OpenBuild>("newest_open");

/** Builds that have not ended: the newest, and how many are stuck. */
export const stuck = block({
  id: "stuck",
  asks: (scope: NowScope) => ({ rows: askForOpen(scope), openCounts: askForOpenCounts(scope) }),
  draw({ rows, openCounts: [counts] }, { day, now }, { isQuiet }: NowSaid) {
    // Nobody knows which builds were open on a day of the past.
    if (isQuiet || day !== undefined) return null;
    const stuck = countIn(counts, "stuck");
    const oldest = counts?.oldest ?? null;
    const oldestWords = oldest === null ? "" : html`, the oldest ${age(oldest, now)}`;
    return {
      title: "Not finished",
      count: grouped(countIn(counts, "builds")),
      short:
        stuck === 0
          ? "none of them is stuck"
          : html`${grouped(stuck)} stuck, ${grouped(countIn(counts, "lately"))} in 24 hours${oldestWords}`,
      empty: rows.length === 0 && ["none", "None.", "Every build that the mirror knows has ended."],
      body: renderRows(
        rows.map((row) => {
          const seen = ago(row.last_seen_at, now);
          return {
            name: html`${outcomeSign(row.outcome)} ${buildLink(row.build_id)} ${projectLink(row.project_slug)}`,
            age: age(row.triggered_at, now),
            small: html`still ${row.state === null ? "without a state" : html`“${foreign(row.state, 24)}”`} when last seen${seen && html`, ${seen}`}`,
          };
        }),
        stuck === 0
          ? "None of them is stuck."
          : html`<a href="/projects?state=stuck">${counted(stuck, "stuck build")}</a>${oldestWords}`,
      ),
    };
  },
});

interface FixedSeries {
  readonly project_id: string;
  readonly project_slug: string;
  readonly version_slug: string;
  readonly type: string;
  readonly recovered_at: string;
  readonly recovered_build_id: string;
  readonly broke_at: string | null;
  readonly error_class: string;
}

const askForFixes = nowQuestion<FixedSeries>("newest_fixes");

/** The fixes, a row a project, the newest first; all but some are folded. */
export const fixed = block({
  id: "fixed",
  narrowedBy: { day: null },
  asks: (scope: NowScope) => ({
    rows: askForFixes(scope),
    fixedCounts: askForFixedCounts(scope),
  }),
  draw({ rows, fixedCounts: [counts] }, { now }, { of, isQuiet }: NowSaid) {
    if (isQuiet) return null;
    const projects = countIn(counts, "projects");
    const fixed = [...groupBy(rows, ({ project_id }) => project_id).values()].map(([newest, ...more]) => {
      const lasted = spanBetween(newest.broke_at, newest.recovered_at);
      return {
        name: html`${mark("good", "fixed")} ${projectLink(newest.project_slug)} ${targetTag(newest)}`,
        age: age(newest.recovered_at, now),
        small: html`failed${lasted && ` for ${lasted}`}: ${kindLabel(newest.error_class)}
          · ${buildLink(newest.recovered_build_id)}${more.length > 0 && ` · ${grouped(more.length)} more here`}`,
      };
    });
    const rest = fixed.slice(MOST_FIXED);
    const unlisted = projects - fixed.length;
    const [newest] = rows;
    return {
      title: `Fixed, ${of.short}`,
      count: grouped(projects),
      short:
        newest === undefined
          ? "none yet"
          : html`the newest ${slugWords(newest.project_slug)}, ${ago(newest.recovered_at, now, of.ago) ?? "?"}`,
      empty: rows.length === 0 && [
        "zero",
        "None yet.",
        `Nothing that failed has succeeded again ${of.within}.`,
      ],
      body: html`${renderRows(fixed.slice(0, MOST_FIXED))}${
        rest.length > 0 &&
        html`<details class="fold"><summary>${grouped(projects - MOST_FIXED)} more fixed</summary>
          ${renderRows(rest, unlisted > 0 && `${grouped(unlisted)} more in the file.`)}</details>`
      }`,
    };
  },
});
