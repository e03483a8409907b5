import { expect } from "vitest";
import { toCsv } from "../../src/report/csv.ts";
import { type AnswerCell, withSnapshot } from "../../src/report/read-answer.ts";
import { becomeReader, readStatement } from "../../src/report/read-statement.ts";
import type { MirrorPages } from "./mirror-pages.ts";
import { textOf } from "./page-text.ts";

export type BlockRow = Readonly<Record<string, AnswerCell>>;

/** How long ago something was grows between two questions. */
const still = (text: string) => text.replace(/("(?:replica_)?lag_s":)[\d.]+/g, "$1");

/**
 * The rows of each block of a page, by its id, after its three offers have been compared: its CSV and its JSON must have the rows of its SQL,
 * which runs as it is shown, with the rights of a reader. `only` is the one block that is asked for.
 */
export async function offeredRows(
  pages: MirrorPages,
  page: string,
  only?: string,
): Promise<Record<string, BlockRow[]>> {
  const sections = page.split('<section class="block" id="').slice(1);
  const blocks = sections.filter(
    (section) =>
      section.includes('<div class="tools">') && (only === undefined || section.startsWith(`${only}"`)),
  );
  expect(blocks).not.toEqual([]);
  const role = await pages.reader();
  const found: Record<string, BlockRow[]> = {};
  for (const block of blocks) {
    const id = block.split('"')[0] ?? "";
    const hrefs = [...block.matchAll(/href="(\/files\/[^"]*)"/g)].map(([, href = ""]) => textOf(href));
    const files = hrefs.map((href) => href.replace(/\?.*/s, "").split("/").at(-1));
    expect(files).toEqual([`${id}.csv`, `${id}.json`]);
    const [shown = ""] = /<pre tabindex="0" role="region" aria-label="SQL of .*?<\/pre>/s.exec(block) ?? [];
    const { columns, rows } = await runAsReader(pages, role, textOf(shown));
    const named = (row: readonly AnswerCell[]) => columns.map((name, place) => [name, row[place] ?? null]);
    const objects = rows.map((row) => Object.fromEntries(named(row)) as BlockRow);
    const [csv = "", json = ""] = await Promise.all(hrefs.map((href) => bodyOf(pages, href)));
    expect(still(JSON.stringify(JSON.parse(json))), `${id}.json`).toBe(still(JSON.stringify(objects)));
    if (!columns.includes("lag_s")) expect(csv, `${id}.csv`).toBe(toCsv([columns, ...rows]));
    found[id] = objects;
  }
  return found;
}

async function bodyOf(pages: MirrorPages, path: string): Promise<string> {
  const reply = await pages.get(path);
  const body = await reply.text();
  expect([path, reply.status, reply.status === 200 ? "" : body]).toEqual([path, 200, ""]);
  return body;
}

async function runAsReader(pages: MirrorPages, role: string, query: string) {
  const rows: (readonly AnswerCell[])[] = [];
  let columns: readonly string[] = [];
  // The end of a statement is for psql; a cursor takes none.
  const text = query.replace(/;\s*$/, "");
  await withSnapshot(pages.sql, async (tx) => {
    await becomeReader(tx, { role, timeoutMs: 60_000 });
    for await (const batch of readStatement(tx, text)) {
      columns = batch.columns;
      rows.push(...batch.rows);
    }
  });
  return { columns, rows };
}
