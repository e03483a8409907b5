import { sql } from "drizzle-orm";
import { ask, inline, pick, relation } from "../../report/ask.ts";
import { block, type Row } from "../parts/block.ts";
import { html, type Markup } from "../parts/html.ts";
import { DAY_MS, dayWords } from "../parts/marks.ts";
import { drawBar, type Look, levelLine } from "../parts/plot.ts";
import { OWN, type ProjectScope } from "./project-scope.ts";

const daily = relation("success_rate_daily_by_project");
const SHOWN_DAYS = 31;

/** Counts by day. A rate by day would say little of so few builds. */
export const days = block({
  id: "days",
  narrowedBy: OWN,
  asks({ subject: { id }, at }: ProjectScope) {
    const today = sql`${at.toISOString().slice(0, 10)}::date`;
    return {
      rows: ask("success_rate_daily_by_project")`
select ${pick(daily, "day", "succeeded", "failed", "unfinished")}
from ${daily}
where ${daily.project_id} = ${id} and ${daily.day} > ${today} - ${inline(SHOWN_DAYS)} and ${daily.day} <= ${today}
order by ${daily.day}`,
    };
  },
  draw({ rows }, { at, now }) {
    const count = (row: Row): DayCount => ({
      succeeded: Number(row.succeeded ?? 0),
      failed: Number(row.failed ?? 0),
      unfinished: Number(row.unfinished ?? 0),
    });
    const counts = new Map(rows.map((row) => [String(row.day), count(row)]));
    const isEmpty = ![...counts.values()].some(isBuilt);
    return {
      title: "Builds by day",
      note: isEmpty ? "" : "Up: succeeded, down: failed. A rate by day would say little of so few builds.",
      empty: isEmpty && ["unknown", "No builds", `were triggered in these ${SHOWN_DAYS} days.`],
      body: drawDayCounts(counts, Date.parse(at.toISOString().slice(0, 10)), now),
    };
  },
});

/** The most pixels that a day may go up or down, and that one build takes. */
const [MOST_PX, BUILD_PX] = [42, 14];
const GAP_PX = 2;
const TICKS = 4;

interface DayCount {
  readonly succeeded: number;
  readonly failed: number;
  readonly unfinished: number;
}

const isBuilt = ({ succeeded, failed, unfinished }: DayCount): boolean => succeeded + failed + unfinished > 0;

/**
 * Builds by day: up what succeeded, hatched above it what has not finished, down what failed. The days up to
 * `last` (in milliseconds), of which `counts` has some by their texts, such as 2026-11-22.
 */
function drawDayCounts(counts: ReadonlyMap<string, DayCount>, last: number, now: Date): Markup {
  const days = SHOWN_DAYS;
  const all = Array.from({ length: days }, (_, place) => {
    const at = last - (days - 1 - place) * DAY_MS;
    const count = counts.get(new Date(at).toISOString().slice(0, 10));
    return { at, place, succeeded: 0, failed: 0, unfinished: 0, ...count };
  });
  const up = Math.max(1, ...all.map(({ succeeded, unfinished }) => succeeded + unfinished));
  const down = Math.max(1, ...all.map(({ failed }) => failed));
  const unit = Math.min(BUILD_PX, MOST_PX / up, MOST_PX / down);
  const base = 6 + up * unit;
  const height = base + GAP_PX + down * unit + 20;
  const x = (place: number) => `${((100 * (place + 0.15)) / days).toFixed(2)}%`;
  const width = `${(70 / days).toFixed(2)}%`;
  const sum = (name: keyof DayCount) => all.reduce((total, day) => total + day[name], 0);
  const since = dayWords(all[0]?.at ?? last, now);
  const ends = `${sum("succeeded")} succeeded and ${sum("failed")} failed`;
  const told = `Builds by day: ${ends} since ${since}, on ${all.filter(isBuilt).length} of ${days} days`;
  const rect = (look: Look, place: number, y: number, count: number) =>
    count === 0 ? "" : drawBar(look, { x: x(place), width }, y.toFixed(1), count * unit);
  const bars = all.map(({ at, place, succeeded, failed, unfinished }) => {
    const open = unfinished === 0 ? "" : `, ${unfinished} not finished`;
    return html`<g><title>${dayWords(at, now)}: ${succeeded} succeeded, ${failed} failed${open}</title>
      <rect class="m-none" x="${x(place)}" width="${width}" y="0" height="${(height - 20).toFixed(1)}"/>
      ${rect("good", place, base - succeeded * unit, succeeded)}
      ${rect("perhaps", place, base - (succeeded + unfinished) * unit, unfinished)}
      ${rect("failed", place, base + GAP_PX, failed)}</g>`;
  });
  const ticks = all.filter(({ place }) => place % Math.ceil(days / TICKS) === 3);
  const dates = ticks.map(({ at, place }) => {
    const middle = ((100 * (place + 0.5)) / days).toFixed(2);
    return html`<text class="mid" x="${middle}%" y="${(height - 4).toFixed(1)}">${dayWords(at, now)}</text>`;
  });
  return html`<svg class="mini" height="${height.toFixed(0)}" role="img" aria-label="${told}">
    ${levelLine((base + 1).toFixed(1))}${bars}${dates}</svg>`;
}
