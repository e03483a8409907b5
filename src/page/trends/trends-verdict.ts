import { counted, grouped } from "../../base/text.ts";
import { part } from "../parts/block.ts";
import { differenceOf, isCountChance } from "../parts/changes.ts";
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
import { daysName, lengthWords, type Period } from "../parts/period.ts";
import type { Verdict } from "../parts/verdict.ts";
import { points } from "./compare.ts";
import { askForIncidents } from "./platform.ts";
import { askForDays, type TrendsScope } from "./trends-scope.ts";
import { askForKindsOf } from "./why.ts";

interface TrendsVerdictFacts {
  readonly period: Period;
  readonly type: string | undefined;
  readonly whole: Outcomes;
  readonly before: Outcomes | null;
  readonly spans: readonly SpanOutcomes[];
  readonly kinds: readonly Kind[];
  /** Hours of the period in which far more projects failed than usual. */
  readonly incidentHours: number;
  readonly now: Date;
}

const MOST_KINDS = 2;

/** How the rate compares with the period before, and what did change. */
export const trendsVerdict = part({
  asks: (scope: TrendsScope) => ({
    days: askForDays(scope),
    kinds: askForKindsOf(scope),
    incidents: askForIncidents(scope),
  }),
  draw: ({ days, kinds, incidents }, { period, type, now }) =>
    judgeTrend({
      period,
      type,
      whole: outcomesOf(days, period) ?? NO_BUILDS,
      before: outcomesOf(days, period.before),
      spans: outcomesBySpan(days, period),
      kinds: kindsOf(kinds, period),
      incidentHours: Number(incidents[0]?.hours ?? 0),
      now,
    }),
});

function judgeTrend(facts: TrendsVerdictFacts): Verdict {
  const { period, type, whole, before } = facts;
  const what = `${type === undefined ? "" : `${shorten(type, 24)} `}builds`;
  const length = period.days === 1 ? daysName(period, facts.now) : lengthWords(period.days);
  if (whole.finished === 0) {
    return {
      look: "idle",
      mark: { kind: "idle", word: "Not known" },
      title: "Trends: no finished build",
      sentence: `No ${what.replace(/s$/, "")} of ${length} has finished, so there is no rate.`,
      evidence: `${counted(whole.builds, "build")} triggered.`,
    };
  }
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
        ...eventWords(facts),
      ].join(" "),
    };
  }
  const { by, low, high, isChance } = difference;
  const than = isChance ? "about as many as" : by > 0 ? "more than" : "fewer than";
  const beforeLength = period.days === 1 ? "on the day before" : `in the ${lengthWords(period.days)} before`;
  const range = isChance
    ? `${points(by)} points, between ${points(low)} and ${points(high)} if chance is allowed for.`
    : `${points(by)} points, surely between ${points(low)} and ${points(high)}: more than chance.`;
  return {
    look: isChance ? "idle" : by > 0 ? "good" : "some",
    mark: isChance
      ? { kind: "flat", word: "No change" }
      : by > 0
        ? { kind: "good", word: "Better" }
        : { kind: "bad2", word: "Worse" },
    title: isChance ? title : `${by > 0 ? "↑" : "↓"} ${rate} succeeded · Trends`,
    sentence: `${start}, ${than} ${beforeLength} (${percent(before.succeeded / before.finished)}).`,
    evidence: [range, changeWords(facts.kinds, isChance), ...eventWords(facts)].join(" "),
  };
}

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

/** The worst day or span, where it is worse than chance allows, and the trouble of the platform. */
function eventWords({ spans, whole, incidentHours, now }: TrendsVerdictFacts): string[] {
  const worst = spans
    .flatMap(({ outcomes, ...span }) => (outcomes === null || span.isBefore ? [] : [{ span, outcomes }]))
    .filter(({ outcomes }) => outcomes.finished > 0 && isSurelyLower(outcomes, whole))
    .toSorted(
      (a, b) => a.outcomes.succeeded / a.outcomes.finished - b.outcomes.succeeded / b.outcomes.finished,
    )[0];
  return [
    ...(worst === undefined
      ? []
      : [
          `The worst ${worst.span.days === 1 ? "day was" : "days were"} ${daysName(worst.span, now)}: ` +
            `${grouped(worst.outcomes.failed)} of ${counted(worst.outcomes.finished, "build")} failed.`,
        ]),
    ...(incidentHours === 0 ? [] : [`${counted(incidentHours, "hour")} had trouble of the platform.`]),
  ];
}
