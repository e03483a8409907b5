import { html } from "hono/html";
import type { FilterName, Filters } from "../report/question.ts";
import { withQuery } from "./links.ts";
import { type Markup, shorten } from "./words.ts";

/** The days that a page shows by default. */
const DEFAULT_DAYS = 90;
const DAY_MS = 86_400_000;

/** The filters of a page, read from its query. */
export type PageFilters = Pick<Filters, "since" | "until" | "version" | "type">;

/**
 * Reads the query of a page. Without `since` it is the 90 days up to `until`, which is today by default. An
 * empty `since` means all days: the form sends it when its field is cleared. Other parameters are ignored.
 * Nothing is checked here.
 */
export function readPageFilters(query: URLSearchParams, today: string): PageFilters {
  const given = (name: keyof PageFilters) => query.get(name)?.trim() || undefined;
  const until = given("until");
  const day = until?.slice(0, 10) ?? today;
  const last = Date.parse(day) < Date.parse(today) ? day : today;
  return {
    since: query.has("since") ? given("since") : daysBefore(last, DEFAULT_DAYS - 1),
    until,
    version: given("version"),
    type: given("type"),
  };
}

/** The filters that apply to a block. It leaves the others out and says so. */
export function applicable(filters: PageFilters, names: readonly FilterName[]): PageFilters {
  const entries = Object.entries(filters).filter(([name]) => names.includes(name as FilterName));
  return Object.fromEntries(entries);
}

/** The range of a block's rows, in words. */
export function scopeWords(filters: PageFilters, names: readonly FilterName[]): string {
  const { since, until, version, type } = filters;
  const words: string[] = [];
  if (names.includes("since")) {
    const upTo = until === undefined ? "today" : until;
    words.push(since === undefined ? `All days up to ${upTo}` : `${since} to ${upTo}`);
  }
  for (const [name, value] of [
    ["version", version],
    ["type", type],
  ] as const) {
    if (value !== undefined) words.push(names.includes(name) ? `${name} ${shorten(value)}` : `all ${name}s`);
  }
  const joined = words.join(", ");
  return joined.charAt(0).toUpperCase() + joined.slice(1);
}

export interface FilterFormFacts {
  /** The path of the page. */
  readonly path: string;
  /** Parameters of the query that are not filters, such as a slug that no path can hold. */
  readonly kept: Readonly<Record<string, string>>;
  readonly filters: PageFilters;
  readonly types: readonly string[];
  /** Undefined on a page that is not about a single project. */
  readonly versions?: readonly string[];
  readonly today: string;
}

const SPANS = [
  [30, "30 days"],
  [90, "90 days"],
  [365, "a year"],
] as const;

/** The filters as a plain form, with links for the most common spans of time. */
export function renderFilterForm({ path, kept, filters, types, versions, today }: FilterFormFacts): Markup {
  const href = (since: string) => withQuery(path, { ...kept, ...filters, since, until: undefined });
  const links = [
    ...SPANS.map(([days, label]) => ({ since: daysBefore(today, days - 1), label })),
    { since: "", label: "all" },
  ];
  return html`<form class="filters" action="${path}" method="get" aria-label="Filters">
${Object.entries(kept).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<p><label for="since">Since</label> <input id="since" name="since" type="${fieldType(filters.since)}" value="${filters.since ?? ""}"></p>
<p><label for="until">Until</label> <input id="until" name="until" type="${fieldType(filters.until)}" value="${filters.until ?? ""}"></p>
${versions ? renderChoice("version", "Version", versions, filters.version) : ""}
${renderChoice("type", "Type", types, filters.type)}
<p><button>Apply</button></p>
<p class="spans">${links.map(({ since, label }) =>
    since === (filters.since ?? "") && filters.until === undefined
      ? html`<span aria-current="true">${label}</span> `
      : html`<a href="${href(since)}">${label}</a> `,
  )}</p>
</form>`;
}

function renderChoice(
  name: string,
  label: string,
  values: readonly string[],
  chosen: string | undefined,
): Markup {
  const all = chosen === undefined || values.includes(chosen) ? values : [chosen, ...values];
  const options = all.map(
    (value) =>
      html`<option value="${value}"${value === chosen ? html` selected` : ""}>${shorten(value, 60)}</option>`,
  );
  return html`<p><label for="${name}">${label}</label> <select id="${name}" name="${name}"><option value="">all</option>${options}</select></p>`;
}

/** A moment does not fit into a date field. */
function fieldType(value: string | undefined): string {
  return value === undefined || /^\d{4}-\d\d-\d\d$/.test(value) ? "date" : "text";
}

function daysBefore(day: string, days: number): string {
  return new Date(Date.parse(day) - days * DAY_MS).toISOString().slice(0, 10);
}
