import { counted, grouped } from "../../base/text.ts";
import { pick, relation } from "../../report/ask.ts";
import { columnsOf } from "../../report/dictionary.ts";
import { countIn, type Found, groupBy } from "../parts/answers.ts";
import { block, type Empty, part } from "../parts/block.ts";
import {
  type Count,
  differenceOf,
  intervalWords,
  rateOf,
  renderPoints,
  shareWords,
} from "../parts/changes.ts";
import type { Figure, Verdict } from "../parts/document.ts";
import { mayBeGood } from "../parts/freshness.ts";
import { foreign, html, type Markup, shorten, slugWords, targetWords, wholePercent } from "../parts/html.ts";
import { kindLabel } from "../parts/kinds.ts";
import { buildHref, buildLink, outsideLink, targetTag, withQuery } from "../parts/links.ts";
import { age, ago, dayWords, forLong, icon, momentMs, momentTag, when } from "../parts/marks.ts";
import { type Failing, lastFailed, renderFail, renderWhy } from "../parts/strips.ts";
import {
  askForRecent,
  askForSeries,
  askForTotals,
  findStrips,
  type ProjectScope,
  projectQuestion,
  type RecentBuild,
  type Series,
  STRIP_BUILDS,
} from "./project-scope.ts";

const BAD = { sign: "✗", look: "some" } as const;
const FAILING = { ...BAD, mark: ["bad", "Failing"] } as const;
const IN_PART = { ...BAD, mark: ["bad2", "Failing in part"] } as const;
const GOOD = { sign: "✓", look: "good", mark: ["good", "Good"] } as const;
/** Nobody has looked for long, or nobody will look again: a file. */
const WAS_GOOD = { sign: "", look: "flat", mark: ["flat", "Was good"] } as const;
const UNKNOWN = { sign: "?", look: "idle", mark: ["idle", "Not known"] } as const;

/** The main docs come first, then all else. Docs without a finished build are neither good nor bad. `rest` follows the project's slug. */
function judgeProject({ failing: [first], main: [main], totals: [totals] }: Answers, scope: ProjectScope) {
  const { project, now, isNow } = scope;
  const [fails, failMany] = isNow ? ["fails", "fail"] : ["failed", "failed"];
  const others = countIn(first, "total") - (first?.is_main ? 1 : 0);
  const fail = counted(others, `other version or format ${fails}`, `other versions or formats ${failMany}`);
  if (project.is_deleted) return { ...UNKNOWN, rest: " is gone: the service no longer has it." };
  if (first?.is_main) {
    const long = forLong(first.failing_since, now);
    const hasWorked = first.last_succeeded_build_id !== null;
    const how = !isNow
      ? "were failing when the mirror last looked"
      : long === null
        ? "are failing"
        : html`have been failing ${!hasWorked && "at least "}${long}`;
    return { ...FAILING, rest: html`: the main docs ${how}.` };
  }
  if (project.project_id === "-1")
    return others > 0
      ? {
          ...IN_PART,
          rest: `: ${counted(others, `version or format ${fails}`, `versions or formats ${failMany}`)}.`,
        }
      : { ...UNKNOWN, rest: ": builds whose project the mirror does not have." };
  if (main !== undefined && others > 0)
    return { ...IN_PART, rest: `: the main docs ${isNow ? "are" : "were"} good, but ${fail}.` };
  if (main !== undefined)
    return {
      ...(mayBeGood(scope) ? GOOD : WAS_GOOD),
      rest: isNow ? " is good, and so are its main docs." : " was good when the mirror last looked.",
    };
  if (others > 0) return { ...IN_PART, rest: `: of the main docs nothing is known, and ${fail}.` };
  if (totals === undefined) return { ...UNKNOWN, rest: ": no build of it is known." };
  return {
    ...UNKNOWN,
    rest:
      totals.finished > 0
        ? ": of the main docs nothing is known."
        : `: none of its ${counted(totals.builds, "build")} has finished.`,
  };
}

