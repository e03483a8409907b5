import { counted } from "../../base/text.ts";
import { askFor } from "../../report/ask.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { askEach } from "../parts/ask-all.ts";
import { renderBlock, renderHead } from "../parts/block.ts";
import type { Address, Draft, Drawing } from "../parts/drawing.ts";
import { html } from "../parts/html.ts";
import { type Column, renderListTable } from "../parts/list-table.ts";
import { offerFiles } from "../parts/offers.ts";

const TITLE = "What each column means";
const COLUMNS: readonly Column[] = [
  { head: "Column", isName: true, cell: ({ column_name }) => html`<code>${column_name}</code>` },
  { head: "Type", cell: ({ data_type }) => String(data_type) },
  { head: "Meaning", isWide: true, cell: ({ description }) => String(description ?? "") },
];

const BLOCKS = { dictionary: askFor("data_dictionary") };
const FILES = { dictionary: {} };

/** Every relation of schema `report` with its columns, as its comments say. */
export function dictionaryPage(_address: Address): Drawing {
  return { key: ["dictionary"], needs: [], draw, files: { parameters: FILES, ask: async () => BLOCKS } };
}

async function draw(tx: TransactionSql): Promise<Draft> {
  const { columns } = await askEach(tx, { columns: BLOCKS.dictionary });
  const relations = [...new Set(columns.map(({ relation }) => String(relation)))];
  const main = html`${renderHead(TITLE, "The answers of this mirror: views that SQL, files and these pages read.")}
${renderBlock({
  id: "dictionary",
  title: "Relations",
  count: `${counted(relations.length, "relation")}, ${counted(columns.length, "column")}`,
  tools: offerFiles("dictionary", {}, BLOCKS, FILES).dictionary,
  body: html`${relations.map((name) => {
    const rows = columns.filter(({ relation }) => relation === name);
    return html`<details class="fold" id="of-${name}"><summary><code>${name}</code>
      ${" "}<small class="quiet">${String(rows[0]?.relation_comment ?? "")}</small></summary>
${renderListTable({ caption: `Columns of ${name}`, columns: COLUMNS, rows })}</details>
`;
  })}`,
})}`;
  return { status: 200, facts: { title: TITLE, tab: "/mirror", main } };
}
