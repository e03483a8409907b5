import { html } from "hono/html";
import { printable } from "../printable.ts";

/** A piece of a page, escaped. */
export type Markup = ReturnType<typeof html>;

/** The maximum length of a foreign text in a table. */
const TEXT_LENGTH = 80;

/**
 * Foreign text for a page: cut, without control characters that a browser would obey, and with its own text
 * direction, so that an Arabic name does not turn the line around it.
 */
export function foreign(text: string, maxLength = TEXT_LENGTH): Markup {
  return html`<bdi>${shorten(text, maxLength)}</bdi>`;
}

/** The same text for attributes and titles, without markup. */
export function shorten(text: string, maxLength = TEXT_LENGTH): string {
  const clean = printable(text);
  return clean.length <= maxLength ? clean : `${clean.slice(0, maxLength - 1).toWellFormed()}…`;
}

/** A smaller distance to 0 or 1 comes from the arithmetic of floats. */
const DUST = 1e-9;

/**
 * A share of 0 to 1 as a percentage with one decimal. A share that is not quite 0 or 1 is never shown as 0.0
 * or 100.0.
 */
export function percent(share: number): string {
  const tenths = Math.round(share * 1000);
  const honest = tenths === 1000 && share < 1 - DUST ? 999 : tenths === 0 && share > DUST ? 1 : tenths;
  return `${(honest / 10).toFixed(1)}\u00a0%`;
}

/** The two ends of an interval of shares. */
export function percentRange(low: number, high: number): string {
  return `${percent(low).replace("\u00a0%", "")}–${percent(high)}`;
}

/** A whole number, grouped by thousands. */
export function grouped(count: number): string {
  return count.toLocaleString("en-US");
}

/** A moment as Postgres prints it, to the minute. Every page says that its times are in UTC. */
export function moment(text: string): Markup {
  const [day = "", time = ""] = text.split(" ");
  const seconds = time.slice(0, 8);
  return html`<time datetime="${day}T${seconds}Z">${day} ${time.slice(0, 5)}</time>`;
}
