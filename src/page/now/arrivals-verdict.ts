/** The words for builds that do not arrive as usual. */
import { counted, grouped } from "../../base/text.ts";
import { html } from "../parts/html.ts";
import { ago, clockWords, DAY_MS, HOUR_MS, MINUTE_MS, momentMs, span, when } from "../parts/marks.ts";
import type { ArrivalsRow } from "./now-scope.ts";

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
  `No build ${isNow ? "since" : "from"} ${lastBuildWords(arrivals, now)}${isNow ? "" : ` to ${when(arrivals.lookedAt, now)}`}`;

/** Red: none for twice the longest gap, and the mirror looks. It outranks what fails: nothing proves that it still does. */
export function judgeQuiet(silence: Silence) {
  const { arrivals, now } = silence;
  if (arrivals.state !== "quiet") return null;
  return {
    title: `! ${noBuild(silence)}`,
    sentence: `${noBuild(silence)}. ${usuallyWords(silence)}`,
    evidence: html`${arrivalRange(arrivals)} The mirror looked ${ago(arrivals.lookedAt, now)}, and the service
      answered with no newer build: they stopped there, not here.`,
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
    evidence: `Usually ${grouped(lately.usual)} come, and at least ${grouped(lately.fewest)}. The last came at ${lastBuildWords(arrivals, now)}.`,
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

/** The moment of the last build: `22 Nov 02:10`. */
export const lastBuildWords = ({ lastBuildAt }: Arrivals, now: Date): string => when(lastBuildAt, now);

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
