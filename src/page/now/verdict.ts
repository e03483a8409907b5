/** The verdict of now: one sentence about the builds, and what speaks for it. */
import { counted, grouped } from "../../base/text.ts";
import { countIn, sumIn } from "../parts/answers.ts";
import { countOf, type RisingLine, sayRising } from "../parts/changes.ts";
import type { Verdict, VerdictLook } from "../parts/document.ts";
import type { PageMoment } from "../parts/freshness.ts";
import { html, joined, type Markup, sentences, shorten, wholePercent } from "../parts/html.ts";
import type { Trouble } from "../parts/incidents.ts";
import { saysKind } from "../parts/kinds.ts";
import { projectLink } from "../parts/links.ts";
import { ago, clockWords, DAY_MS, momentMs, when } from "../parts/marks.ts";
import { type KindCount, type NewestBreak, type NowAnswers, type NowSpan, spanOf } from "./now-scope.ts";
import {
  type Arrivals,
  arrivalWords,
  FEWEST_DAYS,
  judgeFew,
  judgeQuiet,
  moreWords,
  ordinaryWords,
  rangeWords,
  readArrivals,
  type UsualFacts,
  usualOf,
  usualWords,
  worseWords,
} from "./usual.ts";

const MOST_DAYS = 28;

/** The facts by which the verdict is judged. */
export interface NowVerdictFacts extends UsualFacts {
  readonly now: Date;
  readonly at: Date;
  /** The page is a file. @default false */
  readonly isFile?: boolean | undefined;
  /** The 24 hours in words, "in the last 24 hours"; and "ago". */
  readonly span: string;
  readonly ago: string;
  readonly asOf: Date | null;
  readonly isStale: boolean;
  readonly trouble: string | null;
  /** The trouble of the platform, in which far more projects failed than usual. */
  readonly incident: Trouble | undefined;
  /** The number of the last three hours that had enough builds to show the trouble of half of the projects. */
  readonly hoursLookedAt: number;
  /** Those of them in which something broke that had succeeded before. */
  readonly hadWorked: number;
  readonly brokeAndFixed: number;
  readonly newest: NewestBreak | undefined;
  /** Projects that fail, for however long. */
  readonly failing: number;
  readonly projects: number;
  /** Finished builds of all time. */
  readonly finished: number;
  readonly rising: readonly RisingLine[];
  readonly arrivals: Arrivals;
  /** Failures of the 24 hours by kind, the most frequent first. */
  readonly kinds: readonly Pick<KindCount, "error_class" | "failures" | "usual_share">[];
}

/** The verdict, as the blocks take it. */
export interface NowSaid {
  readonly verdict: Verdict;
  readonly facts: NowVerdictFacts;
  /** Builds do not arrive as usual. */
  readonly isSilent: boolean;
  /** Nothing was built since the end of `of`. */
  readonly isQuiet: boolean;
  readonly of: NowSpan;
}

export function readVerdictFacts(answers: NowAnswers, moment: PageMoment): NowVerdictFacts {
  const { now, at, isNow, isFile, day, freshness } = moment;
  const { asOf, isStale, trouble } = freshness;
  const { within, ago, since } = spanOf(moment);
  const brokeOn = (daysBefore: number) => answers.broke.find(({ days_before }) => days_before === daysBefore);
  const [totals] = answers.totals;
  const [newest] = answers.newest;
  const broke = countIn(brokeOn(0), "broke");
  const lately = countOf(answers.rates.filter(({ is_last_day }) => is_last_day));
  // The day of the moment is a part of the 24 hours.
  const usually = answers.days
    .filter(({ finished }) => countIn({ finished }, "finished") > 0)
    .filter(({ day }) => day < since.slice(0, 10));
  return {
    now,
    at,
    isNow,
    isFile,
    day,
    span: within,
    ago,
    asOf,
    isStale,
    trouble,
    incident: answers.trouble[0],
    hoursLookedAt: countIn(answers.looked[0], "looked_at"),
    broke,
    hadWorked: countIn(brokeOn(0), "had_worked"),
    brokeAndFixed: broke - countIn(brokeOn(0), "still_failing"),
    usualDays: Array.from({ length: knownDays(totals?.first_day, at) }, (_, place) =>
      countIn(brokeOn(place + 1), "broke"),
    ),
    // Where something broke it is one of those; they may all be fixed or gone.
    newest: momentMs(newest?.newest_failing_since) > (broke > 0 ? momentMs(since) : 0) ? newest : undefined,
    before: answers.before[0],
    lately,
    usuallyDays: usually.length,
    usually: countOf(usually),
    failing: sumIn(answers.failing, "projects"),
    projects: countIn(totals, "projects"),
    finished: countIn(totals, "finished"),
    finishedLately: lately.finished,
    rising: answers.rising,
    arrivals: readArrivals(answers.arrivals[0]),
    kinds: answers.kinds,
  };
}

