/** The words for what is usual: of breaks, of rates, and of builds that arrive. Nothing is ordinary while it is worse than in the ninety days before. */
import { counted, grouped } from "../../base/text.ts";
import { type Count, isLower, shareWords } from "../parts/changes.ts";
import type { PageMoment } from "../parts/freshness.ts";
import { foreign, html, wholePercent } from "../parts/html.ts";
import { buildHref } from "../parts/links.ts";
import { ago, clockWords, DAY_MS, HOUR_MS, MINUTE_MS, momentMs, span, when } from "../parts/marks.ts";
import { type ArrivalsRow, type FailingBefore, STEP_DAYS } from "./now-scope.ts";

const LEAST_DAYS = 14;

/** The arrival of builds: moments and spans in milliseconds, NaN where they are not known. */
export interface Arrivals {
  /** That of the last look: what the mirror found then does not become better while it does not look. */
  readonly state: string;
  /** The reason why it is unknown. */
  readonly reason: string | null;
  readonly lookedAt: number;
  readonly lastBuildId: string;
  readonly lastBuildAt: number;
  readonly gapMs: number;
  readonly longestGapMs: number;
  readonly daysKnown: number;
  /** Builds since the last one, or in a day where that is longer ago. */
  readonly usual: number;
  readonly fewest: number;
  readonly most: number;
  /** Builds of the 24 hours. */
  readonly lately: { readonly builds: number; readonly usual: number; readonly fewest: number };
}

/** Without a row nobody has looked. */
export const readArrivals = (row: Partial<ArrivalsRow> = {}): Arrivals => ({
  state: row.state ?? "unknown",
  reason: row.reason ?? null,
  lookedAt: momentMs(row.looked_at),
  lastBuildId: String(row.last_build_id),
  lastBuildAt: momentMs(row.last_build_at),
  gapMs: Number(row.gap_s) * 1000,
  longestGapMs: Number(row.longest_gap_s) * 1000,
  daysKnown: Number(row.days_known),
  usual: Number(row.usual_since),
  fewest: Number(row.fewest_since),
  most: Number(row.most_since),
  lately: {
    builds: Number(row.builds_24h),
    usual: Number(row.usual_24h),
    fewest: Number(row.fewest_24h),
  },
});

/** `now` is the minute of the reader, `span` the 24 hours up to the last look in words, such as "in the last 24 hours". */
interface Silence {
  readonly arrivals: Arrivals;
  readonly now: Date;
  readonly isNow: boolean;
  readonly span: string;
}

/** `No build since 02:10`, up to the last look where that is old. */
const noBuild = ({ arrivals, now, isNow }: Silence): string =>
  `No build ${isNow ? "since" : "from"} ${when(arrivals.lastBuildAt, now)}${isNow ? "" : ` to ${when(arrivals.lookedAt, now)}`}`;

/** Red: none for twice the longest gap, and the mirror looks. It outranks what fails: nothing proves that it still does. */
export function judgeQuiet(silence: Silence) {
  const { arrivals, now } = silence;
  if (arrivals.state !== "quiet") return null;
  return {
    title: `! ${noBuild(silence)}`,
    sentence: `${noBuild(silence)}. ${usuallyWords(silence)}`,
    evidence: html`${arrivalRange(arrivals)} The mirror looked ${ago(arrivals.lookedAt, now)}, and the service
      answered with no newer build: they stopped there, not here.`,
    mark: ["alarm", "Builds stopped arriving"] as const,
    acts: html`<a href="${buildHref(arrivals.lastBuildId)}">The last build, ${foreign(arrivals.lastBuildId, 24)}</a>
      <a href="#checked">What was checked</a>
      <a href="#rules">When this is red</a>`,
  };
}

/** Amber: none for longer than the longest gap, or fewer in the 24 hours than on any day. */
export function judgeFew(silence: Silence) {
  const { arrivals, now, span } = silence;
  const { state, lately, daysKnown } = arrivals;
  if (state === "late")
    return {
      title: `! ${noBuild(silence)}`,
      sentence: `${noBuild(silence)}, the longest gap of ${daysKnown} days. ${usuallyWords(silence)}`,
      evidence: arrivalRange(arrivals),
    };
  if (state !== "few") return null;
  return {
    title: `! ${counted(lately.builds, "build")} in 24 h`,
    sentence: `${counted(lately.builds, "build")} came ${span}, fewer than on any of ${daysKnown} days.`,
    evidence: `Usually ${grouped(lately.usual)} come, and at least ${grouped(lately.fewest)}. The last came at ${when(arrivals.lastBuildAt, now)}.`,
  };
}

