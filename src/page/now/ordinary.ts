/** The words for what is usual, and for what is worse than that. Nothing is ordinary while it is worse than in the ninety days before. */
import { type Count, differenceOf, shareWords } from "../parts/changes.ts";
import type { PageMoment } from "../parts/freshness.ts";
import { wholePercent } from "../parts/html.ts";
import { rangeWords } from "./arrivals-verdict.ts";
import { type FailingBefore, STEP_DAYS } from "./now-scope.ts";

/** The facts of a service beside which those of 24 hours are judged. */
export interface UsualFacts {
  /** The past day that the page is about. */
  readonly day: PageMoment["day"];
  /** Projects that broke in the 24 hours, those fixed since included. */
  readonly broke: number;
  /** Projects that broke on each of the days before, at most 28; a day without a row had none. */
  readonly usualDays: readonly number[];
  /** How many failed in the ninety days before. @default not known */
  readonly before: FailingBefore | undefined;
  /** The builds of the 24 hours, and of the days before them with a finished build, at most ninety. */
  readonly lately: Count;
  readonly usually: Count;
  readonly usuallyDays: number;
  /** Finished builds of those that were triggered in the 24 hours. */
  readonly finishedLately: number;
}

/** With fewer days there is no saying what is usual. */
const FEWEST_DAYS = 7;
/** The same for the moments of ninety days. */
const FEWEST_MOMENTS = 3;

/** From the 10th to the 90th percentile of the days; null for fewer than seven. */
export function usualOf(days: readonly number[]) {
  if (days.length < FEWEST_DAYS) return null;
  const sorted = days.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? 0;
  return { low: at(0.1), high: at(0.9) };
}

/** Says that surely more projects fail than in the ninety days before; null where that is not known. */
export function moreWords({ before }: UsualFacts): string | null {
  if (before === undefined || before.moments < FEWEST_MOMENTS) return null;
  const goodOf = (built: number, failing: number) => ({
    succeeded: Math.round(built - failing),
    finished: Math.round(built),
  });
  const difference = differenceOf(
    goodOf(before.built_now, before.failing_now),
    goodOf(before.built, before.failing),
  );
  if (difference === null || difference.isChance || difference.by > 0) return null;
  const then = wholePercent(before.failing / before.built);
  return `Surely more fail than in the ${before.moments * STEP_DAYS} days before, when ${then} of the projects did on average.`;
}

/** Says that surely fewer builds succeeded than in the ninety days before; null where that is not known. */
function fewerWords({ lately, usually, usuallyDays }: UsualFacts): string | null {
  if (usuallyDays < FEWEST_DAYS) return null;
  const difference = differenceOf(lately, usually);
  if (difference === null || difference.isChance || difference.by > 0) return null;
  return `${shareWords(lately)} of the builds succeeded, surely fewer than on the ${usuallyDays} days before (${shareWords(usually)}).`;
}

export const worseWords = (facts: UsualFacts): string | null => moreWords(facts) ?? fewerWords(facts);

/** That as many broke as on most days. Nothing is usual while it is worse than in the ninety days before. */
export function usualWords(facts: UsualFacts): string {
  const usual = usualOf(facts.usualDays);
  if (usual === null || facts.finishedLately === 0 || worseWords(facts) !== null) return "";
  return facts.broke < usual.low ? ", fewer than usual" : ", as usual";
}

/** A day on which nothing finished is neither ordinary nor quiet: nothing can have broken. */
export function ordinaryWords(facts: UsualFacts): string | null {
  const { usualDays, broke, finishedLately, day } = facts;
  const usual = usualOf(usualDays);
  if (finishedLately === 0)
    return "No build of these 24 hours has finished, so none of them can have failed.";
  const worse = worseWords(facts);
  if (worse !== null) return worse;
  if (usual === null) return "There are too few days yet to say what is usual.";
  const isQuiet = broke < usual.low;
  const days = day === undefined ? `last ${usualDays.length}` : `${usualDays.length} days before`;
  return `${isQuiet ? "Fewer than usual" : "An ordinary day"}: ${rangeWords(usual)} on most of the ${days}.`;
}
