import { expect } from "vitest";

export const textOf = (html: string): string =>
  html
    .replace(/<[^>]*>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&")
    .replaceAll("\u00a0", " ");

/** What stands between a block's heading and the next block. */
export const blockOf = (page: string, id: string): string =>
  page.split(`<section class="block" id="${id}"`)[1]?.split("</section>")[0] ?? "";

/** The cells of a block's table, row by row, as a reader sees them. */
export function rowsOf(page: string, id: string): string[][] {
  const body = blockOf(page, id).split("<tbody")[1]?.split("</tbody>")[0] ?? "";
  return [...body.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].map(([, row = ""]) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = ""]) => textOf(cell)),
  );
}

/** The main part of a page, as a reader sees it. */
export const mainOf = (page: string): string =>
  textOf(page.split("<main")[1]?.split("</main>")[0] ?? "").replace(/^[^>]*>/, "");

/** No markup, attribute or control character that names brought in; no style and no script of our own either. */
export function expectHarmless(page: string, name: string): void {
  expect(page, name).not.toMatch(/<script|<img|<b>html|\u202e/i);
  expect(page, name).not.toContain("\u001b");
  const tags = page.match(/<[a-z][^>]*>/gi) ?? [];
  const names = tags.flatMap((tag) =>
    [...tag.replace(/"[^"]*"/g, "").matchAll(/\s([a-z-]+)=/g)].map(([, at]) => at),
  );
  expect(
    [...new Set(names)].filter((at) => at === "style" || at?.startsWith("on")),
    name,
  ).toEqual([]);
}

export const headingOf = (page: string): string => textOf(/<h1[^>]*>(.*?)<\/h1>/s.exec(page)?.[1] ?? "");
export const saysOf = (page: string): string => textOf(/<p class="say">(.*?)<\/p>/s.exec(page)?.[1] ?? "");
