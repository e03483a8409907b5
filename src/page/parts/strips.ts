import { type SQL, sql } from "drizzle-orm";
import { counted, grouped } from "../../base/text.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { type Asks, askEach, countIn, question } from "./answers.ts";
import { type Count, countOf } from "./changes.ts";
import { foreign, html, type Markup, shorten, targetWords } from "./html.ts";
import { kindLabel } from "./kinds.ts";
import { buildHref, buildLink, CURRENT } from "./links.ts";
import { age, ICONS, icon, mark, momentTag, outcomeMark, spanBetween, when } from "./marks.ts";
import { dayName, dayNumber, dayText } from "./period.ts";

const STEP = 5;

/**
 * Builds in a row as one picture, the oldest first: up succeeded, down failed, on the line all others. `of`
 * says which builds, such as "latest · html". `places` is how many fit. @default 20
 */
export function drawStrip(outcomes: readonly string[], of: string, places = 20): Markup {
  const shown = outcomes.slice(-places);
  const width = places * STEP;
  const start = width - shown.length * STEP + 2;
  const lines = drawLines(
    shown.map((outcome) => ({ succeeded: outcome === "succeeded", failed: outcome === "failed" })),
    (place) => start + place * STEP,
  );
  const words = stripWords(shown, of);
  return html`<svg class="wl" role="img" aria-label="${words}" width="${width}" height="22"
    viewBox="0 0 ${width} 22" preserveAspectRatio="xMaxYMid slice"><title>${words}</title>
    <path class="axis" d="M0 11H${width}"/>${lines}</svg>`;
}

/** What became of a build, or of those of a day. */
interface Ends {
  readonly succeeded: boolean;
  readonly failed: boolean;
  /** Neither is drawn on the line. @default true */
  readonly isThere?: boolean;
}

/** A line for each of some builds or days at its place: up where one succeeded, down where one failed, else on the line. */
function drawLines(all: readonly Ends[], at: (place: number) => number): Markup {
  const path = (kind: string, draw: string, isOne: (ends: Ends) => boolean) => {
    const lines = all.map((ends, place) => (isOne(ends) ? `M${at(place)} ${draw}` : "")).join("");
    return lines && html`<path class="${kind}" d="${lines}"/>`;
  };
  return html`${path("up", "10V4", ({ succeeded }) => succeeded)}
    ${path("down", "12v8", ({ failed }) => failed)}
    ${path("mid", "9.5v3", ({ succeeded, failed, isThere }) => !succeeded && !failed && isThere !== false)}`;
}

/** A strip in words, as a sentence without its verb. */
function stripWords(outcomes: readonly string[], of: string): string {
  const count = (outcome: string) => outcomes.filter((one) => one === outcome).length;
  const [succeeded, failed] = [count("succeeded"), count("failed")];
  const cancelled = count("cancelled");
  const open = outcomes.length - succeeded - failed - cancelled;
  if (outcomes.length === 0) return `no builds of ${of}`;
  const [, newest] = outcomeMark(outcomes.at(-1));
  const others = [cancelled > 0 ? `, ${cancelled} cancelled` : "", open > 0 ? `, ${open} not finished` : ""];
  const ends = `${succeeded} succeeded, ${failed} failed${others.join("")}`;
  return outcomes.length === 1
    ? `the only build of ${of}: ${newest}`
    : `the last ${outcomes.length} of ${of}: ${ends}; the newest: ${newest}`;
}

/** The outcomes of the last builds of something, the oldest first. */
export interface StripRow {
  readonly outcomes: readonly string[] | null;
}

interface StripBuild {
  readonly build_id: string;
  readonly outcome: string;
  readonly triggered_at: string | null;
  readonly error_class: string | null;
}

/**
 * Builds in a row as links, the oldest first: 30 a row, fewer on a narrow page. Each says what it is of by `targetOf`, and its end, such as
 * "latest · html, 16 Nov 18:13 UTC: Out of memory". `current` is outlined.
 */
