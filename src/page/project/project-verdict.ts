import { type SQL, sql } from "drizzle-orm";
import { counted, grouped } from "../../base/text.ts";
import { ask, inline, onPage, pick, type Question, relation } from "../../report/ask.ts";
import { wilsonInterval } from "../../report/wilson-interval.ts";
import type { Row } from "../parts/answers.ts";
import { block, type Empty, part } from "../parts/block.ts";
import { differenceOf, renderPoints } from "../parts/changes.ts";
import type { Verdict } from "../parts/document.ts";
import { foreign, html, type Markup, shorten, slugWords, targetWords, wholePercent } from "../parts/html.ts";
import { kindLabel } from "../parts/kinds.ts";
import { buildHref, buildLink, outsideLink, targetTag, withQuery } from "../parts/links.ts";
import { age, agoWords, dayWords, icon, mark, momentMs, momentTag } from "../parts/marks.ts";
import { drawStrip, lastFailed, renderWhy } from "../parts/strips.ts";
import {
  askForFailing,
  askForRecent,
  askForSeries,
  askForTotals,
  findStrips,
  isOf,
  MOST_FAILING,
  NEWEST,
  numberOf,
  OWN,
  type ProjectScope,
  STRIP_BUILDS,
} from "./project-scope.ts";

const build = relation("fact_builds");
const open = relation("open_builds");
const version = relation("dim_versions");

const BAD = { sign: "✗", look: "some" } as const;
const FAILING = { ...BAD, mark: { kind: "bad", word: "Failing" } } as const;
const IN_PART = { ...BAD, mark: { kind: "bad2", word: "Failing in part" } } as const;
const GOOD = { sign: "✓", look: "good", mark: { kind: "good", word: "Good" } } as const;
const UNKNOWN = { sign: "?", look: "idle", mark: { kind: "idle", word: "Not known" } } as const;

/**
 * Whether a project's main docs are good; then whether all else is. What was never finished is neither. `rest` follows the
 * project's slug.
 */
function judgeProject(answers: Answers, { project, now, isNow }: ProjectScope) {
  const [first] = answers.failing;
  const others = numberOf(answers.failing, "total") - (first?.is_main === true ? 1 : 0);
  const [main] = answers.main;
  const builds = numberOf(answers.totals, "builds");
  const fail = counted(others, "other version or format fails", "other versions or formats fail");
  if (project.is_deleted === true) return { ...UNKNOWN, rest: " is gone: the service no longer has it." };
  if (first?.is_main === true) {
    const ago = agoWords(first.failing_since, now);
    const how = !isNow
      ? "were failing when the mirror last looked"
      : ago === null
        ? "are failing"
        : `have been failing for ${ago}`;
    return { ...FAILING, rest: `: the main docs ${how}.` };
  }
  if (project.project_id === "-1")
    return others > 0
      ? { ...IN_PART, rest: `: ${counted(others, "version or format fails", "versions or formats fail")}.` }
      : { ...UNKNOWN, rest: ": builds whose project the mirror does not have." };
  if (main !== undefined && others > 0) return { ...IN_PART, rest: `: the main docs are good, but ${fail}.` };
  if (main !== undefined && isNow) return { ...GOOD, rest: " is good, and so are its main docs." };
  if (main !== undefined) return { ...GOOD, rest: " was good when the mirror last looked." };
  if (others > 0) return { ...IN_PART, rest: `: of the main docs nothing is known, and ${fail}.` };
  if (numberOf(answers.totals, "finished") > 0)
    return { ...UNKNOWN, rest: ": of the main docs nothing is known." };
  if (builds === 0) return { ...UNKNOWN, rest: ": no build of it is known." };
  return { ...UNKNOWN, rest: `: none of its ${counted(builds, "build")} has finished.` };
}

