import { html } from "hono/html";
import { formatBetween, formatSpan } from "../builds/format-span.ts";
import { buildHref, projectHref } from "./links.ts";
import { foreign, grouped, type Markup, moment, percent, percentRange } from "./words.ts";

/** A row of a relation, as the driver returns it. */
export type Row = Readonly<Record<string, unknown>>;

/**
 * A column of a table on a page: its heading, and how to show a row. A missing value is shown as an empty
 * cell.
 */
export interface Column {
  readonly head: string;
  /** Whether it is aligned to the right, as numbers are. @default false */
  readonly isNumber?: boolean;
  /** Whether its texts are sentences, which need room. @default false */
  readonly isLong?: boolean;
  /** Whether it names the row for a screen reader. @default false */
  readonly isName?: boolean;
  cell(row: Row): Markup | string | null;
}

const SENTENCE_LENGTH = 80;

const numberOf = (row: Row, name: string): number | null => {
  const value = row[name];
  return value === null || value === undefined ? null : Number(value);
};

const textOf = (row: Row, name: string): string | null => {
  const value = row[name];
  return value === null || value === undefined ? null : String(value);
};

export function countOf(head: string, name: string): Column {
  return { head, isNumber: true, cell: (row) => given(numberOf(row, name), grouped) };
}

export function shareOf(head: string, name: string): Column {
  return { head, isNumber: true, cell: (row) => given(numberOf(row, name), percent) };
}

/** The success rate, and the interval that shows how reliable it is. */
export const RATE: readonly Column[] = [
  shareOf("Success", "success_rate"),
  {
    head: "95 % interval",
    isNumber: true,
    cell(row) {
      const [low, high] = [numberOf(row, "success_rate_low"), numberOf(row, "success_rate_high")];
      return low === null || high === null ? null : percentRange(low, high);
    },
  },
];

export function textIn(head: string, name: string, maxLength?: number): Column {
  const isLong = maxLength !== undefined && maxLength >= SENTENCE_LENGTH;
  return { head, isLong, cell: (row) => given(textOf(row, name), (text) => foreign(text, maxLength)) };
}

export function dayOf(head: string, name: string): Column {
  return {
    head,
    isName: true,
    cell: (row) => given(textOf(row, name), (day) => html`<time datetime="${day}">${day}</time>`),
  };
}

export function momentOf(head: string, name: string): Column {
  return { head, cell: (row) => given(textOf(row, name), moment) };
}

/** A span of time, given in seconds. */
export function spanOf(head: string, name: string): Column {
  return {
    head,
    isNumber: true,
    cell: (row) => given(numberOf(row, name), (seconds) => formatSpan(seconds * 1000)),
  };
}

/** A duration that is only known to be between two bounds. */
export function between(head: string, least: string, most: string): Column {
  return {
    head,
    isNumber: true,
    cell(row) {
      const [from, to] = [numberOf(row, least), numberOf(row, most)];
      if (from === null) return null;
      return formatBetween({ least_ms: from * 1000, most_ms: to === null ? null : to * 1000 });
    },
  };
}

export const PROJECT: Column = {
  head: "Project",
  isName: true,
  cell: (row) =>
    given(
      textOf(row, "project_slug"),
      (slug) => html`<a href="${projectHref(slug)}">${foreign(slug === "" ? "(empty)" : slug, 48)}</a>`,
    ),
};

export const VERSION = textIn("Version", "version_slug", 32);
export const TYPE = textIn("Type", "type", 16);

export function buildIn(head: string, name: string, isName = false): Column {
  return {
    head,
    isNumber: true,
    isName,
    cell: (row) => given(textOf(row, name), (id) => html`<a href="${buildHref(id)}">${foreign(id, 24)}</a>`),
  };
}

/** A flag in words: a symbol and a word for true and for false. */
export function eitherOf(head: string, name: string, words: { yes: string; no: string }): Column {
  return { head, cell: (row) => (row[name] === true ? words.yes : row[name] === false ? words.no : null) };
}

const OUTCOME_SYMBOLS: Record<string, string> = {
  succeeded: "✓",
  failed: "✗",
  open: "…",
  stuck: "⧖",
  vanished: "∅",
};

/** The outcome of a build, with a symbol so that it can be read without colour. */
export function outcomeWords(outcome: unknown): string {
  return `${OUTCOME_SYMBOLS[String(outcome)] ?? "?"} ${String(outcome).replace("_", " ")}`;
}

export const OUTCOME: Column = { head: "Outcome", cell: ({ outcome }) => outcomeWords(outcome) };

function given<T>(value: T | null, show: (value: T) => Markup | string): Markup | string | null {
  return value === null ? null : show(value);
}
