/** A period beside the one before it: the verdict of trends, and the figures that speak for it. */
import { sql } from "drizzle-orm";
import { counted, grouped } from "../../base/text.ts";
import { type Asks, countIn } from "../parts/answers.ts";
import { block, part } from "../parts/block.ts";
import {
  type BothPeriods,
  type Count,
  changeOf,
  differenceOf,
  finishedOf,
  isSurelyLower,
  NO_BUILDS,
  type Outcomes,
  outcomesBySpan,
  outcomesOf,
  points,
  rateChange,
  renderCountStep,
  renderShareChange,
  type SpanOutcomes,
  sharesWords,
  shareWords,
} from "../parts/changes.ts";
import type { Verdict } from "../parts/document.ts";
import { html, type Markup, sentences, shorten } from "../parts/html.ts";
import { type Kind, kindLabel, kindsOf } from "../parts/kinds.ts";
import { daysName, endOfBefore, lengthWords, partWords } from "../parts/period.ts";
import { type Column, renderListTable } from "../parts/tables.ts";
import { askForKindsOf, askForTrouble } from "./breakdown.ts";
import { askForDays, daysAndTurns, plainOf, type TrendsScope, trendsQuestion } from "./trends-scope.ts";

const MOST_KINDS = 2;

/** The rate against that of the period before, and the changes of the kinds of error. */
export const trendsVerdict = part({
  asks: (scope: TrendsScope) => ({
    days: askForDays(scope),
    ...askForKindsOf(scope),
    incidents: askForTrouble(scope),
  }),
  draw({ days, kinds, late, incidents: [incident] }, scope): Verdict {
    const { period, type, now, at } = scope;
    const { service } = scope.freshness;
    const whole = outcomesOf(days, period) ?? NO_BUILDS;
    const before = outcomesOf(days, period.before);
    const of = type === undefined ? "" : `${shorten(type, 24)} `;
    const named = daysName(period, now);
    // A picture of this sentence, on a slide, has no header above it.
    const there = service == null ? named : `${named} at ${shorten(service, 60)}`;
    if (whole.finished === 0)
      return {
        title: `${named}: no ${of}build has finished`,
        look: "idle",
        sentence: `No ${of}build of ${there} has finished, so there is no rate.`,
        evidence: `${counted(whole.builds, "build")} triggered.`,
      };
    const rate = shareWords(whole);
    const title = `${named}: ${rate}${of && ` of the ${of}builds`} succeeded`;
    const start = `${rate} of the ${of}builds of ${there} succeeded`;
    const events = [
      worstWords(outcomesBySpan(days, period), whole, now),
      troubleWords(countIn(incident, "hours")),
    ];
    const difference = differenceOf(whole, before);
    if (difference === null)
      return {
        title,
        look: "idle",
        mark: ["flat", "Nothing to compare it with"],
        sentence: `${start}: ${grouped(whole.succeeded)} of ${grouped(whole.finished)}.`,
        evidence: sentences(
          "The mirror does not know builds of all of the days before, so this says nothing about better or worse.",
          ...events,
        ),
      };
    const { by, low, high, isChance } = difference;
    const { sign, than, ...look } = isChance ? SAME : by > 0 ? BETTER : WORSE;
    const then = period.days === 1 ? "on the day before" : `in the ${lengthWords(period.days)} before`;
    const range = `between ${points(low)} and ${points(high)}`;
    return {
      ...look,
      title: `${sign}${title}, ${isChance ? "as" : than} ${then}`,
      sentence: `${start}, ${than} ${then} (${shareWords(before)}).`,
      evidence: sentences(
        `${points(by)} points, ${isChance ? `${range} if chance is allowed for` : `surely ${range}: more than chance`}.`,
        changeWords(kindsOf(kinds, period, late), finishedOf(days, period), isChance),
        ...events,
        partWords(period, at, now),
      ),
    };
  },
});

const SAME = {
  look: "idle",
  mark: ["flat", "No change"],
  sign: "",
  than: "about as many as",
} as const;
const BETTER = {
  look: "good",
  mark: ["good", "Better"],
  sign: "↑ ",
  than: "more than",
} as const;
const WORSE = {
  look: "some",
  mark: ["bad2", "Worse"],
  sign: "↓ ",
  than: "fewer than",
} as const;

function changeWords(kinds: readonly Kind[], finished: BothPeriods, isChance: boolean): string {
  const by = ({ now, before }: Kind) => now / finished.now - before / finished.before;
  const changed = kinds.filter((kind) => changeOf(kind, finished) !== 0).toSorted((a, b) => by(b) - by(a));
  if (changed.length === 0) return "No kind of error changed by more than chance.";
  const words = changed
    .slice(0, MOST_KINDS)
    .map((kind) => `“${kindLabel(kind.name)}”, ${sharesWords(kind, finished)}`);
  return `What ${isChance ? "did change" : "changed"}, of the finished builds: ${words.join("; ")}.`;
}