/** The verdict of a project with its cause, the links that matter, and its figures. */
export const projectVerdict = part({
  asks: askForVerdict,
  async draw(answers, scope, _said, tx): Promise<Verdict> {
    const { project, subject, now } = scope;
    // The address of the documentation, which no relation of the reports has.
    const [row] = await tx<{ subdomain: string | null }[]>`
      select subdomain from mirror.projects where id = ${subject.id}`;
    const { look, mark, rest, sign } = judgeProject(answers, scope);
    const [worst] = answers.failing;
    const { project_slug: slug, project_name } = project;
    const name = project_name === slug ? slugWords(slug) : foreign(project_name, 80);
    const upstream = outsideLink(row?.subdomain, html`Documentation upstream ${icon("out")}`);
    return {
      title: `${sign} ${shorten(subject.slug, 80)}`.trim(),
      look,
      mark,
      crumbs: html`<a href="/projects">Projects</a> / ${name}`,
      sentence: html`${subject.id === "-1" ? "Unknown projects" : slug === "" ? html`(empty)` : foreign(slug, 200)}${rest}`,
      evidence: evidenceOf(answers, scope),
      acts: html`${worst && actsOf(worst, now)}${upstream}`,
      figures: [
        rateFigure(answers),
        failingFigure(answers, scope),
        buildsFigure(answers, scope),
        openFigure(answers, now),
      ],
    };
  },
});

interface FailingSeries extends Series, Failing {
  /** The number of those that fail, and the moment since which the oldest does. */
  readonly total: number;
  readonly oldest: string | null;
}

const FAILING_SERIES = projectQuestion<FailingSeries>("failing_series");

/** The series that fail: the main docs first, then the newest break. */
const askForFailing = (scope: ProjectScope) =>
  FAILING_SERIES(scope, { columns: pick(relation("failing_now"), ...columnsOf("failing_now")) });

interface BuildRow {
  readonly build_id: string;
  readonly outcome: string;
  readonly triggered_at: string | null;
}

/** The newest open build, and how many there are. */
interface OpenRow extends BuildRow {
  readonly total: number;
  readonly stuck: number;
}

const MAIN_BUILD = projectQuestion<BuildRow>("main_build");
const NEWEST_OPEN_BUILD = projectQuestion<OpenRow>("newest_open_build");

function askForVerdict(scope: ProjectScope) {
  return {
    totals: askForTotals(scope),
    recent: askForRecent(scope),
    failing: askForFailing(scope),
    series: askForSeries(scope),
    main: MAIN_BUILD(scope),
    open: NEWEST_OPEN_BUILD(scope),
  };
}

type Answers = Found<ReturnType<typeof askForVerdict>>;

function evidenceOf(
  { failing: [worst], main: [main] }: Answers,
  { project, subject, now }: ProjectScope,
): Markup | string {
  const target = targetWords(subject.main);
  if (project.is_deleted)
    return html`The mirror found it deleted on ${momentTag(project.deleted_at, now)} UTC. What follows is what it knew.`;
  if (worst !== undefined)
    return html`<span class="why">${!worst.is_main && html`${targetTag(worst)} `}<b>${kindLabel(worst.error_class)}</b>
      ${worst.error_line !== null && html`<code>${foreign(worst.error_line, 240)}</code>`}</span>`;
  if (main !== undefined)
    return html`The last finished build of each version and format succeeded; that of the main docs,
      ${target}, is ${buildLink(main.build_id)}, ${ago(main.triggered_at, now) ?? "of no known date"}.`;
  return subject.id === "-1" ? "" : `The main docs are ${target}; no build of them has finished.`;
}

function actsOf({ last_failed_build_id: failed, ...row }: FailingSeries, now: Date): Markup {
  const good = row.last_succeeded_build_id;
  return html`<a href="${buildHref(failed)}">Build ${foreign(failed, 24)}</a>
    ${
      good !== null &&
      html`<a href="${buildHref(good)}">Last good:
    ${foreign(good, 24)}, ${momentTag(row.last_succeeded_at, now)}</a>`
    }`;
}

