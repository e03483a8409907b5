import { counted, grouped } from "../../base/text.ts";
import { part } from "../parts/block.ts";
import { differenceOf, isCountChance } from "../parts/changes.ts";
import type { Verdict } from "../parts/document.ts";
import { percent, shorten } from "../parts/html.ts";
import { kindLabel } from "../parts/kinds.ts";
import {
  isSurelyLower,
  type Kind,
  kindsOf,
  NO_BUILDS,
  type Outcomes,
  outcomesBySpan,
  outcomesOf,
  type SpanOutcomes,
} from "../parts/outcomes.ts";
import { daysName, lengthWords } from "../parts/period.ts";
import { askForIncidents, askForKindsOf } from "./breakdown.ts";
import { points } from "./compare.ts";
import { askForDays, type TrendsScope } from "./trends-scope.ts";

const MOST_KINDS = 2;

/** How the rate compares with the period before, and what did change. */
export const trendsVerdict = part({
  asks: (scope: TrendsScope) => ({
    days: askForDays(scope),
    kinds: askForKindsOf(scope),
    incidents: askForIncidents(scope),
  }),
  draw({ days, kinds, incidents }, { period, type, now }): Verdict {
    const whole = outcomesOf(days, period) ?? NO_BUILDS;
    const before = outcomesOf(days, period.before);
    const what = `${type === undefined ? "" : `${shorten(type, 24)} `}builds`;
    const length = period.days === 1 ? daysName(period, now) : lengthWords(period.days);
    if (whole.finished === 0) {
      return {
        look: "idle",
        mark: { kind: "idle", word: "Not known" },
        title: "Trends: no finished build",
        sentence: `No ${what.replace(/s$/, "")} of ${length} has finished, so there is no rate.`,
        evidence: `${counted(whole.builds, "build")} triggered.`,
      };
    }
    const events = [
      ...worstWords(outcomesBySpan(days, period), whole, now),
      ...troubleWords(Number(incidents[0]?.hours ?? 0)),
    ];
    const rate = percent(whole.succeeded / whole.finished);
    const title = `Trends: ${rate} succeeded`;
    const start = `${rate} of the ${what} of ${length} succeeded`;
    const difference = before === null ? null : differenceOf(whole, before);
    if (before === null || difference === null) {
      return {
        look: "idle",
        mark: { kind: "flat", word: "Nothing to compare it with" },
        title,
        sentence: `${start}: ${grouped(whole.succeeded)} of ${grouped(whole.finished)}.`,
        evidence: [
          "The mirror does not know builds of all of the days before, so this says nothing about better or worse.",
          ...events,
        ].join(" "),
      };
    }
    const { by, low, high, isChance } = difference;
    const beforeLength =
      period.days === 1 ? "on the day before" : `in the ${lengthWords(period.days)} before`;
    const compared = (than: string) =>
      `${start}, ${than} ${beforeLength} (${percent(before.succeeded / before.finished)}).`;
    const evidence = (range: string) =>
      [`${points(by)} points, ${range}`, changeWords(kindsOf(kinds, period), isChance), ...events].join(" ");
    const between = `between ${points(low)} and ${points(high)}`;
    if (isChance)
      return {
        look: "idle",
        mark: { kind: "flat", word: "No change" },
        title,
        sentence: compared("about as many as"),
        evidence: evidence(`${between} if chance is allowed for.`),
      };
    return {
      look: by > 0 ? "good" : "some",
      mark: by > 0 ? { kind: "good", word: "Better" } : { kind: "bad2", word: "Worse" },
      title: `${by > 0 ? "↑" : "↓"} ${rate} succeeded · Trends`,
      sentence: compared(by > 0 ? "more than" : "fewer than"),
      evidence: evidence(`surely ${between}: more than chance.`),
    };
  },
});

function changeWords(kinds: readonly Kind[], isChance: boolean): string {
  const changed = kinds
    .filter((kind) => !isCountChance(kind.now, kind.before))
    .toSorted((a, b) => b.now - b.before - (a.now - a.before));
  if (changed.length === 0) return "No kind of error changed by more than chance.";
  const words = changed
    .slice(0, MOST_KINDS)
    .map(
      ({ name, now, before }) => `“${kindLabel(name)}”, ${counted(now, "build")} against ${grouped(before)}`,
    );
  return `What ${isChance ? "did change" : "changed"}: ${words.join("; ")}.`;
}

/** The worst day or span, where it is worse than chance allows. */
function worstWords(spans: readonly SpanOutcomes[], whole: Outcomes, now: Date): string[] {
  const [worst] = spans
    .flatMap(({ outcomes, ...span }) => (outcomes === null || span.isBefore ? [] : [{ span, ...outcomes }]))
    .filter((one) => one.finished > 0 && isSurelyLower(one, whole))
    .toSorted((a, b) => a.succeeded / a.finished - b.succeeded / b.finished);
  if (worst === undefined) return [];
  const days = `The worst ${worst.span.days === 1 ? "day was" : "days were"} ${daysName(worst.span, now)}`;
  return [`${days}: ${grouped(worst.failed)} of ${counted(worst.finished, "build")} failed.`];
}

/** Hours in which far more projects failed than usual. */
const troubleWords = (hours: number): string[] =>
  hours === 0 ? [] : [`${counted(hours, "hour")} had trouble of the platform.`];