/** Says more of the arrival of builds; null where they come as usual, or nobody has looked. */
export function arrivalWords({ arrivals, now, span }: Silence): string | null {
  const { state, reason, daysKnown, lately, lastBuildAt } = arrivals;
  if (reason === "too_few_days") {
    const what =
      lately.builds === 0 ? `No build came ${span}, and whether that is` : "Whether builds arrive as";
    return `${what} usual cannot be known yet: ${daysKnown} of ${LEAST_DAYS} days are known.`;
  }
  if (reason === "clock")
    return "Whether builds arrive as usual is not known: their dates and the mirror's clock disagree.";
  if (state === "dormant") return `No build came for 28 days: the last was of ${when(lastBuildAt, now)}.`;
  if (state === "usual" && lately.builds === 0) return `No build came ${span}.`;
  return null;
}

const usuallyWords = ({ arrivals: { usual, gapMs }, isNow }: Silence): string =>
  `Usually ${grouped(usual)} arrive ${gapMs > DAY_MS ? "in a day" : isNow ? "by now" : "by then"}.`;

function arrivalRange({ fewest, most, daysKnown, longestGapMs, lastBuildAt, lookedAt, gapMs }: Arrivals) {
  const hours =
    gapMs > DAY_MS
      ? `in the 24 hours from ${clockWords(lastBuildAt)}`
      : `between ${clockWords(lastBuildAt)} and ${clockWords(lookedAt)}`;
  return `${rangeWords({ low: fewest, high: most })} came ${hours} on each of ${daysKnown} days before; the longest gap was ${longSpan(longestGapMs)}.`;
}

/** `8 to 12`, or one number. */
export const rangeWords = ({ low, high }: { readonly low: number; readonly high: number }): string =>
  low === high ? grouped(low) : `${grouped(low)} to ${grouped(high)}`;

/** A span to the minute, up to two days: `5 h 14 min`. */
export function longSpan(ms: number): string {
  const minutes = Math.floor((ms % HOUR_MS) / MINUTE_MS);
  return ms < HOUR_MS || ms >= 2 * DAY_MS || minutes === 0 ? span(ms) : `${span(ms)} ${minutes}\u00a0min`;
}

/** The facts of a service beside which those of 24 hours are judged. */
export interface UsualFacts {
  /** The past day that the page is about. */
  readonly day: PageMoment["day"];
  /** The page is about the present: false for a past day, and where the last look is old. */
  readonly isNow: boolean;
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
export const FEWEST_DAYS = 7;
/** The same for the moments of ninety days. */
const FEWEST_MOMENTS = 3;

/** From the 10th to the 90th percentile of the days; null for fewer than seven. */
export function usualOf(days: readonly number[]) {
  if (days.length < FEWEST_DAYS) return null;
  const sorted = days.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? 0;
  return { low: at(0.1), high: at(0.9) };
}

/** Whether surely a larger share of so many projects fails than before. */
function isMore(failing: number, of: number, { failing: then, built, moments }: FailingBefore): boolean {
  const goodOf = (bad: number, all: number) => ({
    succeeded: Math.round(all - bad),
    finished: Math.round(all),
  });
  return moments >= FEWEST_MOMENTS && isLower(goodOf(failing, of), goodOf(then, built));
}

/** Says that surely more projects fail than in the ninety days before, by what was known then; null where that is not known. */
export function moreWords({ before, isNow }: UsualFacts): string | null {
  if (before === undefined) return null;
  const { built, failing, failing_known } = before;
  if (!isMore(failing_known, built, before)) return null;
  const [then, today] = [failing, failing_known].map((bad) => wholePercent(bad / built));
  const end = isNow ? "fail now" : "at the end";
  const shares = `${then} of the projects failed on average, and ${today} ${end}`;
  return `Surely more ${isNow ? "fail" : "failed"} than in the ${daysBefore(before)} days before: of what was known then, ${shares}.`;
}

/** Says that more fail only because more is known: a mirror that comes to know more finds more that fails. */
function moreKnownWords({ before, isNow }: UsualFacts): string | null {
  if (before === undefined) return null;
  if (!isMore(before.failing_now, before.built_now, before)) return null;
  const fail = isNow ? "fail" : "failed";
  return (
    `More ${fail} than in the ${daysBefore(before)} days before, but most of these versions had no known build then, ` +
    "and among the others it may be chance."
  );
}

const daysBefore = ({ moments }: FailingBefore): number => moments * STEP_DAYS;

/** Says that surely fewer builds succeeded than in the ninety days before; null where that is not known. */
function fewerWords({ lately, usually, usuallyDays }: UsualFacts): string | null {
  if (usuallyDays < FEWEST_DAYS || !isLower(lately, usually)) return null;
  return `${shareWords(lately)} of the builds succeeded, surely fewer than on the ${usuallyDays} days before (${shareWords(usually)}).`;
}

export const worseWords = (facts: UsualFacts): string | null =>
  moreWords(facts) ?? fewerWords(facts) ?? moreKnownWords(facts);

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