/** The whole days before the last 24 hours in which builds are known, at most 28. */
function knownDays(firstDay: string | null | undefined, at: Date): number {
  const since = Date.parse(String(firstDay));
  if (Number.isNaN(since)) return 0;
  return Math.min(MOST_DAYS, Math.max(0, Math.floor((at.getTime() - since) / DAY_MS) - 1));
}

/** A verdict without its look. */
type Said = Pick<Verdict, "title" | "mark" | "sentence" | "acts"> & {
  readonly evidence: Markup | string;
};

type Judge = (facts: NowVerdictFacts) => Said | null;

/**
 * In this order the first that holds. A verdict that makes the rest untrue comes first: nothing was read, or not lately, or nothing is
 * built any more. Then what is red, which is more than usual; then what is amber; then what is known and usual.
 */
const VERDICTS = {
  unknown: [judgeUnread, "idle"],
  stale: [judgeStale, "warn"],
  quiet: [judgeQuiet, "bad"],
  platform: [judgePlatform, "bad"],
  nothing: [judgeEmpty, "idle"],
  rising: [judgeRising, "some"],
  many: [judgeMany, "bad"],
  worse: [judgeWorse, "some"],
  few: [judgeFew, "warn"],
  some: [judgeSome, "known"],
  failing: [judgeFailing, "flat"],
} as const satisfies Record<string, readonly [Judge, VerdictLook]>;

interface NowVerdict extends Said {
  readonly kind: keyof typeof VERDICTS | "none";
  readonly look: VerdictLook;
}

export function judge(facts: NowVerdictFacts): NowVerdict {
  for (const [kind, [judgeOne, look]] of Object.entries(VERDICTS)) {
    const said = judgeOne(facts);
    if (said !== null) return { kind: kind as keyof typeof VERDICTS, look, ...said };
  }
  const { day, isNow, isFile } = facts;
  const fails = day !== undefined ? `failed at the end of ${day.name}` : isNow ? "fails" : "failed";
  return {
    kind: "none",
    look: isFile ? "flat" : "good",
    title: isFile ? "Nothing failed" : isNow ? "✓ Nothing fails" : "✓ Nothing failed",
    sentence: `Nothing ${fails}: the last finished build of every version and format succeeded.`,
    evidence: firstTwo(
      day === undefined
        ? `${counted(facts.projects, "project")}, ${counted(facts.finished, "finished build")}, as of ${when(facts.at, facts.now)} UTC.`
        : `${counted(facts.finishedLately, "build")} of that day finished.`,
      arrivalWords(facts),
    ),
  };
}

function judgeUnread({ asOf }: NowVerdictFacts): Said | null {
  if (asOf !== null) return null;
  return {
    title: "Nothing is known yet",
    sentence: "Nothing is known yet: no sync has read the list of builds.",
    evidence: "So this page says neither that builds succeed nor that they fail.",
  };
}

function judgeStale({
  asOf,
  isStale,
  isFile,
  now,
  trouble,
  failing,
  projects,
}: NowVerdictFacts): Said | null {
  if (!isStale || asOf === null) return null;
  const then = Number.isNaN(asOf.getTime()) ? null : when(asOf, now);
  const was =
    trouble === null ? "No look at the builds has ended well since" : `The last run ${shorten(trouble, 160)}`;
  return {
    title: then === null ? "Not current" : `Not current: as of ${then}`,
    sentence:
      then === null
        ? "Not current: a wrong clock hides when the builds were last read."
        : html`Not current: what follows is as of ${then}${!isFile && html`, ${ago(asOf, now)}`}.`,
    evidence: `${was}. What broke since is not here; then, ${failingWords(failing, projects)}.`,
  };
}

