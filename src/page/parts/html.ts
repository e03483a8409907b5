import { raw, html as sendAsWritten } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";
import { grouped, printable } from "../../base/text.ts";

/** A piece of a page, escaped. */
export type Markup = HtmlEscapedString | Promise<HtmlEscapedString>;

const JOINED = new WeakMap<TemplateStringsArray, TemplateStringsArray>();

/**
 * Markup with its values escaped. An indented line continues the line before it, so that long markup can be
 * broken: between tags and values the break is not sent, beside a word or an attribute it is a space. A line that
 * begins at the margin stays a line of the page.
 */
export function html(strings: TemplateStringsArray, ...values: unknown[]): Markup {
  let joined = JOINED.get(strings);
  if (joined === undefined) {
    // A template is the same object at each call, so this is done once.
    joined = Object.assign(strings.map(joinLines), { raw: strings.raw });
    JOINED.set(strings, joined);
  }
  return sendAsWritten(joined, ...values);
}

function joinLines(text: string): string {
  return text.replace(/\n +/g, (found, place: number) => {
    const [before, after] = [text[place - 1] ?? ">", text[place + found.length] ?? "<"];
    return before === ">" && after === "<" ? "" : " ";
  });
}

/** The words of a piece of a page, without its tags and still escaped. */
export const wordsOf = (piece: string): Markup => raw(piece.replace(/<[^>]*>/g, ""));

type Joinable = Markup | string | null | undefined | false;

/** Parts in a row with something between them. One that is null, false or empty is left out. */
export const joined = (parts: readonly Joinable[], between: Markup | string): Markup =>
  html`${parts.filter(Boolean).map((part, place) => html`${place > 0 && between}${part}`)}`;

/** Sentences one after the other. */
export const sentences = (...parts: readonly Joinable[]): Markup => joined(parts, " ");

const TEXT_LENGTH = 80;

/**
 * Foreign text for a page: cut, without control characters that a browser would obey, and with its own text
 * direction, so that an Arabic name does not turn the line around it.
 */
export const foreign = (text: string, maxLength = TEXT_LENGTH): Markup =>
  html`<bdi>${shorten(text, maxLength)}</bdi>`;

/** Made once it is needed: it takes 20 ms. */
let segmenter: Intl.Segmenter | undefined;
/** A longer character, such as a letter below hundreds of marks, may be cut. */
const LONGEST_CHARACTER = 32;

/** The same text for attributes and titles, without markup. It is cut between characters as a reader sees them. */
export function shorten(text: string, maxLength = TEXT_LENGTH): string {
  const clean = printable(text);
  if (clean.length <= maxLength) return clean;
  segmenter ??= new Intl.Segmenter();
  const most = maxLength - 1;
  const near = clean.slice(Math.max(0, most - LONGEST_CHARACTER), most + LONGEST_CHARACTER);
  const before = Math.min(most, LONGEST_CHARACTER);
  const fits = segmenter.segment(near).containing(before)?.index ?? before;
  return `${clean.slice(0, most - before + (fits === 0 ? before : fits)).toWellFormed()}…`;
}

/** A smaller distance to 0 or 1 comes from the arithmetic of floats. */
const DUST = 1e-9;

const rounded = (share: number, whole: number): number => {
  const parts = Math.round(share * whole);
  return parts === whole && share < 1 - DUST ? whole - 1 : parts === 0 && share > DUST ? 1 : parts;
};

/**
 * A share of 0 to 1 as a percentage with one decimal. A share that is not quite 0 or 1 is never shown as 0.0
 * or 100.0.
 */
export const percent = (share: number): string => `${(rounded(share, 1000) / 10).toFixed(1)}\u00a0%`;

/** The same without decimals, for lists: `60 %`. */
export const wholePercent = (share: number): string => `${rounded(share, 100)}\u00a0%`;

const NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];

/** A small count as a word: `five`. */
export const countWord = (count: number): string => NUMBERS[count] ?? grouped(count);

/** Lists of the service by what they hold: `the lists of users, files`. */
export const listsOf = (resources: readonly string[]): string =>
  `the ${resources.length === 1 ? "list" : "lists"} of ${resources.map((name) => `${name}s`).join(", ")}`;

/** A version and a format, such as those of a row. */
export interface Target {
  readonly version_slug: string;
  readonly type: string;
}

/** They in words: `latest · html`. */
export function targetWords({ version_slug: version, type }: Target): string {
  const versionWords = version === "(unknown)" ? "version not known" : shorten(version, 40);
  const typeWords = type === "(none)" ? "format not known" : shorten(type, 24);
  return `${versionWords} · ${typeWords}`;
}

/** A slug as the words of a link: an empty one could not be clicked. */
export function slugWords(slug: unknown): Markup {
  if (slug === "(unknown)") return html`project not known`;
  return slug === "" ? html`(empty)` : foreign(String(slug), 60);
}
