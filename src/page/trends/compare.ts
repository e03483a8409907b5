import { sql } from "drizzle-orm";
import { grouped } from "../../base/text.ts";
import { ask, type Question, relation, where } from "../../report/ask.ts";
import type { Row } from "../parts/answers.ts";
import { block } from "../parts/block.ts";
import {
  type Count,
  differenceOf,
  renderCountChange,
  renderCountStep,
  renderPoints,
} from "../parts/changes.ts";
import { html, type Markup, percent } from "../parts/html.ts";
import { dateOf, daysName, type Period } from "../parts/period.ts";
import { CHOSEN, daysAndTurns, momentWithin, plainOf, type TrendsScope } from "./trends-scope.ts";

const streak = relation("recoveries");

/** What breaks; of one format it is not known which had worked before. */
export const brokenWords = (type: string | undefined): string =>
  type === undefined ? "Versions and formats that broke" : "Versions that broke, or failed at first";

/** The figures of the period beside those of the period before. */
export const compare = block({
  id: "compare",
  narrowedBy: CHOSEN,
  asks: (scope: TrendsScope) => ({ rows: askForPeriods(scope) }),
  draw({ rows }, { period, type, now }) {
    const of = (isThisPeriod: boolean) => rows.find((row) => row.is_this_period === isThisPeriod) ?? {};
    const isKnown = period.before !== null && (of(false).finished ?? null) !== null;
    const measures = measuresOf(of(true), of(false), period, type);
    const beforeHeads = html`
    <th role="columnheader" scope="col" class="num">${period.before && daysName(period.before, now)}</th>
    <th role="columnheader" scope="col">Change</th>`;
    const beforeCells = ({ before, change }: (typeof measures)[number]) => html`
    <td role="cell" class="num" data-l="before">${before}</td><td role="cell" class="right">${change}</td>`;
    return {
      title: isKnown ? "This period and the one before" : "This period",
      ...(!isKnown && {
        note: "The mirror does not know builds of all of the days before, so there is nothing to compare it with.",
      }),
      body: html`<table role="table" class="stack cmp">
      <caption class="unseen">This period and the one before</caption>
      <thead role="rowgroup"><tr role="row">
      <th role="columnheader" scope="col"><span class="unseen">Measure</span></th>
      <th role="columnheader" scope="col" class="num">${daysName(period, now)}</th>
      ${isKnown ? beforeHeads : ""}</tr></thead>
      <tbody role="rowgroup">
${measures.map(
  (measure) =>
    html`<tr role="row"><th role="rowheader" scope="row">${measure.name}</th>
      <td role="cell" class="num"><b>${measure.now}</b></td>
      ${isKnown ? beforeCells(measure) : ""}</tr>
`,
)}</tbody></table>`,
    };
  },
});

function askForPeriods(scope: TrendsScope): Question {
  const { period, type } = scope;
  const { start, first, last } = period;
  const count = (column: string) => sql.raw(`sum(${column}) as ${column}`);
  const counts = ["builds", "finished", "succeeded", "failed", "unfinished", "stuck"];
  const withoutPlatform = sql`
left join (
  select is_this_period, finished_without_platform, succeeded_without_platform
  from (
${plainOf(period)}
  ) as plain
) as plain using (is_this_period)`;
  // What broke on the last day of each period has not had a day yet, and what never worked did not break.
  return ask("success_rate_daily")`
select *
from (
  select day >= ${dateOf(first)} as is_this_period, min(day) as first_day, max(day) as last_day,
    ${sql.join(counts.map(count), sql`, `)}, coalesce(sum(broke), 0) as broke, coalesce(sum(fixed), 0) as fixed
  from ${daysAndTurns(scope)}
  group by is_this_period
) as counts${type === undefined ? withoutPlatform : undefined}
left join (
  select is_this_period, broke as broke_a_day_before_the_end, fixed as of_these_fixed_within_a_day
  from (
select ${streak.broke_at} >= ${dateOf(first)} as is_this_period, count(*) as broke,
  count(*) filter (where ${streak.hours_to_recover} <= 24) as fixed
from ${streak}${where(momentWithin(streak.broke_at, start, last - 1), streak.worked_before, type !== undefined && sql`${streak.type} = ${type}`)}
group by is_this_period
  ) as quick
) as quick using (is_this_period)
order by is_this_period desc`;
}

/**
 * A version and format breaks where it is known to have worked. A mirror that is new does not know that of most, so
 * for so many days it counts too few.
 */
const NEW_DAYS = 28;

function measuresOf(whole: Row, earlier: Row, { start, known }: Period, type: string | undefined) {
  const of = (row: Row, name: string) => Number(row[name] ?? 0);
  const rate = (name: string, part: string, all: string) => {
    const countOf = (row: Row): Count => ({ succeeded: of(row, part), finished: of(row, all) });
    const [now, before] = [countOf(whole), countOf(earlier)];
    return { name, now: share(now), before: share(before), change: rateChange(now, before) };
  };
  const steps = (name: string, column: string) => {
    const [now, before] = [of(whole, column), of(earlier, column)];
    return { name, now: grouped(now), before: grouped(before), change: renderCountStep(now, before) };
  };
  const broke = steps(brokenWords(type), "broke");
  return [
    rate("Builds that succeeded", "succeeded", "finished"),
    ...(of(whole, "finished_without_platform") === 0
      ? []
      : [
          rate("… without faults of the platform", "succeeded_without_platform", "finished_without_platform"),
        ]),
    steps("Builds triggered", "builds"),
    {
      ...broke,
      change:
        start - known < NEW_DAYS
          ? html`${broke.change} <small class="quiet">the mirror was new before</small>`
          : renderCountChange(of(whole, "broke"), of(earlier, "broke")),
    },
    steps("Versions and formats that were fixed", "fixed"),
    rate("Fixed within a day of breaking", "of_these_fixed_within_a_day", "broke_a_day_before_the_end"),
    steps("Stuck to this day", "stuck"),
  ];
}

const share = ({ succeeded, finished }: Count): string =>
  finished === 0 ? "–" : percent(succeeded / finished);

/** The difference of two rates in points, with its interval where there is room. */
export function rateChange(now: Count, before: Count, hasRoom = true): Markup {
  const difference = differenceOf(now, before);
  if (difference === null) return html`<small class="quiet">nothing to compare it with</small>`;
  const { low, high, isChance } = difference;
  return html`${renderPoints(difference)} <small class="quiet">
    ${isChance ? "within chance" : "more than chance"}
    ${hasRoom ? html`<span class="gone">: ${points(low)} to ${points(high)}</span>` : ""}</small>`;
}

/** A difference in points with its sign: `+1.1`, `−0.5`. */
export function points(difference: number): string {
  const rounded = (Math.abs(difference) * 100).toFixed(1);
  return rounded === "0.0" ? rounded : `${difference < 0 ? "−" : "+"}${rounded}`;
}
