import type { BuildTimesDay } from "../../../src/page/charts/duration-chart.ts";
import type { RateDay } from "../../../src/page/charts/success-rate-chart.ts";
import type { VolumeDay } from "../../../src/page/charts/volume-chart.ts";

export type DayRow = RateDay & VolumeDay & BuildTimesDay;

/** A complete day with 9 of 10 finished builds good, unless `given` says otherwise; a rate follows from its counts. */
export function dayRow(day: string, given: Partial<DayRow> = {}): DayRow {
  const { succeeded = 9, failed = 1, unfinished = 0 } = given;
  const finished = (succeeded ?? 0) + (failed ?? 0);
  const rate = finished === 0 ? null : (succeeded ?? 0) / finished;
  return {
    day,
    succeeded,
    failed,
    unfinished,
    finished,
    builds: finished + (unfinished ?? 0),
    success_rate: rate,
    success_rate_low: rate === null ? null : rate * 0.8,
    success_rate_high: rate === null ? null : rate + (1 - rate) * 0.5,
    p50_s_min: finished === 0 ? null : 60,
    p50_s_max: finished === 0 ? null : 120,
    p95_s_min: finished === 0 ? null : 600,
    p95_s_max: finished === 0 ? null : 1200,
    is_complete: true,
    is_covered: true,
    ...given,
  };
}

export const NO_BUILDS: Partial<DayRow> = { succeeded: 0, failed: 0 };

/** What a day is like that no sync has looked at. */
export const NOT_COVERED: Partial<DayRow> = {
  builds: null,
  finished: null,
  succeeded: null,
  failed: null,
  unfinished: null,
  success_rate: null,
  success_rate_low: null,
  success_rate_high: null,
  p50_s_min: null,
  p50_s_max: null,
  p95_s_min: null,
  p95_s_max: null,
  is_complete: false,
  is_covered: false,
};

/** Days in a row, the last one being 2026-11-21. */
export function dayRows(number: number, given: (index: number) => Partial<DayRow> = () => ({})): DayRow[] {
  const last = Date.parse("2026-11-21T00:00:00Z");
  return Array.from({ length: number }, (_, index) => {
    const day = new Date(last - (number - 1 - index) * 86_400_000).toISOString().slice(0, 10);
    return dayRow(day, given(index));
  });
}
