import { scaleUtc } from "d3-scale";
import { clockWords, dayWords } from "../age.ts";
import { html } from "../html.ts";
import type { Markup } from "../words.ts";

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** A word this close to an end would leave the drawing, in percent. */
const MARGIN = 3;
/** The scale may give more ticks than it was given as a number, where round moments are dense. */
const MOST_TICKS = 9;

export interface TimeAxis {
  /** A moment in milliseconds as a place from 0 to 100; what lies outside is at the end. */
  at(ms: number): number;
  /** The same as an attribute. */
  x(ms: number): string;
  /** Lines and words of round moments, over `height` pixels, the words below. */
  draw(height: number): Markup;
}

/** An axis from one moment to another, both in milliseconds. Times are in UTC. */
export function timeAxis(from: number, to: number, now: Date): TimeAxis {
  const scale = scaleUtc().domain([from, to]).range([0, 100]).clamp(true);
  const at = (ms: number): number => scale(ms);
  const x = (ms: number): string => `${at(ms).toFixed(2)}%`;
  return {
    at,
    x,
    draw(height) {
      const all = scale.ticks(8).map(Number);
      const ticks = all.filter((_, place) => place % Math.ceil(all.length / MOST_TICKS) === 0);
      const step = (ticks[1] ?? to) - (ticks[0] ?? from);
      const words = (ms: number) =>
        step >= DAY_MS ? dayWords(ms, now) : step >= MINUTE_MS ? clockWords(ms) : secondWords(ms);
      return html`${ticks.map((ms, place) => {
        const isNear = at(ms) < MARGIN || at(ms) > 100 - MARGIN;
        const text = html`<text class="mid${place % 2 === 1 ? " t3" : ""}" x="${x(ms)}" y="${height + 18}">${words(ms)}</text>`;
        return html`<line class="grid" x1="${x(ms)}" x2="${x(ms)}" y1="0" y2="${height}"/>${isNear ? "" : text}`;
      })}`;
    },
  };
}

/** The UTC time of a moment with its seconds: `01:12:30`. */
export function secondWords(ms: number): string {
  return new Date(ms).toISOString().slice(11, 19);
}
