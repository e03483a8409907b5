/** What can be said about the builds in one sentence, and what speaks for it. */
import { counted, grouped } from "../../base/text.ts";
import { agoWords, clockWords, span, when } from "../parts/age.ts";
import { shorten, wholePercent } from "../parts/html.ts";
import { kindLabel } from "../parts/kinds.ts";
import type { Tone } from "../parts/marks.ts";
import { beforeWords, type RisingLine, risingWords, sayingOf } from "../parts/rising.ts";
import { type Arrivals, arrivalWords, judgeFew, judgeQuiet } from "./arrivals-verdict.ts";

interface Break {
  readonly slug: string;
  /** As Postgres prints it. */
  readonly brokeAt: string;
}

interface PlatformHour {
  /** The hour's start, in milliseconds. */
  readonly from: number;
  readonly projects: number;
  readonly failing: number;
  readonly expected: number;
}

export interface NowVerdictFacts {
  /** The minute of the reader. */
  readonly now: Date;
  /** The end of the 24 hours: `now`, or the moment of the data where that is old. */
  readonly at: Date;
  /** Null before the first walk of the builds that ended well. */
  readonly asOf: Date | null;
  readonly isStale: boolean;
  /** What ended the last run, where it did not succeed. */
  readonly trouble: string | null;
  /** The newest hour of the last three in which far more projects failed than usual. */
  readonly platformHour: PlatformHour | null;
  /** How many of the last three hours had enough builds to show trouble. */
  readonly hoursLookedAt: number;
  /** Projects that broke in the 24 hours, those fixed since included. */
  readonly broke: number;
  /** Of these, those that fail no more. */
  readonly brokeAndFixed: number;
  /** How many broke on each of the days before, at most 28, in any order. */
  readonly usualDays: readonly number[];
  readonly newest: Break | null;
  /** Projects that fail, for however long. */
  readonly failing: number;
  readonly projects: number;
  /** Finished builds of all time. */
  readonly finished: number;
  /** Of the builds that were triggered in the 24 hours, those that have finished. */
  readonly finishedLately: number;
  /** The error lines that rose in the 24 hours, those of the most projects first. */
  readonly rising: readonly RisingLine[];
  readonly arrivals: Arrivals;
  /** Failures of the 24 hours by class, the most frequent first. */
  readonly kinds: readonly { readonly kind: string; readonly failures: number }[];
}

export type VerdictKind =
  | "unknown"
  | "stale"
  | "quiet"
  | "platform"
  | "nothing"
  | "rising"
  | "many"
  | "few"
  | "some"
  | "failing"
  | "none";

export interface NowVerdict {
  readonly kind: VerdictKind;
  /** Of the window's icon. */
  readonly tone: Tone;
  /** For the title of the window. */
  readonly title: string;
  /** Has `{newest}` where the newest break is named. */
  readonly sentence: string;
  readonly evidence: string;
}

/** With fewer days there is no saying what is usual. */
const FEWEST_DAYS = 7;

type Judge = (facts: NowVerdictFacts) => NowVerdict | null;

/**
 * In this order the first that holds. What makes the rest untrue comes first: nothing was read, or not lately, or nothing is
 * built any more. Then what is red, which is more than usual; then what is amber; then what is known and usual.
 */
const JUDGES: readonly Judge[] = [
  judgeUnread,
  judgeStale,
  judgeQuiet,
  judgePlatform,
  judgeEmpty,
  ({ rising, broke, now }) => judgeRising(rising, broke, now),
  judgeMany,
  judgeFew,
  judgeSome,
  judgeFailing,
];

export function judge(facts: NowVerdictFacts): NowVerdict {
  for (const judgeOne of JUDGES) {
    const verdict = judgeOne(facts);
    if (verdict !== null) return verdict;
  }
  return {
    kind: "none",
    tone: "good",
    title: "✓ Nothing fails",
    sentence: "Nothing fails: the last finished build of every version and format succeeded.",
    evidence: sentences(
      `${counted(facts.projects, "project")}, ${counted(facts.finished, "finished build")}, as of ${clockWords(facts.at.getTime())} UTC.`,
      arrivalWords(facts),
    ),
  };
}

