import type { Sql } from "../../src/store/connection/sql.ts";

interface FactRow {
  id: string;
  day: string;
  least: number;
  most: number | null;
}

const PERCENTS = [50, 90, 95] as const;
/** Of the binary fractions that seconds are counted in. */
const ROUNDING_S = 1e-6;

/**
 * What the reports say of how long builds took that is not so, a sentence each: a build outside of its bounds, a day whose true percentile lies
 * outside of those of the bounds. `lengths` are the true ones in seconds, by id; the reports have to be refreshed.
 */
export async function findTimeFaults(sql: Sql, lengths: ReadonlyMap<string, number>): Promise<string[]> {
  const facts = await sql<FactRow[]>`
    select build_id as id, triggered_on as day, duration_s_min as least, duration_s_max as most
    from report.fact_builds where duration_s_min is not null and triggered_on is not null`;
  const times = await sql<Record<string, number | string | null>[]>`
    select day, finished, p50_s_min, p50_s_max, p90_s_min, p90_s_max, p95_s_min, p95_s_max
    from report.build_times_daily where finished > 0`;
  const faults: string[] = [];
  const byDay = new Map<string, number[]>();
  const isWithin = (least: number, value: number, most: number | null) =>
    least <= value + ROUNDING_S && value <= (most ?? Infinity) + ROUNDING_S;
  for (const { id, day, least, most } of facts) {
    const length = lengths.get(id) ?? Number.NaN;
    if (!isWithin(least, length, most))
      faults.push(`build ${id} took ${length} s, not ${least} to ${most} s`);
    byDay.set(day, [...(byDay.get(day) ?? []), length]);
  }
  for (const row of times) {
    const own = (byDay.get(String(row.day)) ?? []).sort((a, b) => a - b);
    byDay.delete(String(row.day));
    if (own.length !== row.finished)
      faults.push(`${row.day}: ${row.finished} builds are measured, not ${own.length}`);
    for (const percent of PERCENTS) {
      const [least, most] = [Number(row[`p${percent}_s_min`]), row[`p${percent}_s_max`] as number | null];
      const truly = percentile(own, percent / 100);
      if (!isWithin(least, truly, most))
        faults.push(`${row.day}: ${percent} % took ${truly} s at most, not ${least} to ${most} s`);
    }
  }
  faults.push(...[...byDay.keys()].map((day) => `${day}: nothing is said of how long builds took`));
  return faults;
}

/** Between the two sorted values on either side of the share, as `percentile_cont` does it. */
function percentile(sorted: readonly number[], share: number): number {
  const place = share * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(place)] ?? Number.NaN, sorted[Math.ceil(place)] ?? Number.NaN];
  return low + (place - Math.floor(place)) * (high - low);
}
