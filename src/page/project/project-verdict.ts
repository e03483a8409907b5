import { counted, grouped } from "../../base/text.ts";
import { wilsonInterval } from "../../report/wilson-interval.ts";
import { age, agoWords, dayWords, momentMs, momentTag } from "../parts/age.ts";
import { renderPoints } from "../parts/charts/delta.ts";
import { differenceOf } from "../parts/charts/difference.ts";
import { html } from "../parts/html.ts";
import { icon, type Tone } from "../parts/icon.ts";
import { buildHref } from "../parts/links.ts";
import type { MarkKind } from "../parts/mark.ts";
import type { PageMoment } from "../parts/page-moment.ts";
import { buildLink, targetTag } from "../parts/record-links.ts";
import type { Row } from "../parts/row.ts";
import { renderFigures, renderVerdict, type VerdictLook } from "../parts/verdict-bar.ts";
import { foreign, kindLabel, type Markup, slugWords, targetWords, wholePercent } from "../parts/words.ts";
import { outsideLink } from "./outside-link.ts";
import { numberOf, type ProjectAnswers } from "./project-answers.ts";
import { STRIP_BUILDS, type Subject } from "./project-questions.ts";

export interface ProjectVerdict {
  readonly look: VerdictLook;
  readonly mark: { readonly kind: MarkKind; readonly word: string };
  /** What follows the project's slug. */
  readonly rest: string;
  readonly tone: Tone;
  /** The sign before the title of the window. */
  readonly sign: "✗" | "✓" | "?";
}

const BAD = { tone: "bad", sign: "✗", look: "some" } as const;
const IN_PART = { ...BAD, mark: { kind: "bad2", word: "Failing in part" } } as const;
const UNKNOWN = { tone: "idle", sign: "?", look: "idle", mark: { kind: "idle", word: "Not known" } } as const;

/** Whether a project's main docs are good; then whether all else is. What was never finished is neither. */
export function judgeProject(project: Row, answers: ProjectAnswers, { now, at }: PageMoment): ProjectVerdict {
  const isNow = at.getTime() === now.getTime();
  const [first] = answers.failing;
  const others = numberOf(answers.failing, "total") - (first?.is_main === true ? 1 : 0);
  const [main] = answers.main;
  const builds = numberOf(answers.totals, "builds");
  const fail = `${counted(others, "other version or format fails", "other versions or formats fail")}`;
  if (project.is_deleted === true) return { ...UNKNOWN, rest: " is gone: the service no longer has it." };
  if (first?.is_main === true) {
    const ago = agoWords(first.failing_since, now);
    const how = !isNow
      ? "were failing when the mirror last looked"
      : ago === null
        ? "are failing"
        : `have been failing for ${ago}`;
    return { ...BAD, mark: { kind: "bad", word: "Failing" }, rest: `: the main docs ${how}.` };
  }
  if (project.project_id === "-1")
    return others > 0
      ? { ...IN_PART, rest: `: ${counted(others, "version or format fails", "versions or formats fail")}.` }
      : { ...UNKNOWN, rest: ": builds whose project the mirror does not have." };
  if (main !== undefined && others > 0) return { ...IN_PART, rest: `: the main docs are good, but ${fail}.` };
  if (main !== undefined)
    return {
      tone: "good",
      sign: "✓",
      look: "good",
      mark: { kind: "good", word: "Good" },
      rest: isNow ? " is good, and so are its main docs." : " was good when the mirror last looked.",
    };
  if (others > 0) return { ...IN_PART, rest: `: of the main docs nothing is known, and ${fail}.` };
  if (numberOf(answers.totals, "finished") > 0)
    return { ...UNKNOWN, rest: ": of the main docs nothing is known." };
  return {
    ...UNKNOWN,
    rest:
      builds === 0 ? ": no build of it is known." : `: none of its ${counted(builds, "build")} has finished.`,
  };
}