function judgeUnread({ asOf }: NowVerdictFacts): NowVerdict | null {
  if (asOf !== null) return null;
  return {
    kind: "unknown",
    tone: "idle",
    title: "Nothing is known yet",
    sentence: "Nothing is known yet: no sync has read the list of builds.",
    evidence: "So this page says neither that builds succeed nor that they fail.",
  };
}

function judgeStale({ asOf, isStale, now, trouble, failing, projects }: NowVerdictFacts): NowVerdict | null {
  if (!isStale || asOf === null) return null;
  const then = Number.isNaN(asOf.getTime()) ? null : when(asOf.getTime(), now);
  const was = trouble === null ? "No sync has ended well since." : `The last run ${shorten(trouble, 160)}.`;
  return {
    kind: "stale",
    tone: "warn",
    title: then === null ? "Not current" : `Not current: as of ${then}`,
    sentence:
      then === null
        ? "Not current: a wrong clock hides when the builds were last read."
        : `Not current: what follows is as of ${then}, ${span(now.getTime() - asOf.getTime())} ago.`,
    evidence: `${was} What broke since is not here. Then, ${failingWords(failing, projects)}.`,
  };
}

function judgePlatform({ platformHour, broke }: NowVerdictFacts): NowVerdict | null {
  if (platformHour === null) return null;
  const { from, projects: all, failing: hit, expected } = platformHour;
  return {
    kind: "platform",
    tone: "bad",
    title: "The platform is in trouble",
    sentence: `The platform is in trouble: ${hit} of ${counted(all, "project")} failed between ${clockWords(from)} and ${clockWords(from + 3_600_000)}.`,
    evidence:
      `${grouped(Math.round(expected))} would be usual. The failures of such an hour tell little about a project. ` +
      `${counted(broke, "project")} broke in the last 24 hours.`,
  };
}

function judgeEmpty({ finished, projects, asOf }: NowVerdictFacts): NowVerdict | null {
  if (finished > 0) return null;
  return {
    kind: "nothing",
    tone: "idle",
    title: "No finished build",
    sentence: "No build has finished yet, so none can have failed.",
    evidence: `${counted(projects, "project")}, as of ${clockWords(asOf?.getTime() ?? 0)} UTC.`,
  };
}

/** Red: more broke than on nine of ten days. */
function judgeMany(facts: NowVerdictFacts): NowVerdict | null {
  const { broke, newest, now } = facts;
  const usual = usualOf(facts.usualDays);
  if (usual === null || broke <= usual.high) return null;
  const fixed = fixedWords(facts);
  const brokeWords = `${counted(broke, "project")} broke in the last 24 hours, more than usual (${rangeWords(usual)})`;
  return {
    kind: "many",
    tone: "bad",
    title: `✗ ${grouped(broke)} broke in 24 h`,
    sentence: `${brokeWords}${fixed === null ? "" : `; ${fixed}`}.${newest === null ? "" : ` The newest is {newest}, ${agoWords(newest.brokeAt, now)} ago.`}`,
    evidence: sentences(kindsWords(facts.kinds), platformWords(facts.hoursLookedAt), arrivalWords(facts)),
  };
}

/** Amber: some broke, and that is usual, or not known to be more. */
function judgeSome(facts: NowVerdictFacts): NowVerdict | null {
  const { broke, newest, now } = facts;
  if (broke === 0) return null;
  const clauses = [
    `${counted(broke, "project")} broke in the last 24 hours`,
    fixedWords(facts),
    newest === null ? null : `the newest, {newest}, ${agoWords(newest.brokeAt, now)} ago`,
  ];
  return {
    kind: "some",
    tone: "warn",
    title: `${grouped(broke)} broke in 24 h`,
    sentence: `${clauses.filter((clause) => clause !== null).join("; ")}.`,
    evidence: sentences(
      ordinaryWords(facts),
      kindsWords(facts.kinds),
      platformWords(facts.hoursLookedAt),
      arrivalWords(facts),
    ),
  };
}

