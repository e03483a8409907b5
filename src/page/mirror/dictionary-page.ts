import { counted } from "../../base/text.ts";
import { askFor } from "../../report/ask.ts";
import { type Asks, groupBy } from "../parts/answers.ts";
import { type BlockPage, block, drawBlocks, filesOf, part, renderHead } from "../parts/block.ts";
import type { Drawing } from "../parts/document.ts";
import { html } from "../parts/html.ts";
import { type Column, renderListTable } from "../parts/tables.ts";

/** A row of `report.data_dictionary`. */
interface ColumnRow {
  readonly relation: string;
  readonly relation_comment: string | null;
  readonly column_name: string;
  readonly data_type: string;
  readonly description: string | null;
}

const TITLE = "What each column means";
const COLUMNS: readonly Column<ColumnRow>[] = [
  { head: "Column", isName: true, cell: ({ column_name }) => html`<code>${column_name}</code>` },
  { head: "Type", cell: ({ data_type }) => data_type },
  { head: "Meaning", place: "wide", cell: ({ description }) => description },
];

const dictionary = block({
  id: "dictionary",
  asks: (_: null): { rows: Asks<ColumnRow> } => ({ rows: askFor("data_dictionary") }),
  draw({ rows }) {
    const relations = [...groupBy(rows, ({ relation }) => relation)];
    return {
      title: "Relations",
      count: `${counted(relations.length, "relation")}, ${counted(rows.length, "column")}`,
      body: html`${relations.map(
        ([name, columns]) => html`<details class="fold" id="of-${name}"><summary><code>${name}</code>
      ${" "}<small class="quiet">${columns[0].relation_comment}</small></summary>
${renderListTable({ caption: `Columns of ${name}`, columns: COLUMNS, rows: columns })}</details>
`,
      )}`,
    };
  },
});

const WORDS = {
  Project:
    "One set of documentation of the service. It fails while the last finished build of any of its versions and formats failed.",
  "Main docs": "The html of the project’s default version: what its readers see first.",
  Stuck:
    "A build that was open for longer than DOCMIRROR_STUCK_AFTER when it was last seen. It counts as neither a success nor a failure.",
  Usual:
    "At least what nine of ten of the days before reached, and at most what one of ten reached. It needs seven days that are known.",
  Broke:
    "Began to fail. Trends counts only what had worked before; Now and notices also what failed from its first known build on.",
};

/** The words that every page uses. */
const words = block({
  id: "words",
  narrowedBy: null,
  draw: () => ({
    title: "Words of these pages",
    body: html`<dl class="rules">${Object.entries(WORDS).map(
      ([word, meaning]) => html`<div><dt>${word}</dt><dd>${meaning}</dd></div>
`,
    )}</dl>`,
  }),
});

const head = part({
  draw: () => renderHead(TITLE, "The answers of this mirror: views that SQL, files and these pages read."),
});

const DICTIONARY: BlockPage<null> = {
  name: "dictionary",
  layout: [words, dictionary],
  narrowedBy: {},
  kept: () => ({}),
};

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
