/** How long until builds succeed again, when some streaks of failures are not over. */

import type { Fact } from "./facts.ts";
import { groupBy } from "./group-by.ts";
import type { Row } from "./rates.ts";
import { allStreaks } from "./series.ts";
import { dayOf, dayText, HOUR_US, type Micros } from "./times.ts";

type Life = Pick<Fact, "project" | "type"> & {
  month: string;
  hadWorked: boolean;
  isOver: boolean;
  hours: number;
};

export function timeToRecover(facts: readonly Fact[], coveredThrough: Micros | null): Row[] {
  const lives = allStreaks(facts).flatMap(({ failures: [first], before, after }): Life[] => {
    if (!first || first.at === null) return [];
    const { project, version, type, at } = first;
    const known = [coveredThrough, project.deletedAt, version.deletedAt].filter((moment) => moment !== null);
    const end = after?.at ?? (known.length === 0 ? at : Math.min(...known));
    const hours = Math.max(0, end - at) / HOUR_US;
    const month = dayText(dayOf(at)).slice(0, 7);
    return [{ project, type, month, hadWorked: before !== null, isOver: after !== null, hours }];
  });
  // Each of the three is chosen or not.
  return [0, 1, 2, 3, 4, 5, 6, 7].flatMap((choice) => {
    const columnsOf = ({ project, type, month }: Life): Row => ({
      project_id: choice & 1 ? project.id : null,
      project_slug: choice & 1 ? project.slug : null,
      type: choice & 2 ? type : null,
      month: choice & 4 ? month : null,
    });
    return [...groupBy(lives, (life) => JSON.stringify(columnsOf(life))).values()].map((own) => ({
      ...columnsOf(own[0] as Life),
      ...timesOf(own),
    }));
  });
}

function timesOf(lives: readonly Life[]): Row {
  const over = lives.filter(({ isOver }) => isOver);
  const breaks = lives.filter(({ hadWorked }) => hadWorked);
  return {
    streaks: lives.length,
    recovered: over.length,
    still_open: lives.length - over.length,
    median_hours: shareOver(lives, 1 / 2),
    p25_hours: shareOver(lives, 1 / 4),
    p75_hours: shareOver(lives, 3 / 4),
    closed_median_hours: shareOver(over, 1 / 2),
    breaks: breaks.length,
    breaks_recovered: breaks.filter(({ isOver }) => isOver).length,
    breaks_median_hours: shareOver(breaks, 1 / 2),
    breaks_p25_hours: shareOver(breaks, 1 / 4),
  };
}

/** The first time at which so large a share is estimated to be over; null where that is beyond what is known. */
function shareOver(lives: readonly Life[], share: number): number | null {
  let lasting = 1;
  for (const time of [...new Set(lives.map(({ hours }) => hours))].sort((a, b) => a - b)) {
    const atRisk = lives.filter(({ hours }) => hours >= time);
    const ended = atRisk.filter(({ hours, isOver }) => isOver && hours === time);
    lasting *= 1 - ended.length / atRisk.length;
    if (lasting <= 1 - share + 1e-9) return time;
  }
  return null;
}
