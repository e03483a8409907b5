/** What rounds cost by the number of builds that are open. */
import { formatCount, renderTable } from "./doc-table.ts";
import { DAY_MS, type HourCost, type HungBuilds, MINUTE_MS, measureRounds } from "./round-costs.ts";

interface Crowd {
  title: string;
  hung: HungBuilds;
  offersState?: boolean;
}

const MIXED = { youngestMs: MINUTE_MS, oldestMs: 30 * DAY_MS };
const OLD = { youngestMs: DAY_MS, oldestMs: 30 * DAY_MS };

export const CROWDS: Record<string, Crowd> = {
  none: { title: "0", hung: { count: 0, ...MIXED } },
  hundred: { title: "100, of any age from a minute to 30 days", hung: { count: 100, ...MIXED } },
  thousands: { title: "10,000, of any age from a minute to 30 days", hung: { count: 10_000, ...MIXED } },
  hung: { title: "10,000, all hung for over a day", hung: { count: 10_000, ...OLD } },
  unlisted: {
    title: "10,000, all hung for over a day, and no filter by `state`",
    hung: { count: 10_000, ...OLD },
    offersState: false,
  },
};
/** Two days: in the first, each build comes to its turn. */
const HOURS = { from: 0, to: 48 };

/** The cost of each hour of two days. */
export async function measureCrowd(
  databaseUrl: string,
  name: string,
  print: (line: string) => void,
): Promise<HourCost[]> {
  const { title, hung, offersState = true } = crowdOf(name);
  const costs = await measureRounds({ databaseUrl, hung, hours: HOURS, offersState });
  print(`${title}: ${costs.map(({ details, statePages }) => `${details}+${statePages}`).join(" ")}`);
  return costs;
}

export function renderCrowds(costs: ReadonlyMap<string, readonly HourCost[]>): string {
  const head = [
    "open builds, none of which ever finishes",
    "pages of the head, a round",
    "details a round, first hour",
    "details an hour, second day",
    "in the busiest of these",
    "details, second day",
    "pages of builds by state, second day",
  ];
  const rows = [...costs].map(([name, hours]) => {
    const secondDay = hours.slice(24);
    const sum = (over: readonly HourCost[], key: keyof HourCost) =>
      over.reduce((total, hour) => total + hour[key], 0);
    const details = sum(secondDay, "details");
    return [
      crowdOf(name).title,
      formatCount(sum(hours, "headPages") / hours.length / 60, 1),
      formatCount((hours[0]?.details ?? 0) / 60, 1),
      formatCount(details / secondDay.length, 1),
      formatCount(Math.max(...secondDay.map((hour) => hour.details))),
      formatCount(details),
      formatCount(sum(secondDay, "statePages")),
    ];
  });
  return renderTable(head, rows);
}

function crowdOf(name: string): Crowd {
  const crowd = CROWDS[name];
  if (!crowd) throw new Error(`there is no crowd "${name}"`);
  return crowd;
}
