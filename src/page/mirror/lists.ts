import { grouped } from "../../base/text.ts";
import { askFor } from "../../report/ask.ts";
import { RESOURCES } from "../../resources/resources.ts";
import type { Row } from "../parts/answers.ts";
import { block } from "../parts/block.ts";
import { html } from "../parts/html.ts";
import { age, clockWords, DAY_MS, type MarkKind, mark, momentMs, when } from "../parts/marks.ts";
import type { PageMoment } from "../parts/page-moment.ts";
import { type Column, renderListTable } from "../parts/tables.ts";
import { listName } from "./never-synced.ts";

const ORDER: readonly unknown[] = RESOURCES;

/** How fresh each list is, a row each. */
export const lists = block({
  id: "lists",
  narrowedBy: {},
  asks: (_: PageMoment) => ({ rows: askFor("freshness") }),
  draw({ rows }, { now, freshness: { overdue, uncounted } }) {
    // A count that was made while the first sync went on is that of a part.
    const number = (head: string, name: string, isPart = (_: Row) => false): Column => ({
      head,
      isNumber: true,
      label: head.toLowerCase(),
      cell: (row) => (row[name] === null || isPart(row) ? "–" : grouped(Number(row[name]))),
    });
    const isUncounted = ({ resource }: Row) => uncounted.includes(String(resource));
    const columns: Column[] = [
      { head: "List", isName: true, cell: ({ resource }) => listName(String(resource)) },
      { head: "State", cell: (row) => renderState(...listState(row, overdue)) },
      { head: "As of", isNumber: true, label: "as of", cell: (row) => age(row.current_through, now) },
      number("Records", "records", isUncounted),
      number("Gone upstream", "deleted_records", isUncounted),
      number("Not stored", "quarantined"),
      { head: "How it was read", isWide: true, cell: (row) => walkWords(row, now) },
    ];
    const sorted = rows.toSorted((a, b) => ORDER.indexOf(a.resource) - ORDER.indexOf(b.resource));
    return { title: "Lists", body: renderListTable({ caption: "Lists", columns, rows: sorted }) };
  },
});

const renderState = (kind: MarkKind, word: string) =>
  html`<span class="state">${mark(kind, word)}<span>${word}</span></span>`;

function listState(
  { resource, last_good_at, is_whole, deficit, held_records }: Row,
  overdue: readonly string[],
): [MarkKind, string] {
  if (last_good_at === null) return ["idle", "never read"];
  if (overdue.includes(String(resource))) return ["warn", "not current"];
  if (Number(held_records) > 0) return ["warn", `${grouped(Number(held_records))} held back`];
  if (Number(deficit ?? 0) > 0) return ["warn", is_whole === true ? "count too high" : "records missing"];
  if (Number(deficit ?? 0) < 0 && is_whole === true) return ["warn", "count too low"];
  return is_whole === true ? ["good", "current"] : ["warn", "last reading not whole"];
}

function walkWords({ last_walk, last_good_at, read_since }: Row, now: Date): string {
  if (last_good_at === null) return "not yet";
  const at = (text: unknown) => {
    const ms = momentMs(text);
    if (Number.isNaN(ms)) return "at an unknown time";
    return Math.abs(now.getTime() - ms) < DAY_MS ? clockWords(ms) : when(ms, now);
  };
  if (last_walk === "whole") return `from end to end, ${at(last_good_at)}`;
  return `the new ones, ${at(last_good_at)}; ${read_since === null ? "never all" : `all since ${at(read_since)}`}`;
}
