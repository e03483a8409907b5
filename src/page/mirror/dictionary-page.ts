import { counted } from "../../base/text.ts";
import { askFor } from "../../report/ask.ts";
import { type BlockPage, block, drawBlocks, filesOf, part, renderHead } from "../parts/block.ts";
import type { Drawing } from "../parts/document.ts";
import { html } from "../parts/html.ts";
import { type Column, renderListTable } from "../parts/tables.ts";

const TITLE = "What each column means";
const COLUMNS: readonly Column[] = [
  { head: "Column", isName: true, cell: ({ column_name }) => html`<code>${column_name}</code>` },
  { head: "Type", cell: ({ data_type }) => String(data_type) },
  { head: "Meaning", isWide: true, cell: ({ description }) => String(description ?? "") },
];

const dictionary = block({
  id: "dictionary",
  narrowedBy: {},
  asks: (_: null) => ({ rows: askFor("data_dictionary") }),
  draw({ rows: columns }) {
    const relations = [...new Set(columns.map(({ relation }) => String(relation)))];
    return {
      title: "Relations",
      count: `${counted(relations.length, "relation")}, ${counted(columns.length, "column")}`,
      body: html`${relations.map((name) => {
        const rows = columns.filter(({ relation }) => relation === name);
        return html`<details class="fold" id="of-${name}"><summary><code>${name}</code>
      ${" "}<small class="quiet">${String(rows[0]?.relation_comment ?? "")}</small></summary>
${renderListTable({ caption: `Columns of ${name}`, columns: COLUMNS, rows })}</details>
`;
      })}`,
    };
  },
});

const head = part({
  asks: (_: null) => ({}),
  draw: () => renderHead(TITLE, "The answers of this mirror: views that SQL, files and these pages read."),
});

const DICTIONARY: BlockPage<null> = { name: "dictionary", layout: [dictionary], kept: () => ({}) };

/** Every relation of schema `report` with its columns, as its comments say. */
export const dictionaryPage = (): Drawing => ({
  key: ["dictionary"],
  needs: [],
  files: filesOf(DICTIONARY, () => null),
  async draw(tx) {
    const { verdict, draw } = await drawBlocks(tx, DICTIONARY, head, null);
    return {
      title: TITLE,
      main: html`${verdict}
${await draw(undefined)}`,
      tab: "/mirror",
    };
  },
});