function judgePlatform(facts: NowVerdictFacts): Said | null {
  const { incident, isNow, now } = facts;
  if (incident === undefined) return null;
  const { hour, until, projects } = incident;
  const since = when(incident.since, now);
  const how = isNow ? `has been in trouble since ${since}` : `was in trouble from ${since} on`;
  const between = `between ${when(hour, now)} and ${clockWords(until)}`;
  return {
    title: `The platform ${isNow ? "is" : "was"} in trouble`,
    sentence: `The platform ${how}: ${incident.projects_failing} of ${counted(projects, "project")} failed ${between}.`,
    evidence:
      `${grouped(Math.round(incident.projects_expected))} would be usual; ${brokeWords(facts)}. ` +
      "The failures of such an hour tell little about a project.",
  };
}

function judgeEmpty({ finished, projects, at, now }: NowVerdictFacts): Said | null {
  if (finished > 0) return null;
  return {
    title: "No finished build",
    sentence: "No build has finished yet, so none can have failed.",
    evidence: `${counted(projects, "project")}, as of ${when(at, now)} UTC.`,
  };
}

/** Red: more broke than on nine of ten days. */
function judgeMany(facts: NowVerdictFacts): Said | null {
  const [newest, fixed] = [newestWords(facts), fixedWords(facts)];
  const usual = usualOf(facts.usualDays);
  if (usual === null || facts.broke <= usual.high) return null;
  const broke = `${brokeWords(facts)}, more than usual (${rangeWords(usual)})`;
  return {
    title: `✗ ${titleOf(facts)}`,
    sentence: html`${joined([stateWords(facts), broke, fixed], "; ")}.${newest && html` The newest is ${newest}.`}`,
    evidence: evidenceOf(worseWords(facts), facts),
  };
}

/** Red: surely a larger share of the projects fails than in the ninety days before, whatever broke today. */
function judgeWorse(facts: NowVerdictFacts): Said | null {
  return moreWords(facts) === null ? null : { ...sayState(facts), title: `✗ ${titleOf(facts)}` };
}

/** Amber: some broke, and that is usual, or not known to be more. */
function judgeSome(facts: NowVerdictFacts): Said | null {
  return facts.broke === 0 ? null : sayState(facts);
}

/** A page that is read at night has two sentences of evidence: the first of these that have something to say. */
const firstTwo = (...parts: readonly (Markup | string | null | undefined | false)[]): Markup =>
  sentences(...parts.filter(Boolean).slice(0, 2));

/** How the day compares, and what most failures have in common. */
function evidenceOf(compared: string | null, facts: NowVerdictFacts): Markup {
  const kinds = kindsWords(facts);
  return firstTwo(compared, kinds ?? workedWords(facts), ...stateOfPlatform(facts, kinds === null));
}

/** Where no build came, that says more than what the platform does. */
function stateOfPlatform(facts: NowVerdictFacts, isUnsaid = true) {
  const said = [isUnsaid && platformWords(facts), arrivalWords(facts)];
  return facts.arrivals.lately.builds === 0 ? said.toReversed() : said;
}

/** The state first, then what changed. */
function sayState(facts: NowVerdictFacts): Said {
  const newest = facts.broke > 0 && newestWords(facts);
  const broke = `${brokeWords(facts)}${usualWords(facts)}`;
  const changed = [broke, fixedWords(facts), newest && html`the newest, ${newest}`];
  return {
    title: titleOf(facts),
    sentence: html`${joined([stateWords(facts), ...changed], "; ")}.`,
    evidence: evidenceOf(ordinaryWords(facts), facts),
  };
}

const titleOf = ({ failing, broke }: NowVerdictFacts): string =>
  `${grouped(failing)} failing, ${broke === 0 ? "none newly" : `${grouped(broke)} broke in 24 h`}`;

/** `30 projects have a version or format that broke in the last 24 hours`; such a project may fail for longer by another one. */
function brokeWords({ broke, span, isNow }: NowVerdictFacts): string {
  if (broke === 0) return `nothing broke ${span}`;
  const have = isNow ? (broke === 1 ? "has" : "have") : "had";
  return `${counted(broke, "project")} ${have} a version or format that broke ${span}`;
}

