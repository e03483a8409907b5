import { counted, grouped } from "../../base/text.ts";
import { RESOURCES } from "../../resources/resources.ts";
import { age, clockWords, momentMs, momentTag, when } from "../parts/age.ts";
import { renderBlock } from "../parts/block.ts";
import { renderEmpty } from "../parts/empty.ts";
import { html } from "../parts/html.ts";
import { type Column, renderListTable } from "../parts/list-table.ts";
import { type MarkKind, mark } from "../parts/mark.ts";
import type { Offer } from "../parts/offers.ts";
import type { Freshness } from "../parts/page-moment.ts";
import type { Row } from "../parts/row.ts";
import { foreign, type Markup } from "../parts/words.ts";
import { MOST_GROUPS } from "./mirror-questions.ts";

const ORDER: readonly string[] = RESOURCES;

const state = (kind: MarkKind, word: string): Markup =>
  html`<span class="state">${mark(kind, word)}<span>${word}</span></span>`;

/** How fresh each list is, a row each. */
export function renderLists(
  rows: readonly Row[],
  tools: Offer,
  { overdue, uncounted }: Freshness,
  now: Date,
): Markup {
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
  return renderBlock({
    id: "lists",
    title: "Lists",
    tools,
    body: renderListTable({ caption: "Lists", columns, rows: sorted }),
  });
}

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
    return Math.abs(now.getTime() - ms) < 86_400_000 ? clockWords(ms) : when(ms, now);
  };
  if (last_walk === "whole") return `from end to end, ${at(last_good_at)}`;
  return `the new ones, ${at(last_good_at)}; ${read_since === null ? "never all" : `all since ${at(read_since)}`}`;
}

const KINDS: Readonly<Record<string, string>> = {
  full: "Sync, all lists from end to end",
  incremental: "Sync, of the builds only the new ones",
  quarantine: "Quarantine, tried again",
};
const STATES: Readonly<Record<string, MarkKind>> = {
  succeeded: "good",
  running: "run",
  partial: "warn",
  failed: "bad",
  interrupted: "bad",
};

/** The last runs with what they did; rounds of the watch that followed each other are one row. */
export function renderRuns(groups: readonly Row[], total: number, tools: Offer, now: Date): Markup {
  const number =
    (name: string): Column["cell"] =>
    (row) =>
      grouped(Number(row[name] ?? 0));
  const columns: Column[] = [
    { head: "Run", isName: true, cell: runWords },
    { head: "End", cell: endWords },
    { head: "Began", isNumber: true, label: "began", cell: (row) => momentTag(row.started_at, now) },
    { head: "Requests", isNumber: true, label: "requests", cell: number("requests") },
    { head: "New", isNumber: true, label: "new", cell: number("inserted") },
    { head: "Changed", isNumber: true, label: "changed", cell: number("updated") },
    { head: "Gone", isNumber: true, label: "gone", cell: number("deleted") },
  ];
  const body =
    groups.length === 0
      ? renderEmpty({ kind: "unknown", strong: "No run has begun.", say: "docmirror sync begins one." })
      : renderListTable({ caption: "Runs", columns, rows: groups.slice(0, MOST_GROUPS) });
  return renderBlock({ id: "runs", title: "Runs", count: grouped(total), tools, body });
}

function runWords({ kind, runs, first_run_id, last_run_id }: Row): Markup {
  const name = String(kind);
  const words =
    name === "watch"
      ? `Watch, ${counted(Number(runs), "round")}`
      : ((Object.hasOwn(KINDS, name) ? KINDS[name] : undefined) ?? name);
  const numbers = first_run_id === last_run_id ? String(last_run_id) : `${first_run_id} to ${last_run_id}`;
  return html`${words}<small>${numbers}</small>`;
}

function endWords({ status, error, troubled, runs }: Row): Markup {
  const word = String(status);
  const kind = (Object.hasOwn(STATES, word) ? STATES[word] : undefined) ?? "idle";
  const some = Number(troubled) > 0 && Number(runs) > 1 ? `, ${grouped(Number(troubled))} not` : "";
  return html`<span class="state">${mark(kind, word)}
    <span>${word}${some}${error === null ? "" : html` <small>${foreign(String(error), 200)}</small>`}</span></span>`;
}
