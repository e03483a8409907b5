/** The month, looked at in four ways. */

import { judge, quantile, type Verdict } from "../judge/lives.ts";
import { formatCount, renderTable } from "./doc-table.ts";
import { live } from "./life.ts";

export const CADENCES: Record<string, { title: string; everyMinutes: number | null }> = {
  nightly: { title: "nightly, no watch", everyMinutes: null },
  hourly: { title: "hourly", everyMinutes: 60 },
  five: { title: "each five minutes", everyMinutes: 5 },
  minute: { title: "each minute", everyMinutes: 1 },
};

export interface Month {
  seed: number;
  days: number;
  /** In the whole time. */
  builds: number;
}

/** Lives through the month at one cadence and judges what is recorded. */
export async function playCadence(
  databaseUrl: string,
  name: string,
  { seed, days, builds }: Month,
  print: (line: string) => void,
): Promise<Verdict> {
  const { title, everyMinutes } = cadenceOf(name);
  const life = await live({
    databaseUrl,
    seed,
    days,
    buildsPerDay: builds / days,
    everyMinutes,
    onProgress: (done) => print(`${title}: ${Math.round(done * days)} of ${days} days`),
  });
  const verdict = await judge(life, databaseUrl);
  const { widths: _, ...facts } = verdict;
  print(`${title}: ${JSON.stringify(facts)}`);
  return verdict;
}

export function renderCadences(verdicts: ReadonlyMap<string, Verdict>): string {
  const head = [
    "looked at",
    "looks",
    "requests",
    "seen `triggered`",
    "seen `building`",
    "bounds of `building`, median (95 %)",
    "bounds of `finished`, median (95 %)",
    "transitions",
    "true time inside",
  ];
  const share = ({ of, seen }: { of: number; seen: number }) => `${formatCount((100 * seen) / of, 1)} %`;
  const width = (sorted: readonly number[]) =>
    `${formatSpan(quantile(sorted, 0.5))} (${formatSpan(quantile(sorted, 0.95))})`;
  const rows = [...verdicts].map(([name, { looks, requests, seen, widths, transitions, inside }]) => [
    cadenceOf(name).title,
    formatCount(looks),
    formatCount(requests),
    share(seen.triggered),
    share(seen.building),
    width(widths.building),
    width(widths.finished),
    formatCount(transitions),
    inside === transitions ? "100 %" : `all but ${formatCount(transitions - inside)}`,
  ]);
  return renderTable(head, rows);
}

function cadenceOf(name: string) {
  const cadence = CADENCES[name];
  if (!cadence) throw new Error(`there is no cadence "${name}"`);
  return cadence;
}

function formatSpan(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 100) return `${formatCount(seconds)} s`;
  return seconds < 6000 ? `${formatCount(seconds / 60, 1)} min` : `${formatCount(seconds / 3600, 1)} h`;
}