/** The rate of the builds that the strip shows, against that of as many before. */
function rateFigure({ recent }: Answers): Figure {
  const countOf = (builds: readonly RecentBuild[]) => {
    const succeeded = builds.filter(({ outcome }) => outcome === "succeeded").length;
    const failed = builds.filter(({ outcome }) => outcome === "failed").length;
    return { succeeded, finished: succeeded + failed } satisfies Count;
  };
  const last = countOf(recent.slice(0, STRIP_BUILDS));
  const before = countOf(recent.slice(STRIP_BUILDS));
  const rate = rateOf(last);
  const difference = differenceOf(last, before);
  const builds = last.finished === 1 ? "finished build" : `${last.finished} finished builds`;
  return {
    label: "Succeeded",
    labelRest: rate === null ? "" : `, last ${builds}`,
    value: shareWords(last, wholePercent),
    unit: rate === null ? "none finished" : `${last.succeeded} of ${last.finished}`,
    note: html`${
      difference &&
      html`${renderPoints(difference)}
          ${" "}<span>on the ${before.finished} before${difference.isChance && ", within chance"} · </span>`
    }<span>${rate === null ? "nothing is known" : `95\u00a0% interval ${intervalWords(rate)}`}</span>`,
  };
}

function failingFigure({ failing: [first], series: [any] }: Answers, scope: ProjectScope): Figure {
  const { now } = scope;
  const total = countIn(first, "total");
  const oldest = forLong(first?.oldest, now);
  return {
    label: "Failing",
    labelRest: ` ${momentOf(scope)}`,
    value: grouped(total),
    unit: `of ${counted(countIn(any, "total"), "version · format", "versions · formats")}`,
    note:
      total === 0
        ? "none of those that finished"
        : html`<a href="#failing">${oldest === null ? "what and why" : html`the oldest ${oldest}`}</a>`,
  };
}

/** The moment of the failures: "now", or that of the last look. */
const momentOf = ({ isNow, at, now }: ProjectScope): string => (isNow ? "now" : `at ${when(at, now)}`);

function buildsFigure({ totals: [totals] }: Answers, { now, isNow }: ProjectScope): Figure {
  const since = momentMs(totals?.first_triggered_at);
  const all = `${grouped(countIn(totals, "builds"))}${Number.isNaN(since) ? " in all" : ` since ${dayWords(since, now)}`}`;
  return {
    label: "Builds",
    labelRest: isNow ? ", last 7 days" : ", 7 days up to then",
    value: grouped(countIn(totals, "week")),
    note: `${grouped(countIn(totals, "week_before"))} in the 7 days before; ${all}`,
  };
}

function openFigure({ open: [newest] }: Answers, now: Date): Figure {
  const [total, stuck] = [countIn(newest, "total"), countIn(newest, "stuck")];
  const triggered = newest?.triggered_at ?? null;
  const some = stuck === total ? "stuck" : `open, ${grouped(stuck)} stuck`;
  return {
    label: "Open",
    labelRest: " builds",
    value: grouped(total),
    unit: total === 0 ? "open" : stuck === 0 ? "in progress" : some,
    note:
      newest === undefined
        ? "no build is open"
        : html`${buildLink(newest.build_id)}${triggered !== null && html`, ${age(triggered, now)}`}`,
  };
}

const FEW_LINES = 3;

/** The series that fail of a project: its main docs first, then the newest break. */
export const failing = block({
  id: "failing",
  asks: (scope: ProjectScope) => ({ rows: askForFailing(scope), totals: askForTotals(scope) }),
  async draw({ rows, totals: [totals] }, scope, _said, tx) {
    const { now } = scope;
    const strips = await findStrips(tx, scope, rows);
    const total = countIn(rows[0], "total");
    return {
      title: `Failing ${momentOf(scope)}`,
      count: grouped(total),
      empty:
        total === 0 &&
        noneOf(
          countIn(totals, "finished"),
          "None found.",
          (finished) =>
            `The last finished build of every version and format that exists succeeded, of ${finished}.`,
        ),
      body: html`<ol class="fails one">${rows.map((row) => renderSeries(row, strips(row), now))}</ol>
${total > rows.length && html`<p class="more">${grouped(total - rows.length)} more: they are in the files.</p>`}`,
    };
  },
});

