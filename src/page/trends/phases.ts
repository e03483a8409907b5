import { sql } from "drizzle-orm";
import { ask } from "../../report/ask.ts";
import type { Question } from "../../report/question.ts";
import { relation } from "../../report/relation.ts";
import { block } from "../parts/block.ts";
import { boundBars } from "../parts/charts/bound-bar.ts";
import { html } from "../parts/html.ts";
import { daysName, type Period } from "../parts/period.ts";
import { within } from "../parts/questions/days.ts";
import { isKnownTime } from "../parts/questions/known-times.ts";
import { durationWords } from "./duration-words.ts";
import { boundOf, KEY, percentiles, renderKnown, renderUnknown } from "./times-parts.ts";
import { CHOSEN, lateOf, type TrendsScope } from "./trends-scope.ts";

const phase = relation("build_phases");

/** How long builds waited, and how long they worked, where both are known. */
export const phases = block({
  id: "phases",
  narrowedBy: CHOSEN,
  asks: (scope: TrendsScope) => ({ rows: askForPhases(scope.period, scope.type) }),
  draw({ rows }, { period, now }) {
    const [row] = rows;
    const [finished, known] = [Number(row?.finished ?? 0), Number(row?.known ?? 0)];
    const shown =
      row === undefined || known === 0
        ? []
        : [
            ["Waited, half", boundOf(row, "queued_p50")] as const,
            ["Waited, nine of ten", boundOf(row, "queued_p90")] as const,
            ["Worked, half", boundOf(row, "building_p50")] as const,
            ["Worked, nine of ten", boundOf(row, "building_p90")] as const,
          ];
    const bars = boundBars(shown.map(([, bound]) => bound));
    return {
      title: "Waiting and working",
      count: daysName(lateOf(period), now),
      note: "The service names no queue: a build waits until it is seen at work.",
      body:
        shown.length === 0
          ? renderUnknown(finished)
          : html`${renderKnown(known, finished)}
<ul class="bounds phases">${bars.axis}${shown.map(
              ([label, bound]) =>
                html`<li><span>${label}</span>${bars.draw(bound)}<span class="n">${durationWords(bound)}</span></li>`,
            )}</ul>
${KEY}`,
    };
  },
});

/** How long builds waited and worked of which both are known. */
function askForPhases(period: Period, type: string | undefined): Question {
  const isKnown = sql`${isKnownTime(phase.queued_s_min, phase.queued_s_max)} and ${isKnownTime(phase.building_s_min, phase.building_s_max)}`;
  return ask("build_phases")`
select count(${phase.building_s_min}) as finished, count(*) filter (where ${isKnown}) as known,
  ${percentiles("queued", phase.queued_s_min, phase.queued_s_max, isKnown)},
  ${percentiles("building", phase.building_s_min, phase.building_s_max, isKnown)}
from ${phase}
where ${within(phase.triggered_on, lateOf(period).first, period.last)}${type === undefined ? undefined : sql` and ${phase.type} = ${type}`}`;
}