/** `238 of 700 projects fail, 230 a day ago`. */
function stateWords({ failing, projects, day, isNow, usualDays, before }: NowVerdictFacts): string {
  const [one, many] = isNow ? ["fails", "fail"] : ["failed", "failed"];
  const at = day === undefined ? "" : ` at the end of ${day.name}`;
  if (failing === 0) return `No project ${one}${at}`;
  // Nobody knows how many projects there were on a day of the past.
  const of =
    day === undefined
      ? `${grouped(failing)} of ${counted(projects, "project")}`
      : counted(failing, "project");
  // A mirror of few days knows too little of the day before.
  const then =
    before === undefined || usualDays.length < FEWEST_DAYS
      ? ""
      : `, ${grouped(before.failing_day_ago)} a day ${isNow && day === undefined ? "ago" : "before"}`;
  return `${of} ${failing === 1 ? one : many}${at}${then}`;
}

/** Plain: what fails is known, and nothing is new. */
function judgeFailing(facts: NowVerdictFacts): Said | null {
  const newest = newestWords(facts);
  if (facts.failing === 0) return null;
  return {
    title: titleOf(facts),
    sentence: `${stateWords(facts)}; ${brokeWords(facts)}.`,
    evidence: firstTwo(
      ordinaryWords(facts),
      facts.arrivals.lately.builds > 0 && newest && html`The newest break is that of ${newest}.`,
      ...stateOfPlatform(facts),
    ),
  };
}

const newestWords = ({ newest, now, ago: from }: NowVerdictFacts): Markup | undefined =>
  newest && html`${projectLink(newest.project_slug)}, ${ago(newest.newest_failing_since, now, from)}`;

function fixedWords({ broke, brokeAndFixed, day, isNow }: NowVerdictFacts): string | null {
  if (brokeAndFixed === 0) return null;
  const of = broke === 1 ? "it" : `${brokeAndFixed === broke ? "all" : grouped(brokeAndFixed)} of them`;
  if (day !== undefined) return `${of} had been fixed by its end`;
  const [is, are] = isNow ? ["is", "are"] : ["was", "were"];
  return `${of} ${brokeAndFixed === 1 ? is : are} fixed`;
}

/** A series that never worked did not break, as `broke_daily` counts it. */
function workedWords({ broke, hadWorked }: NowVerdictFacts): string | null {
  if (hadWorked === broke) return null;
  if (broke === 1) return "It had never worked before.";
  return `Of the ${grouped(broke)}, ${hadWorked === 0 ? "none" : grouped(hadWorked)} had worked before.`;
}

function failingWords(failing: number, projects: number): string {
  return failing === 0
    ? "no project was failing"
    : `${grouped(failing)} of ${counted(projects, "project")} ${failing === 1 ? "was" : "were"} failing`;
}

/** The kind of most failures, and whether the platform may be their cause. */
function kindsWords(facts: NowVerdictFacts): string | null {
  const total = sumIn(facts.kinds, "failures");
  const [first] = facts.kinds;
  if (first === undefined || total < 5 || first.failures < total / 3) return null;
  const share = wholePercent(first.failures / total);
  const usual =
    first.usual_share === null || facts.usualDays.length < FEWEST_DAYS
      ? ""
      : `, usually ${wholePercent(first.usual_share)}`;
  return `Of the ${grouped(total)} failed builds, ${share} ${saysKind(first.error_class)}${usual}; ${ofPlatform(facts)}.`;
}

function ofPlatform({ hoursLookedAt, day, isNow }: NowVerdictFacts): string {
  const hours =
    day === undefined ? (isNow ? "in the last 3 hours" : "in the last 3 of them") : "in each hour";
  return hoursLookedAt === 0
    ? `too few builds ${hours} to tell trouble of the platform`
    : `no sign of trouble of the platform in the ${counted(hoursLookedAt, "hour")} with enough builds`;
}

function platformWords(facts: NowVerdictFacts): string {
  const words = ofPlatform(facts);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

/** One error line rose today in many projects: the cause of most of what broke. */
function judgeRising(facts: NowVerdictFacts): Said | null {
  const [first, ...others] = facts.rising;
  if (first === undefined) return null;
  const { links, ...said } = sayRising(first, facts);
  const more = others.length === 0 ? "" : `; ${counted(others.length, "other line")} too`;
  return {
    ...said,
    evidence: `${said.evidence}${more}. Of whatever error, ${brokeWords(facts)}.`,
    acts: html`${links}
      <a href="/errors">All that rises</a>`,
  };
}