/** That nothing fails or failed; where nothing has finished it is not known. */
const noneOf = (finished: number, strong: string, say: (finished: string) => string): Empty =>
  finished === 0
    ? ["unknown", "Not known.", "No build of this project has finished."]
    : ["none", strong, say(counted(finished, "finished build"))];

function renderSeries(row: FailingSeries, outcomes: readonly string[], now: Date): Markup {
  const { reference } = row;
  return renderFail(
    row,
    {
      part: "failing",
      name: html`<a href="${buildHref(row.last_failed_build_id)}">${targetWords(row)}</a>`,
      tags: row.is_active === false && html`<span class="tag">not active</span>`,
      told: html`${renderWhy(row)}
<div class="meta">${lastFailed(row, now)}${reference !== null && html`<span>named ${foreign(reference, 80)}</span>`}</div>`,
      outcomes,
    },
    now,
  );
}

const CAUSES = projectQuestion<CauseRow>("causes");

/** The causes of the failures of a project: kinds, and the lines of each with the newest build that has it. */
export const causes = block({
  id: "causes",
  asks: (scope: ProjectScope) => ({ rows: CAUSES(scope), totals: askForTotals(scope) }),
  draw({ rows, totals: [totals] }, { now }) {
    const failures = countIn(rows[0], "all_failures");
    const since = momentMs(totals?.first_triggered_at);
    const most = Math.max(1, ...rows.map(({ class_failures }) => class_failures));
    const kinds = [...groupBy(rows, ({ error_class }) => error_class).values()];
    return {
      title: "Why it failed",
      count: counted(failures, "failed build"),
      ...(failures > 0 &&
        !Number.isNaN(since) && { note: `Of all its builds, since ${dayWords(since, now)}.` }),
      empty:
        failures === 0 &&
        noneOf(countIn(totals, "finished"), "None failed.", (finished) => `It has ${finished}.`),
      body: html`<ul class="causes">${kinds.map((lines) => renderKind(lines, most, now))}</ul>`,
    };
  },
});

/** An error line of a project, with its place in the last build that has it. */
interface CauseRow {
  readonly error_class: string;
  readonly failures: number;
  readonly last_triggered_at: string | null;
  readonly last_build_id: string;
  readonly example: string | null;
  readonly places: number;
  /** The failures and the lines of the kind; and the failures of all kinds. */
  readonly class_failures: number;
  readonly class_lines: number;
  readonly all_failures: number;
}

function renderKind(lines: readonly [CauseRow, ...CauseRow[]], most: number, now: Date): Markup {
  const [{ error_class: kind, class_failures: failures, class_lines }] = lines;
  const more = lines.slice(FEW_LINES);
  const left = class_lines - lines.length;
  const list = (shown: readonly CauseRow[]) =>
    html`<ul class="lines">${shown.map((line) => renderErrorLine(line, now))}</ul>`;
  return html`<li><div class="cause-head">
    <a href="${withQuery("/errors", { kind })}">${kindLabel(kind)}</a>
    <span class="n">${grouped(failures)}</span>
    <svg class="mini" height="8" aria-hidden="true">
    <rect class="m-track" width="100%" height="6" y="1" rx="3"/>
    <rect class="m-bad" width="${((100 * failures) / most).toFixed(1)}%" height="6" y="1" rx="3"/></svg></div>
${list(lines.slice(0, FEW_LINES))}${
  more.length > 0 &&
  html`<details class="also">
        <summary>${counted(more.length + left, "more line")}<span class="unseen"> of ${kindLabel(kind)}</span></summary>
        ${list(more)}
        ${left > 0 && html`<p class="more">${grouped(left)} more are in the files.</p>`}</details>`
}</li>`;
}

/** Builds with the same error may differ in its place; the one that is shown is that of the last. */
function renderErrorLine(row: CauseRow, now: Date): Markup {
  const where = row.places > 1 ? ` in ${counted(row.places, "place")}` : "";
  return html`<li>${row.example === null ? html`<span>no error line</span>` : html`<code>${foreign(row.example, 180)}</code>`}<span>
    ${row.failures > 1 && `${counted(row.failures, "build")}${where}, last `}${buildLink(row.last_build_id)},
    ${age(row.last_triggered_at, now)}</span></li>`;
}