export function linkStrip<B extends StripBuild>(
  builds: readonly B[],
  targetOf: (build: B) => string,
  now: Date,
  current?: string,
): Markup {
  const few = builds.length < 15 ? " few" : "";
  return html`<ol class="strip${few}">${builds.map((build) => {
    const { build_id: id, outcome, triggered_at, error_class } = build;
    const [kind, word] = outcomeMark(outcome);
    const at = triggered_at === null ? "no date" : `${when(triggered_at, now)} UTC`;
    const why = error_class === null ? "" : `: ${kindLabel(error_class)}`;
    const text = shorten(`${id} ${word}, ${targetOf(build)}, ${at}${why}`, 200);
    return html`<li><a class="${kind}" href="${buildHref(id)}"
      title="${text}"${id === current && CURRENT}>${icon(ICONS[kind])}
      <span class="unseen">${text}</span></a></li>`;
  })}</ol>`;
}

/** A series that fails: a row of `report.failing_now`, or one with its columns. */
export interface Failing {
  readonly version_slug: string;
  readonly type: string;
  readonly is_main: boolean | null;
  readonly error_class: string;
  readonly error_line: string | null;
  readonly failing_since: string | null;
  /** In a row. */
  readonly failures: number;
  readonly last_failed_at: string | null;
  readonly last_failed_build_id: string;
  readonly last_succeeded_at: string | null;
  readonly last_succeeded_build_id: string | null;
}

interface FailFacts {
  /** The main docs of its project fail. @default that it is of them itself */
  readonly isMainFailing?: boolean;
  /** The word of its mark, where it is not of the main docs. */
  readonly part: string;
  readonly name: Markup;
  /** Behind its name. @default nothing */
  readonly tags?: Markup | false;
  /** The reason of the failure, and what else there is to say. */
  readonly told: Markup;
  /** The outcomes of its last builds, the oldest first. */
  readonly outcomes: readonly string[];
}

/** A series that fails, as an item of a list. */
export function renderFail(row: Failing, facts: FailFacts, now: Date): Markup {
  const isMain = row.is_main === true;
  const { part, isMainFailing = isMain, name, tags, told, outcomes } = facts;
  return html`<li>
<span class="when">${age(row.failing_since, now)}</span>
${isMainFailing ? mark("bad", "main docs failing") : mark("bad2", part)}
<div class="name">${name}${isMain && html`<span class="tag strong">main docs</span>`}${tags}</div>
${told}
${drawStrip(outcomes, targetWords(row))}
</li>
`;
}

/** The reason of a failure: the kind of error and its line; and what else there is to say in the same paragraph. */
export const renderWhy = ({ error_class, error_line: line }: Failing, besides?: Markup): Markup =>
  html`<p class="why"><b>${kindLabel(error_class)}</b>${line !== null && html`<code>${foreign(line, 180)}</code>`}${besides}</p>`;

/** The last build of what fails, how often it failed in a row, and when it was last good; without `now` only that it never was. */
export function lastFailed(row: Failing, now?: Date): Markup {
  const { failures } = row;
  const isShown = now !== undefined || row.last_succeeded_build_id === null;
  return html`<span>build ${buildLink(row.last_failed_build_id)}${now && html`, ${momentTag(row.last_failed_at, now)}`}${
    failures > 1 && `, ${grouped(failures)} failures in a row`
  }${isShown && html` · ${lastGood(row)}`}</span>`;
}

function lastGood(row: Failing): Markup | string {
  if (row.last_succeeded_build_id === null)
    return row.failures === 1 ? "its first known build" : "no success is known";
  const before = spanBetween(row.last_succeeded_at, row.failing_since);
  return html`last good ${buildLink(row.last_succeeded_build_id)}${before && `, ${before} before`}`;
}

export const MAIN_DAYS = 90;
/** The width of a day in the picture. */
const DAY_STEP = 3;

const lastOf = (at: Date): number => dayNumber(at.toISOString());
const firstOf = (at: Date): number => lastOf(at) - MAIN_DAYS + 1;

/** These projects as rows of `shown`. */
export const shownProjects = (ids: readonly string[]): SQL =>
  sql`json_to_recordset(${JSON.stringify(ids.map((project_id) => ({ project_id })))}::text::json) as shown (project_id text)`;

/** The builds of the main docs of a project (html of its default version) on a day. */
interface MainDayRow {
  readonly project_id: string;
  readonly day: string;
  readonly builds: number;
  readonly finished: number;
  readonly succeeded: number;
}

const MAIN_DAY_ROWS = question<MainDayRow>("main_days", import.meta.url);

