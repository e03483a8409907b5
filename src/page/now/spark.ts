import { dayWords } from "../parts/age.ts";
import { html } from "../parts/html.ts";
import { type Markup, wholePercent } from "../parts/words.ts";

const [HEIGHT, TOP, BOTTOM] = [58, 6, 40];

export interface SparkDay {
  /** 2026-11-22 */
  readonly day: string;
  /** 0 to 1; null where nothing finished. */
  readonly rate: number | null;
}

/**
 * A rate by day as one line, the oldest first, with the usual rate dashed and the lowest day named. Nothing with
 * fewer than three days. `usual` is null where it is not known.
 */
export function drawSpark(days: readonly SparkDay[], usual: number | null, now: Date): Markup | null {
  const known = days.flatMap(({ day, rate }, place) => (rate === null ? [] : [{ day, rate, place }]));
  const [first, last] = [known[0], known.at(-1)];
  if (known.length < 3 || first === undefined || last === undefined) return null;
  const lowest = known.reduce((least, one) => (one.rate < least.rate ? one : least));
  const rates = [...known.map(({ rate }) => rate), ...(usual === null ? [] : [usual])];
  const [least, most] = [Math.min(...rates), Math.max(...rates)];
  const x = (place: number) => `${((100 * (place + 0.5)) / days.length).toFixed(2)}%`;
  const y = (rate: number) =>
    (most === least
      ? (TOP + BOTTOM) / 2
      : BOTTOM - ((rate - least) / (most - least)) * (BOTTOM - TOP)
    ).toFixed(1);
  const dayOf = (day: string) => dayWords(Date.parse(day), now);
  const ends = `from ${wholePercent(first.rate)} to ${wholePercent(last.rate)}`;
  const lowestWords = `${wholePercent(lowest.rate)} on ${dayOf(lowest.day)}`;
  const told = `Success rate by day, ${dayOf(first.day)} to ${dayOf(last.day)}: ${ends}, lowest ${lowestWords}`;
  const isLate = lowest.place > days.length * 0.6;
  const lines = known.slice(1).map((to, place) => {
    const from = known[place] ?? to;
    return html`<line class="trace" x1="${x(from.place)}" y1="${y(from.rate)}" x2="${x(to.place)}" y2="${y(to.rate)}"/>`;
  });
  return html`<svg class="spark" role="img" height="${HEIGHT}" aria-label="${told}">
    ${usual === null ? "" : html`<line class="usual" x1="0" x2="100%" y1="${y(usual)}" y2="${y(usual)}"/>`}
    ${lines}<circle class="dot low" cx="${x(lowest.place)}" cy="${y(lowest.rate)}" r="3.5"/>
    <text class="${isLate ? "end" : ""}" x="${x(lowest.place)}" y="${Number(y(lowest.rate)) + 15}"
    dx="${isLate ? 4 : -4}">${lowestWords}</text>
    ${last === lowest ? "" : html`<circle class="dot" cx="${x(last.place)}" cy="${y(last.rate)}" r="3.5"/>`}</svg>`;
}