/** The worst day or span, where it is worse than chance allows. */
function worstWords(spans: readonly SpanOutcomes[], whole: Outcomes, now: Date): string | null {
  const [worst] = spans
    .flatMap(({ outcomes, ...span }) =>
      outcomes === null || span.isBefore ? [] : [{ ...span, ...outcomes }],
    )
    .filter((one) => one.finished > 0 && isSurelyLower(one, whole))
    .toSorted((a, b) => a.succeeded / a.finished - b.succeeded / b.finished);
  if (worst === undefined) return null;
  const days = `The worst ${worst.days === 1 ? "day was" : "days were"} ${daysName(worst, now)}`;
  return `${days}: ${grouped(worst.failed)} of ${counted(worst.finished, "build")} failed.`;
}

/** Hours in which far more projects failed than usual. */
const troubleWords = (hours: number): string | false =>
  hours > 0 && `${counted(hours, "hour")} had trouble of the platform.`;

/**
 * A version and format breaks where it is known to have worked. A mirror that is new does not know that of most, so
 * for so many days it counts too few.
 */
const NEW_DAYS = 28;

/** A figure of the period, that of the one before, and how it changed. */
interface Measure {
  readonly name: string;
  readonly now: string;
  readonly before: string;
  readonly change: Markup;
}

/** The figures of the period beside those of the period before. */
export const compare = block({
  id: "compare",
  asks: (scope: TrendsScope) => ({ rows: askForPeriods(scope) }),
  draw({ rows }, { period, now, at }) {
    const [these, those] = [true, false].map((is) => rows.find((row) => row.is_this_period === is));
    const isKnown = period.before !== null && those !== undefined && those.finished !== null;
    const rate = (name: string, countOf: (row: PeriodRow | undefined) => Count): Measure => {
      const [after, before] = [countOf(these), countOf(those)];
      return {
        name,
        now: shareWords(after),
        before: shareWords(before),
        change: rateChange(after, before),
      };
    };
    const finished = { now: countIn(these, "finished"), before: countIn(those, "finished") };
    const stepOfShare = (now: number, before: number) => renderShareChange({ now, before }, finished);
    const count = (name: string, column: keyof PeriodRow, draw = renderCountStep): Measure => {
      const [after, before] = [countIn(these, column), countIn(those, column)];
      return { name, now: grouped(after), before: grouped(before), change: draw(after, before) };
    };
    const measures = [
      rate("Builds that succeeded", (row) => countOf(row?.succeeded, row?.finished)),
      ...(these?.finished_without_platform
        ? [
            rate("… without known faults of the platform", (row) =>
              countOf(row?.succeeded_without_platform, row?.finished_without_platform),
            ),
          ]
        : []),
      count("Builds triggered", "builds"),
      count(
        "Versions and formats that broke",
        "broke",
        period.start - period.known < NEW_DAYS ? newStep : stepOfShare,
      ),
      count("Versions and formats that were fixed", "fixed"),
      rate("Fixed within a day of breaking", (row) =>
        countOf(row?.of_these_fixed_within_a_day, row?.broke_a_day_before_the_end),
      ),
      count("Stuck to this day", "stuck"),
      count("Cancelled", "cancelled"),
    ];
    const columns: Column<Measure>[] = [
      { head: html`<span class="unseen">Measure</span>`, isName: true, cell: ({ name }) => name },
      {
        head: daysName(period, now),
        isNumber: true,
        place: "left",
        label: "",
        cell: (measure) => html`<b>${measure.now}</b>`,
      },
    ];
    const ofBefore: Column<Measure>[] =
      period.before === null || !isKnown
        ? []
        : [
            {
              head: daysName(period.before, now),
              isNumber: true,
              place: "left",
              label: "before",
              cell: ({ before }) => before,
            },
            { head: "Change", cell: ({ change }) => change },
          ];
    return {
      title: isKnown ? "This period and the one before" : "This period",
      note: isKnown
        ? partWords(period, at, now)
        : "The mirror does not know builds of all of the days before, so there is nothing to compare it with.",
      body: renderListTable({
        caption: "This period and the one before",
        columns: [...columns, ...ofBefore],
        rows: measures,
        kind: "cmp",
      }),
    };
  },
});

const countOf = (succeeded: number | null = 0, finished: number | null = 0): Count => ({
  succeeded,
  finished,
});

/** A step that nothing can be judged by. */
const newStep = (now: number, before: number): Markup =>
  html`${renderCountStep(now, before)} <small class="quiet">the mirror was new before</small>`;

/** A period with its counts; null where no day of it is covered. */
interface PeriodRow {
  readonly is_this_period: boolean;
  readonly builds: number | null;
  readonly finished: number | null;
  readonly succeeded: number | null;
  readonly stuck: number | null;
  readonly cancelled: number | null;
  readonly broke: number;
  readonly fixed: number;
  readonly finished_without_platform?: number | null;
  readonly succeeded_without_platform?: number | null;
  readonly broke_a_day_before_the_end: number | null;
  readonly of_these_fixed_within_a_day: number | null;
}

const BOTH_PERIODS = trendsQuestion<PeriodRow>("both_periods");

/** The platform's trouble is known by whole hours and days, so it is not left out of parts of them. */
const askForPeriods = (scope: TrendsScope): Asks<PeriodRow> =>
  BOTH_PERIODS(scope, {
    days: daysAndTurns(scope),
    without_platform:
      scope.type === undefined &&
      endOfBefore(scope.period, scope.at) === null &&
      sql`
left join (
  select is_this_period, finished_without_platform, succeeded_without_platform
  from (
${plainOf(scope)}
  ) as plain
) as plain using (is_this_period)`,
  });