/** The verdict of a project with its cause, the links that matter, and its figures. */
export const projectVerdict = part({
  asks: askForVerdict,
  async draw(answers, scope, _said, tx): Promise<Verdict> {
    const { project, subject, now } = scope;
    // Where the service has the documentation, which no relation of the reports says.
    const [row] = await tx<{ subdomain: string | null }[]>`
      select subdomain from mirror.projects where id = ${subject.id}`;
    const { look, mark, rest, sign } = judgeProject(answers, scope);
    const [worst] = answers.failing;
    const slug = String(project.project_slug);
    const name = project.project_name === slug ? slugWords(slug) : foreign(String(project.project_name), 80);
    const upstream = outsideLink(row?.subdomain, html`Documentation upstream ${icon("out")}`);
    return {
      title: `${sign} ${shorten(subject.slug, 80)}`,
      look,
      mark,
      crumbs: html`<a href="/projects">Projects</a> / ${name}`,
      sentence: html`${subject.id === "-1" ? "Unknown projects" : slug === "" ? html`(empty)` : foreign(slug, 200)}${rest}`,
      evidence: evidenceOf(answers, scope),
      acts: html`${worst === undefined ? "" : actsOf(worst, now)}${upstream ?? ""}`,
      figures: [
        rateFigure(answers),
        failingFigure(answers, now),
        buildsFigure(answers, now),
        openFigure(answers, now),
      ],
    };
  },
});

function askForVerdict(scope: ProjectScope) {
  const { id, mainVersion } = scope.subject;
  return {
    totals: askForTotals(scope),
    recent: askForRecent(scope),
    failing: askForFailing(scope),
    series: askForSeries(scope),
    /** The last finished build of the main documentation. */
    main: ask("fact_builds")`
select ${pick(build, "build_id", "outcome", "triggered_at")}
from ${build}
where ${isOf(scope)} and ${build.version_slug} = ${mainVersion} and ${build.type} = 'html' and ${build.succeeded} is not null
  and ${build.version_id} in (select ${version.version_id} from ${version} where not ${version.is_deleted})
order by ${NEWEST}
limit 1`,
    open: ask("open_builds")`
select ${pick(open, "build_id", "outcome", "triggered_at")}, count(*) over () as total,
  count(*) filter (where ${open.outcome} = 'stuck') over () as stuck
from ${open}
where ${open.project_id} = ${id}
order by ${open.triggered_at} desc nulls last, ${open.build_id} desc
limit 1`,
  };
}

type Answers = Readonly<Record<keyof ReturnType<typeof askForVerdict>, readonly Row[]>>;

function evidenceOf(answers: Answers, { project, subject, now }: ProjectScope): Markup | string {
  if (project.is_deleted === true)
    return html`The mirror found it deleted on ${momentTag(project.deleted_at, now)} UTC. What follows is what it knew.`;
  const [worst] = answers.failing;
  const [main] = answers.main;
  const target = targetWords(subject.mainVersion, "html");
  if (worst !== undefined) {
    const which = worst.is_main === true ? "" : html`${targetTag(worst)} `;
    return html`<span class="why">${which}<b>${kindLabel(worst.error_class)}</b>
      ${worst.error_line === null ? "" : html`<code>${foreign(String(worst.error_line), 240)}</code>`}</span>`;
  }
  if (main !== undefined)
    return html`The last finished build of each version and format succeeded; that of the main docs,
      ${target}, is ${buildLink(main.build_id)}, ${age(main.triggered_at, now)} ago.`;
  if (subject.id === "-1") return "";
  return `The main docs are ${target}; no build of them has finished.`;
}

function actsOf(row: Row, now: Date): Markup {
  const [failed, good] = [String(row.last_failed_build_id), String(row.last_succeeded_build_id)];
  const lastGood = html`<a href="${buildHref(good)}">Last good:
    ${foreign(good, 24)}, ${momentTag(row.last_succeeded_at, now)}</a>`;
  return html`<a href="${buildHref(failed)}">Build ${foreign(failed, 24)}</a>
    ${row.last_succeeded_build_id === null ? "" : lastGood}`;
}