/** A row for each of these projects and each day with such a build. */
export const askForMainDays = (projectIds: readonly string[], at: Date): Asks<MainDayRow> =>
  MAIN_DAY_ROWS({
    shown: shownProjects(projectIds),
    first: dayText(firstOf(at)),
    at: at.toISOString(),
  });

const KNOWN_DAYS = question<{ readonly day: string }>("known_days", import.meta.url);

/** The days on which somebody looked. */
const askForKnownDays = (at: Date): Asks<{ readonly day: string }> =>
  KNOWN_DAYS({ first: dayText(firstOf(at)), last: dayText(lastOf(at)) });

const DAY_LOOKS = {
  good: "only successes",
  bad: "failures",
  open: "none finished",
  none: "no builds",
  unknown: "not known",
} as const;

interface MainDay {
  readonly number: number;
  /** Undefined for a day without builds. */
  readonly row: MainDayRow | undefined;
  readonly look: keyof typeof DAY_LOOKS;
}

/** The main docs of a project on each of the last ninety days. */
export interface MainDays extends Count {
  readonly days: readonly MainDay[];
  readonly succeeded: number;
  readonly finished: number;
}

function lookOf(row: MainDayRow | undefined, isKnown: boolean): MainDay["look"] {
  if (row === undefined) return isKnown ? "none" : "unknown";
  if (row.finished === 0) return "open";
  return row.finished === row.succeeded ? "good" : "bad";
}

/** The days of each of these projects. A day that nobody looked at, or before the first known build, is not known. */
export async function findMainDays(
  tx: TransactionSql,
  projectIds: readonly string[],
  at: Date,
): Promise<(projectId: string) => MainDays> {
  const found = await askEach(tx, { rows: askForMainDays(projectIds, at), known: askForKnownDays(at) });
  const known = new Set(found.known.map(({ day }) => day));
  return (projectId) => {
    const rows = found.rows.filter(({ project_id }) => project_id === projectId);
    const days = Array.from({ length: MAIN_DAYS }, (_, place) => {
      const number = firstOf(at) + place;
      const text = dayText(number);
      const row = rows.find(({ day }) => day === text);
      return { number, row, look: lookOf(row, known.has(text)) };
    });
    return { days, ...countOf(rows) };
  };
}

/**
 * Up: builds of the day succeeded; down: builds of it failed; on the line: none has finished. A line alone is a day without
 * builds, a dotted one a day that is not known. With `now` each day has its words, for a pointer.
 */
export function drawMainDays({ days }: MainDays, of: string, now?: Date): Markup {
  const line = (isUnknown: boolean) => {
    const isOne = (day: MainDay | undefined) => day !== undefined && (day.look === "unknown") === isUnknown;
    const draw = (place: number) => (isOne(days[place - 1]) ? "" : `M${DAY_STEP * place} 11`);
    return days.map((day, place) => (isOne(day) ? `${draw(place)}h${DAY_STEP}` : "")).join("");
  };
  const told = Object.entries(DAY_LOOKS).flatMap(([look, words]) => {
    const count = days.filter((day) => day.look === look).length;
    return count === 0 ? [] : `${words} on ${count}`;
  });
  const words = `${MAIN_DAYS} days of the main docs of ${of}: ${told.join(", ")}`;
  const titles =
    now &&
    days.map(({ number, row, look }, place) => {
      const counts =
        row && row.finished > 0
          ? `${row.succeeded} of ${counted(row.finished, "finished build")} succeeded`
          : DAY_LOOKS[look];
      return html`<rect class="m-none" x="${DAY_STEP * place}" width="${DAY_STEP}" height="22"><title>${dayName(number, now)}: ${counts}</title></rect>`;
    });
  return html`<svg class="wl days90" role="img" aria-label="${words}" width="180" height="22"
    viewBox="0 0 ${DAY_STEP * MAIN_DAYS} 22" preserveAspectRatio="none"><title>${words}</title>
    <path class="axis" d="${line(false)}"/><path class="axis dotted" d="${line(true)}"/>
    ${drawLines(
      days.map(({ row, look }) => ({
        succeeded: countIn(row, "succeeded") > 0,
        failed: look === "bad",
        isThere: look === "open",
      })),
      (place) => DAY_STEP * (place + 0.5),
    )}${titles}</svg>`;
}