/** Plain: what fails is known, and nothing is new. */
function judgeFailing(facts: NowVerdictFacts): NowVerdict | null {
  const { failing, newest, now } = facts;
  if (failing === 0) return null;
  return {
    kind: "failing",
    tone: "warn",
    title: `${grouped(failing)} failing, none newly`,
    sentence: `Nothing broke in the last 24 hours; ${counted(failing, "project fails", "projects fail")} for longer.`,
    evidence: sentences(
      newest === null ? null : `The newest break is that of {newest}, ${agoWords(newest.brokeAt, now)} ago.`,
      ordinaryWords(facts),
      platformWords(facts.hoursLookedAt),
      arrivalWords(facts),
    ),
  };
}

const sentences = (...all: readonly (string | null)[]): string =>
  all.filter((sentence) => sentence !== null).join(" ");

interface Usual {
  readonly low: number;
  readonly high: number;
}

/** From the 10th to the 90th percentile of the days; null for fewer than seven. */
export function usualOf(days: readonly number[]): Usual | null {
  if (days.length < FEWEST_DAYS) return null;
  const sorted = days.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? 0;
  return { low: at(0.1), high: at(0.9) };
}

const rangeWords = ({ low, high }: Usual): string =>
  low === high ? grouped(low) : `${grouped(low)} to ${grouped(high)}`;

/** A day on which nothing finished is neither ordinary nor quiet: nothing can have broken. */
function ordinaryWords({ usualDays, broke, finishedLately }: NowVerdictFacts): string | null {
  const usual = usualOf(usualDays);
  if (finishedLately === 0)
    return "No build of these 24 hours has finished, so none of them can have failed.";
  if (usual === null) return "There are too few days yet to say what is usual.";
  const isQuiet = broke < usual.low;
  return `${isQuiet ? "Fewer than usual" : "An ordinary day"}: ${rangeWords(usual)} on most of the last ${usualDays.length}.`;
}

function fixedWords({ broke, brokeAndFixed }: NowVerdictFacts): string | null {
  if (brokeAndFixed === 0) return null;
  if (brokeAndFixed === broke) return "all of them are fixed";
  return `${grouped(brokeAndFixed)} of them ${brokeAndFixed === 1 ? "is" : "are"} fixed`;
}

function failingWords(failing: number, projects: number): string {
  return failing === 0
    ? "no project was failing"
    : `${grouped(failing)} of ${counted(projects, "project")} ${failing === 1 ? "was" : "were"} failing`;
}

function kindsWords(kinds: NowVerdictFacts["kinds"]): string | null {
  const total = kinds.reduce((sum, { failures }) => sum + failures, 0);
  const [first] = kinds;
  if (first === undefined || total < 5 || first.failures < total / 3) return null;
  return `Of the ${grouped(total)} failed builds, ${wholePercent(first.failures / total)} say: ${kindLabel(first.kind)}.`;
}

function platformWords(hoursLookedAt: number): string {
  return hoursLookedAt === 0
    ? "Too few builds in the last 3 hours to tell trouble of the platform."
    : "No sign of trouble with the platform itself.";
}

/** That one error line rose today in many projects: the cause of most of what broke. Null where none did. */
function judgeRising(rising: readonly RisingLine[], broke: number, now: Date) {
  const [first] = rising;
  if (first === undefined) return null;
  const more =
    rising.length === 1 ? "" : ` ${counted(rising.length - 1, "other line rises", "other lines rise")} too.`;
  return {
    kind: "rising" as const,
    tone: "bad" as const,
    title: `↑ ${sayingOf(first.line, 40)} hit ${counted(first.projects, "project")}`,
    sentence: `${risingWords(first, now)}.`.replaceAll("{newest}", ""),
    evidence: `${beforeWords(first)}${more} ${counted(broke, "project")} broke in the last 24 hours, of whatever error.`,
  };
}