/** The rate of the builds that the strip shows, against that of as many before. */
function rateFigure({ recent }: Answers) {
  const countOf = (rows: readonly Row[]) => ({
    succeeded: rows.filter(({ outcome }) => outcome === "succeeded").length,
    finished: rows.filter(({ outcome }) => outcome === "succeeded" || outcome === "failed").length,
  });
  const last = countOf(recent.slice(0, STRIP_BUILDS));
  const before = countOf(recent.slice(STRIP_BUILDS));
  const interval = wilsonInterval(last.succeeded, last.finished);
  const difference = differenceOf(last, before);
  const range =
    interval === null
      ? "nothing is known"
      : `95\u00a0% interval ${wholePercent(interval.low)} to ${wholePercent(interval.high)}`;
  const change =
    difference === null
      ? ""
      : html`${renderPoints(difference)}
          ${" "}<span>on the ${before.finished} before${difference.isChance ? ", within chance" : ""} · </span>`;
  return {
    label: "Succeeded",
    labelRest:
      last.finished === 0
        ? ""
        : `, last ${last.finished === 1 ? "" : `${last.finished} `}finished build${last.finished === 1 ? "" : "s"}`,
    value: last.finished === 0 ? "–" : wholePercent(last.succeeded / last.finished),
    unit: last.finished === 0 ? "none finished" : `${last.succeeded} of ${last.finished}`,
    note: html`${change}<span>${range}</span>`,
  };
}

function failingFigure({ failing, series }: Answers, now: Date) {
  const total = numberOf(failing, "total");
  const of = numberOf(series, "total");
  const oldest = agoWords(failing[0]?.oldest, now);
  return {
    label: "Failing",
    labelRest: " now",
    value: grouped(total),
    unit: `of ${counted(of, "version · format", "versions · formats")}`,
    note:
      total === 0
        ? "none of those that finished"
        : html`<a href="#failing">${oldest === null ? "what and why" : `the oldest for ${oldest}`}</a>`,
  };
}

function buildsFigure({ totals }: Answers, now: Date) {
  const since = momentMs(totals[0]?.first_triggered_at);
  const all = `${grouped(numberOf(totals, "builds"))}${Number.isNaN(since) ? " in all" : ` since ${dayWords(since, now)}`}`;
  return {
    label: "Builds",
    labelRest: ", last 7 days",
    value: grouped(numberOf(totals, "week")),
    note: `${grouped(numberOf(totals, "week_before"))} in the 7 days before; ${all}`,
  };
}

function openFigure({ open }: Answers, now: Date) {
  const [newest] = open;
  const [total, stuck] = [numberOf(open, "total"), numberOf(open, "stuck")];
  const ago = agoWords(newest?.triggered_at, now);
  const some = stuck === total ? "stuck" : `open, ${grouped(stuck)} stuck`;
  return {
    label: "Open",
    labelRest: " builds",
    value: grouped(total),
    unit: total === 0 ? "open" : stuck === 0 ? "in progress" : some,
    note:
      newest === undefined
        ? "no build is open"
        : html`${buildLink(newest.build_id)}${ago === null ? "" : `, ${ago}`}`,
  };
}

const MOST_LINES = 200;
const FEW_LINES = 3;

/** What fails of a project: its main docs first, then the newest break. */
export const failing = block({
  id: "failing",
  narrowedBy: OWN,
  asks: (scope: ProjectScope) => ({ rows: askForFailing(scope), totals: askForTotals(scope) }),
  async draw({ rows, totals }, scope, _said, tx) {
    const { now, isNow } = scope;
    const strips = await findStrips(tx, scope, rows);
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
      empty: failures === 0 && noneOf(totals, "None failed.", (finished) => `It has ${finished}.`),
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
function renderErrorLine({ example, places, failures, last_build_id, last_triggered_at }: Row, now: Date) {
  const where = Number(places) > 1 ? ` in ${counted(Number(places), "place")}` : "";
  const times = Number(failures) > 1 ? `${counted(Number(failures), "build")}${where}, last ` : "";
  const line =
    example === null ? html`<span>no error line</span>` : html`<code>${foreign(String(example), 180)}</code>`;
  return html`<li>${line}<span>${times}${buildLink(last_build_id)}, ${age(last_triggered_at, now)}</span></li>`;
}
