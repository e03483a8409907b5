import { grouped, printable } from "../../base/text.ts";
import { html } from "./html.ts";

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

/** The same without decimals, for lists: `60 %`. What is not all, or not nothing, never looks so. */
export function wholePercent(share: number): string {
  const whole = Math.round(share * 100);
  const honest = whole === 100 && share < 1 - DUST ? 99 : whole === 0 && share > DUST ? 1 : whole;
  return `${honest}\u00a0%`;
}

const NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];

/** A small count as a word: `five`. */
export const countWord = (count: number): string => NUMBERS[count] ?? grouped(count);

/** Lists of the service by what they hold: `the lists of users, files`. */
export function listsOf(resources: readonly string[]): string {
  return `the ${resources.length === 1 ? "list" : "lists"} of ${resources.map((name) => `${name}s`).join(", ")}`;
}

const ERROR_KINDS: Readonly<Record<string, { label: string; meaning: string }>> = {
  dependency: {
    label: "Missing dependency",
    meaning: "something the build needs is missing, or clashes",
  },
  docs_source: { label: "Docs warning", meaning: "the documents themselves have a fault" },
  latex_pdf: { label: "LaTeX error", meaning: "only the PDF could not be made" },
  vcs: { label: "Source not reachable", meaning: "the source could not be fetched" },
  memory: { label: "Out of memory", meaning: "it was killed for the memory it used" },
  timeout: { label: "Timed out", meaning: "it took too long" },
  config: { label: "Wrong settings", meaning: "the project's own settings have a fault" },
  infra: { label: "Platform fault", meaning: "the platform failed, not the project" },
  cancelled: { label: "Cancelled", meaning: "somebody stopped it" },
  unclassified: { label: "Other error", meaning: "no rule names its error line" },
};

/** The name of an error class for people. A class that docmirror does not know is shown as it is. */
export function kindLabel(errorClass: unknown): string {
  return kindOf(errorClass)?.label ?? shorten(String(errorClass ?? "unclassified"), 40);
}

/** What an error class means, in part of a sentence; null for a class that docmirror does not know. */
export function kindMeaning(errorClass: unknown): string | null {
  return kindOf(errorClass)?.meaning ?? null;
}

function kindOf(errorClass: unknown) {
  const name = String(errorClass ?? "unclassified");
  return Object.hasOwn(ERROR_KINDS, name) ? ERROR_KINDS[name] : undefined;
}

/** What was built: `latest · html`. */
export function targetWords(version: unknown, type: unknown): string {
  const versionWords = version === "(unknown)" ? "version not known" : shorten(String(version), 40);
  const typeWords = type === "(none)" ? "format not known" : shorten(String(type), 24);
  return `${versionWords} · ${typeWords}`;
}

/** A slug as the words of a link: an empty one could not be clicked. */
export function slugWords(slug: unknown): Markup {
  if (slug === "(unknown)") return html`project not known`;
  return slug === "" ? html`(empty)` : foreign(String(slug), 60);
}
