import { grouped } from "../../base/text.ts";
import { askFor } from "../../report/ask.ts";
import { RESOURCES } from "../../resources/resources.ts";
import { age, clockWords, DAY_MS, momentMs, when } from "../parts/age.ts";
import { block, type Row } from "../parts/block.ts";
import { html, type Markup } from "../parts/html.ts";
import { type MarkKind, mark } from "../parts/marks.ts";
import type { PageMoment } from "../parts/page-moment.ts";
import { type Column, renderListTable } from "../parts/tables.ts";

const ORDER: readonly string[] = RESOURCES;

const state = (kind: MarkKind, word: string): Markup =>
  html`<span class="state">${mark(kind, word)}<span>${word}</span></span>`;

/** How fresh each list is, a row each. */
export const lists = block({
  id: "lists",
  narrowedBy: {},
  asks: (_: PageMoment) => ({ rows: askFor("freshness") }),
  draw({ rows }, { now, freshness: { overdue, uncounted } }) {
    const number =
      (name: string): Column["cell"] =>
      (row) =>
        row[name] === null ? "–" : grouped(Number(row[name]));
    // A count that was made while the first sync went on is that of a part.
    const whole =
      (name: string): Column["cell"] =>
      (row) =>
        uncounted.includes(String(row.resource)) ? "–" : number(name)(row);
    const columns: Column[] = [
      { head: "List", isName: true, cell: ({ resource }) => `${titleOf(resource)}s` },
      { head: "State", cell: (row) => listState(row, overdue) },
      { head: "As of", isNumber: true, label: "as of", cell: (row) => age(row.current_through, now) },
      { head: "Records", isNumber: true, label: "records", cell: whole("records") },
      { head: "Gone upstream", isNumber: true, label: "gone upstream", cell: whole("deleted_records") },
      { head: "Not stored", isNumber: true, label: "not stored", cell: number("quarantined") },
      { head: "How it was read", isWide: true, cell: (row) => walkWords(row, now) },
    ];
    const sorted = rows.toSorted(
      (a, b) => ORDER.indexOf(String(a.resource)) - ORDER.indexOf(String(b.resource)),
    );
    return { title: "Lists", body: renderListTable({ caption: "Lists", columns, rows: sorted }) };
  },
});

const titleOf = (resource: unknown): string => {
  const name = String(resource);
  return name.charAt(0).toUpperCase() + name.slice(1);
};

function listState({ resource, last_good_at, is_whole, deficit }: Row, overdue: readonly string[]): Markup {
  if (last_good_at === null) return state("idle", "never read");
  if (overdue.includes(String(resource))) return state("warn", "not current");
  if (Number(deficit ?? 0) > 0)
    return state("warn", is_whole === true ? "count too high" : "records missing");
  return is_whole === true ? state("good", "current") : state("warn", "last reading not whole");
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
