import { expect } from "vitest";
import type { MirrorPages } from "./mirror-pages.ts";
import { textOf } from "./page-text.ts";

/** The SQL under each block of a page, as a reader would copy it. */
const queriesOf = (page: string): string[] =>
  [...page.matchAll(/<pre tabindex="0" role="region" aria-label="SQL of [^>]*>(.*?)<\/pre>/gs)].map(
    ([, query = ""]) => textOf(query),
  );

/** The addresses of the files that the blocks of a page offer. */
export const filesOf = (page: string): string[] =>
  [...page.matchAll(/href="(\/report\/[^"]*\.(?:csv|json)[^"]*)"/g)].map(([, file = ""]) => textOf(file));

/** Runs the SQL under each block as it is shown. It must read schema `report` alone. Returns how many rows each gives. */
export async function runQueries(pages: MirrorPages, page: string): Promise<number[]> {
  const queries = queriesOf(page);
  for (const query of queries) expect(query).not.toMatch(/rollup\.|mirror\.|sync\./);
  return pages.asOwner(async (sql) => {
    const counts: number[] = [];
    for (const query of queries) counts.push((await sql.unsafe(query)).count);
    return counts;
  });
}

/** Files are offered, and each of them is there. */
export async function expectFiles(pages: MirrorPages, files: readonly string[]): Promise<void> {
  expect(files).not.toEqual([]);
  for (const file of files) expect((await pages.get(file)).status, file).toBe(200);
}
