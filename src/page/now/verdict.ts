/** What can be said about the builds in one sentence, and what speaks for it. */
import { counted, grouped } from "../../base/text.ts";
import { countIn, sumIn } from "../parts/answers.ts";
import type { VerdictLook } from "../parts/document.ts";
import type { PageMoment } from "../parts/freshness.ts";
import { shorten, wholePercent } from "../parts/html.ts";
import { kindLabel } from "../parts/kinds.ts";
import { agoWords, clockWords, DAY_MS, momentMs, span, when } from "../parts/marks.ts";
import { beforeWords, readRising, risingWords, sayingOf } from "../parts/rising.ts";
import { arrivalWords, judgeFew, judgeQuiet, rangeWords, readArrivals } from "./arrivals-verdict.ts";
import { type NowAnswers, spanOf } from "./now-scope.ts";

const MOST_DAYS = 28;

export type NowVerdictFacts = ReturnType<typeof readVerdictFacts>;

/** What the verdict is judged by, from the answers to `askForVerdict`. */
export function readVerdictFacts(answers: NowAnswers, moment: PageMoment) {
  const { now, at, isNow, day, freshness } = moment;
  const { asOf, isStale, trouble } = freshness;
  const today = answers.broke.find(({ days_before }) => Number(days_before) === 0);
  const lastDay = answers.rates.find(({ is_last_day }) => is_last_day === true);
  const [totals] = answers.totals;
  const [incident] = answers.incidents;
  const [newest] = answers.newest;
  const broke = countIn(today, "broke");
  const { within, ago } = spanOf(moment);
  return {
    now,
    at,
    isNow,
    /** The past day that the page is about. */
    day,
    /** The 24 hours in words, "in the last 24 hours"; and "ago". */
    span: within,
    ago,
    asOf,
    isStale,
    trouble,
    /** The newest hour of the last three in which far more projects failed than usual. */
    platformHour: incident
      ? {
          from: momentMs(incident.hour),
          projects: Number(incident.projects),
          failing: Number(incident.projects_failing),
          expected: Number(incident.projects_expected),
        }
      : null,
    /** How many of the last three hours had enough builds to show trouble. */
    hoursLookedAt: countIn(answers.hours[0], "looked_at"),
    /** Projects that broke in the 24 hours, those fixed since included. */
    broke,
    /** Those of them in which something broke that had succeeded before. */
    hadWorked: countIn(today, "had_worked"),
    brokeAndFixed: broke - countIn(today, "still_failing"),
    /** How many broke on each of the days before, at most 28; a day without a row had none. */
    usualDays: Array.from({ length: knownDays(totals?.first_day, at) }, (_, place) => {
      const day = answers.broke.find(({ days_before }) => Number(days_before) === place + 1);
      return countIn(day, "broke");
    }),
    newest:
      newest === undefined || newest.newest_failing_since === null
        ? null
        : { slug: String(newest.project_slug), brokeAt: String(newest.newest_failing_since) },
    /** Projects that fail, for however long. */
    failing: sumIn(answers.failing, "projects"),
    projects: countIn(totals, "projects"),
    /** Finished builds of all time, and of those that were triggered in the 24 hours. */
    finished: countIn(totals, "finished"),
    finishedLately: countIn(lastDay, "finished"),
    rising: readRising(answers.rising),
    arrivals: readArrivals(answers.arrivals[0]),
    /** Failures of the 24 hours by class, the most frequent first. */
    kinds: answers.kinds
      .map((row) => ({ kind: String(row.error_class), failures: countIn(row, "failures") }))
      .filter(({ failures }) => failures > 0),
  };
}

/** The whole days before the last 24 hours in which builds are known, at most 28. */
export function knownDays(firstDay: unknown, at: Date): number {
  const since = Date.parse(String(firstDay));
  if (Number.isNaN(since)) return 0;
  return Math.min(MOST_DAYS, Math.max(0, Math.floor((at.getTime() - since) / DAY_MS) - 1));
}

/** `sentence` and `evidence` have `{newest}` where the newest break is named. */
interface Said {
  /** For the title of the window. */
  readonly title: string;
  readonly sentence: string;
  readonly evidence: string;
}

type Judge = (facts: NowVerdictFacts) => Said | null;

