import { html, type Markup, shorten } from "./html.ts";

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** A moment as Postgres prints it in UTC, in milliseconds; NaN where JavaScript has no such moment. */
export function momentMs(text: unknown): number {
  return Date.parse(
    String(text)
      .replace(" ", "T")
      .replace(/\+00(?::00)?$/, "Z"),
  );
}

/** A span in one unit: `12 min`, `24 h`, `3 d`. Hours go on to two days. What is below a minute is `< 1 min`. */
export function span(ms: number): string {
  if (ms < MINUTE_MS) return "<\u00a01\u00a0min";
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)}\u00a0min`;
  if (ms < 2 * DAY_MS) return `${Math.floor(ms / HOUR_MS)}\u00a0h`;
  return `${Math.floor(ms / DAY_MS).toLocaleString("en-US")}\u00a0d`;
}

/** A moment for people: `22 Nov 01:12`, with its year where that is not the year of `now`. In UTC. */
export const when = (ms: number, now: Date): string => `${dayWords(ms, now)} ${clockWords(ms)}`;

/** The UTC day of a moment: `22 Nov`, with its year where that is not the year of `now`. */
export function dayWords(ms: number, now: Date): string {
  const at = new Date(ms);
  const year = at.getUTCFullYear() === now.getUTCFullYear() ? "" : ` ${at.getUTCFullYear()}`;
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]}${year}`;
}

/** The UTC time of a moment: `01:12`. */
export const clockWords = (ms: number): string => new Date(ms).toISOString().slice(11, 16);

/** The UTC time of a moment with its seconds: `01:12:30`. */
export const secondWords = (ms: number): string => new Date(ms).toISOString().slice(11, 19);

/** How long ago a moment was, as text; null where it is not known. */
export function agoWords(moment: unknown, now: Date): string | null {
  const ms = momentMs(moment);
  return Number.isNaN(ms) ? null : span(now.getTime() - ms);
}

/** How long ago a moment of Postgres was, with the moment itself behind it; a dash where there is none. */
export const age = (moment: unknown, now: Date): Markup =>
  timeTag(moment, now, (ms) => span(now.getTime() - ms));

/** A moment of Postgres for people, such as `22 Nov 01:12`; a dash where there is none. */
export const momentTag = (text: unknown, now: Date): Markup => timeTag(text, now, (ms) => when(ms, now));

function timeTag(text: unknown, now: Date, words: (ms: number) => string): Markup {
  if (text === null || text === undefined) return html`<span class="quiet">–</span>`;
  const ms = momentMs(text);
  if (Number.isNaN(ms)) return html`<span>${shorten(String(text))}</span>`;
  return html`<time datetime="${new Date(ms).toISOString()}" title="${when(ms, now)} UTC">${words(ms)}</time>`;
}