export interface ProjectVerdictFacts {
  readonly project: Row;
  readonly subject: Subject;
  readonly answers: ProjectAnswers;
  readonly moment: PageMoment;
  /** The address of its documentation, as the service sent it. */
  readonly address: unknown;
}

/** The verdict of a project with its cause, the links that matter, and its figures. */
export function renderProjectVerdict(facts: ProjectVerdictFacts): Markup {
  const { project, subject, answers, moment: at, address } = facts;
  const { look, mark, rest } = judgeProject(project, answers, at);
  const [worst] = answers.failing;
  const slug = String(project.project_slug);
  const name = project.project_name === slug ? slugWords(slug) : foreign(String(project.project_name), 80);
  const upstream = outsideLink(address, html`Documentation upstream ${icon("out")}`);
  return renderVerdict({
    look,
    mark,
    crumbs: html`<a href="/projects">Projects</a> / ${name}`,
    sentence: html`${subject.id === "-1" ? "Unknown projects" : slug === "" ? html`(empty)` : foreign(slug, 200)}${rest}`,
    evidence: evidenceOf(facts),
    acts: html`${worst === undefined ? "" : actsOf(worst, at.now)}${upstream ?? ""}`,
    figures: renderProjectFigures(answers, at.now),
  });
}

function evidenceOf({ project, subject, answers, moment: { now } }: ProjectVerdictFacts): Markup | string {
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

/** Links to the build that failed and to the last good one. */
function actsOf(row: Row, now: Date): Markup {
  const failed = html`<a href="${buildHref(String(row.last_failed_build_id))}">Build ${foreign(String(row.last_failed_build_id), 24)}</a>`;
  if (row.last_succeeded_build_id === null) return failed;
  return html`${failed}<a href="${buildHref(String(row.last_succeeded_build_id))}">Last good:
    ${foreign(String(row.last_succeeded_build_id), 24)}, ${momentTag(row.last_succeeded_at, now)}</a>`;
}

function renderProjectFigures(answers: ProjectAnswers, now: Date): Markup {
  return renderFigures(
    [rateFigure(answers), failingFigure(answers, now), buildsFigure(answers, now), openFigure(answers, now)],
    true,
  );
}

/** The rate of the builds that the strip shows, against that of as many before. */
function rateFigure({ recent }: ProjectAnswers) {
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
    labelRest: last.finished === 0 ? "" : `, last ${counted(last.finished, "finished build")}`,
    value: last.finished === 0 ? "–" : wholePercent(last.succeeded / last.finished),
    unit: last.finished === 0 ? "none finished" : `${last.succeeded} of ${last.finished}`,
    note: html`${change}<span>${range}</span>`,
  };
}

function failingFigure({ failing, series }: ProjectAnswers, now: Date) {
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

function buildsFigure({ totals }: ProjectAnswers, now: Date) {
  const since = momentMs(totals[0]?.first_triggered_at);
  const all = `${grouped(numberOf(totals, "builds"))}${Number.isNaN(since) ? " in all" : ` since ${dayWords(since, now)}`}`;
  return {
    label: "Builds",
    labelRest: ", last 7 days",
    value: grouped(numberOf(totals, "week")),
    note: `${grouped(numberOf(totals, "week_before"))} in the 7 days before; ${all}`,
  };
}

function openFigure({ open }: ProjectAnswers, now: Date) {
  const [newest] = open;
  const [total, stuck] = [numberOf(open, "total"), numberOf(open, "stuck")];
  const ago = agoWords(newest?.triggered_at, now);
  return {
    label: "Open",
    labelRest: " builds",
    value: grouped(total),
    unit:
      total === 0
        ? "open"
        : stuck === total
          ? "stuck"
          : stuck === 0
            ? "in progress"
            : `open, ${grouped(stuck)} stuck`,
    note:
      newest === undefined
        ? "no build is open"
        : html`${buildLink(newest.build_id)}${ago === null ? "" : `, ${ago}`}`,
  };
}
