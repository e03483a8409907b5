import { counted, grouped } from "../../base/text.ts";
import { html } from "./html.ts";
import { icon } from "./icon.ts";
import { type Query, withQuery } from "./links.ts";
import type { Markup } from "./words.ts";

/** The number of the page that a query asks for, from 1. What is no such number is page 1. */
export function readPageNumber(query: URLSearchParams): number {
  const page = Number(query.get("page"));
  return Number.isSafeInteger(page) && page > 0 ? Math.min(page, 1_000_000) : 1;
}

export interface PagerFacts {
  readonly path: string;
  readonly kept: Query;
  /** The page that is shown, from 1. */
  readonly page: number;
  readonly perPage: number;
  /** All rows. */
  readonly total: number;
  /** What a row is, such as "project". */
  readonly noun: string;
}

/** How many pages a list has; an empty one has one. */
export function pageCount({ perPage, total }: Pick<PagerFacts, "perPage" | "total">): number {
  return Math.max(1, Math.ceil(total / perPage));
}

/** Which rows are shown, and links to the other pages. Nothing where all rows are shown. */
export function renderPager({ path, kept, page, perPage, total, noun }: PagerFacts): Markup | string {
  if (total <= perPage) return "";
  const last = pageCount({ perPage, total });
  const first = (page - 1) * perPage + 1;
  const href = (to: number) => withQuery(path, { ...kept, page: to === 1 ? undefined : to });
  const step = (to: number, rel: "prev" | "next", words: string) =>
    to < 1 || to > last
      ? html`<span class="off">${icon(rel)}<span class="unseen">No ${words}</span></span>`
      : html`<a href="${href(to)}" rel="${rel}">${icon(rel)}<span class="unseen">${words}</span></a>`;
  return html`<nav class="pager" aria-label="Pages of the list">
    <span class="pager-n">${grouped(first)}–${grouped(Math.min(total, page * perPage))} of
    ${counted(total, noun)}</span><span class="pager-p">${step(page - 1, "prev", "page before")}${shownPages(
      page,
      last,
    ).map((to) =>
      to === null
        ? html`<span aria-hidden="true">…</span>`
        : html`<a href="${href(to)}"${to === page ? html` aria-current="page"` : ""}><span class="unseen">Page </span>${grouped(to)}</a>`,
    )}${step(page + 1, "next", "page after")}</span></nav>`;
}

/** The first, the last, and those around the shown one; null stands for those left out. */
export function shownPages(page: number, last: number): (number | null)[] {
  const near = [1, page - 1, page, page + 1, last, ...(page <= 2 ? [2, 3] : [])];
  const numbers = [...new Set(near)].filter((one) => one >= 1 && one <= last).sort((a, b) => a - b);
  return numbers.flatMap((one, place) => {
    const before = numbers[place - 1];
    return before !== undefined && one > before + 1 ? [null, one] : [one];
  });
}