/**
 * In this order the first that holds. What makes the rest untrue comes first: nothing was read, or not lately, or nothing is
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
  few: [judgeFew, "warn"],
  some: [judgeSome, "known"],
  failing: [judgeFailing, "flat"],
} as const satisfies Record<string, readonly [Judge, VerdictLook]>;

export interface NowVerdict extends Said {
  readonly kind: keyof typeof VERDICTS | "none";
  readonly look: VerdictLook;
}

/** With fewer days there is no saying what is usual. */
const FEWEST_DAYS = 7;

export function judge(facts: NowVerdictFacts): NowVerdict {
  for (const [kind, [judgeOne, look]] of Object.entries(VERDICTS)) {
    const said = judgeOne(facts);
    if (said !== null) return { kind: kind as keyof typeof VERDICTS, look, ...said };
  }
  const { day, isNow } = facts;
  const fails = day !== undefined ? `failed at the end of ${day.name}` : isNow ? "fails" : "failed";
  return {
    kind: "none",
    look: "good",
    title: isNow ? "✓ Nothing fails" : "✓ Nothing failed",
    sentence: `Nothing ${fails}: the last finished build of every version and format succeeded.`,
    evidence: sentences(
      day === undefined
        ? `${counted(facts.projects, "project")}, ${counted(facts.finished, "finished build")}, as of ${when(facts.at.getTime(), facts.now)} UTC.`
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

function judgeStale({ asOf, isStale, now, trouble, failing, projects }: NowVerdictFacts): Said | null {
  if (!isStale || asOf === null) return null;
  const then = Number.isNaN(asOf.getTime()) ? null : when(asOf.getTime(), now);
  const was = trouble === null ? "No sync has ended well since." : `The last run ${shorten(trouble, 160)}.`;
  return {
    title: then === null ? "Not current" : `Not current: as of ${then}`,
    sentence:
      then === null
        ? "Not current: a wrong clock hides when the builds were last read."
        : `Not current: what follows is as of ${then}, ${span(now.getTime() - asOf.getTime())} ago.`,
    evidence: `${was} What broke since is not here. Then, ${failingWords(failing, projects)}.`,
  };
}

function judgePlatform({ platformHour, broke, span, day }: NowVerdictFacts): Said | null {
  if (platformHour === null) return null;
  const { from, projects: all, failing: hit, expected } = platformHour;
  const is = day === undefined ? "is" : "was";
  return {
    title: `The platform ${is} in trouble`,
    sentence: `The platform ${is} in trouble: ${hit} of ${counted(all, "project")} failed between ${clockWords(from)} and ${clockWords(from + 3_600_000)}.`,
    evidence:
      `${grouped(Math.round(expected))} would be usual. The failures of such an hour tell little about a project. ` +
      `${counted(broke, "project")} broke ${span}.`,
  };
}

function judgeEmpty({ finished, projects, at, now }: NowVerdictFacts): Said | null {
  if (finished > 0) return null;
  return {
    title: "No finished build",
    sentence: "No build has finished yet, so none can have failed.",
    evidence: `${counted(projects, "project")}, as of ${when(at.getTime(), now)} UTC.`,
  };
}

/** Red: more broke than on nine of ten days. */
function judgeMany(facts: NowVerdictFacts): Said | null {
  const { broke, span } = facts;
  const [newest, fixed] = [newestWords(facts), fixedWords(facts)];
  const usual = usualOf(facts.usualDays);
  if (usual === null || broke <= usual.high) return null;
  const brokeWords = `${counted(broke, "project")} broke ${span}, more than usual (${rangeWords(usual)})`;
  return {
    title: `✗ ${grouped(broke)} broke in 24 h`,
    sentence: `${brokeWords}${fixed === null ? "" : `; ${fixed}`}.${newest === null ? "" : ` The newest is ${newest}.`}`,
    evidence: sentences(
      workedWords(facts),
      kindsWords(facts.kinds),
      platformWords(facts),
      arrivalWords(facts),
    ),
  };
}

/** Amber: some broke, and that is usual, or not known to be more. */
function judgeSome(facts: NowVerdictFacts): Said | null {
  const { broke, span } = facts;
  const newest = newestWords(facts);
  if (broke === 0) return null;
  const clauses = [
    `${counted(broke, "project")} broke ${span}`,
    fixedWords(facts),
    newest === null ? null : `the newest, ${newest}`,
  ];
  return {
    title: `${grouped(broke)} broke in 24 h`,
    sentence: `${clauses.filter((clause) => clause !== null).join("; ")}.`,
    evidence: sentences(
      ordinaryWords(facts),
      workedWords(facts),
      kindsWords(facts.kinds),
      platformWords(facts),
      arrivalWords(facts),
    ),
  };
}

/** Plain: what fails is known, and nothing is new. */
function judgeFailing(facts: NowVerdictFacts): Said | null {
  const { failing, span, day } = facts;
  const newest = newestWords(facts);
  const [one, more] = day === undefined ? ["fails", "fail"] : ["had failed", "had failed"];
  if (failing === 0) return null;
  return {
    title: `${grouped(failing)} failing, none newly`,
    sentence: `Nothing broke ${span}; ${counted(failing, `project ${one}`, `projects ${more}`)} for longer.`,
    evidence: sentences(
      newest && `The newest break is that of ${newest}.`,
      ordinaryWords(facts),
      platformWords(facts),
      arrivalWords(facts),
    ),
  };
}

const sentences = (...all: readonly (string | null)[]): string =>
  all.filter((sentence) => sentence !== null).join(" ");

/** From the 10th to the 90th percentile of the days; null for fewer than seven. */
export function usualOf(days: readonly number[]) {
  if (days.length < FEWEST_DAYS) return null;
  const sorted = days.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? 0;
  return { low: at(0.1), high: at(0.9) };
}

/** A day on which nothing finished is neither ordinary nor quiet: nothing can have broken. */
function ordinaryWords({ usualDays, broke, finishedLately, day }: NowVerdictFacts): string | null {
  const usual = usualOf(usualDays);
  if (finishedLately === 0)
    return "No build of these 24 hours has finished, so none of them can have failed.";
  if (usual === null) return "There are too few days yet to say what is usual.";
  const isQuiet = broke < usual.low;
  const days = day === undefined ? `last ${usualDays.length}` : `${usualDays.length} days before`;
  return `${isQuiet ? "Fewer than usual" : "An ordinary day"}: ${rangeWords(usual)} on most of the ${days}.`;
}

const newestWords = ({ newest, now, ago }: NowVerdictFacts): string | null =>
  newest && `{newest}, ${agoWords(newest.brokeAt, now)} ${ago}`;

function fixedWords({ broke, brokeAndFixed, day }: NowVerdictFacts): string | null {
  if (brokeAndFixed === 0) return null;
  const of = broke === 1 ? "it" : `${brokeAndFixed === broke ? "all" : grouped(brokeAndFixed)} of them`;
  if (day !== undefined) return `${of} had been fixed by its end`;
  return `${of} ${brokeAndFixed === 1 ? "is" : "are"} fixed`;
}

/** What never worked did not break, as `broke_daily` counts it. */
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

function kindsWords(kinds: NowVerdictFacts["kinds"]): string | null {
  const total = kinds.reduce((sum, { failures }) => sum + failures, 0);
  const [first] = kinds;
  if (first === undefined || total < 5 || first.failures < total / 3) return null;
  return `Of the ${grouped(total)} failed builds, ${wholePercent(first.failures / total)} say: ${kindLabel(first.kind)}.`;
}

function platformWords({ hoursLookedAt, day }: NowVerdictFacts): string {
  return hoursLookedAt === 0
    ? `Too few builds ${day === undefined ? "in the last 3 hours" : "in each hour"} to tell trouble of the platform.`
    : "No sign of trouble with the platform itself.";
}

/** That one error line rose today in many projects: the cause of most of what broke. Null where none did. */
function judgeRising({ rising, broke, now, span }: NowVerdictFacts): Said | null {
  const [first] = rising;
  if (first === undefined) return null;
  const more =
    rising.length === 1 ? "" : ` ${counted(rising.length - 1, "other line rises", "other lines rise")} too.`;
  return {
    title: `↑ ${sayingOf(first.line, 40)} hit ${counted(first.projects, "project")}`,
    sentence: `${risingWords(first, now)}.`.replaceAll("{newest}", ""),
    evidence: `${beforeWords(first)}${more} ${counted(broke, "project")} broke ${span}, of whatever error.`,
  };
}
