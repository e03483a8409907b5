import { allOf, counted, grouped } from "../../base/text.ts";
import { ask, askFor, inline, onPage, pick, relation } from "../../report/ask.ts";
import { RESOURCES } from "../../resources/resources.ts";
import { type Row, sumIn } from "../parts/answers.ts";
import { block, type Empty } from "../parts/block.ts";
import type { PageMoment } from "../parts/freshness.ts";
import { foreign, html, type Markup } from "../parts/html.ts";
import { age, clockWords, DAY_MS, type MarkKind, mark, momentMs, when } from "../parts/marks.ts";
import { type Column, renderListTable } from "../parts/tables.ts";
import { listName } from "./never-synced.ts";
import { askForCounts, isOfWeek, wordsOf } from "./runs.ts";

const walk = relation("walks", "walk");
const MOST_ROWS = 8;

interface ShortList {
  readonly title: string;
  readonly total: number;
  readonly note: string;
  readonly empty: Empty;
  readonly what: (row: Row) => Markup;
  readonly when: string;
  readonly why: (row: Row) => Markup | string;
}

function shortList(
  rows: readonly Row[],
  now: Date,
  { total, note, empty, what, when, why, title }: ShortList,
) {
  const items = rows
    .slice(0, MOST_ROWS)
    .map((row) => html`<li><span>${what(row)}</span>${age(row[when], now)}<small>${why(row)}</small></li>`);
  const left = rows.length - MOST_ROWS;
  return {
    title,
    count: grouped(total),
    ...(rows.length > 0 && { note }),
    empty: rows.length === 0 && empty,
    body: html`<ul class="rows">${items}</ul>
          ${left > 0 ? html`<p class="more">${counted(left, "more row")}, which the files have.</p>` : ""}`,
  };
}

const STATUS: Readonly<Record<string, string>> = {
  gone: "asked for one by one; the service says there is none",
  pending: "not asked for yet, or the service did not answer",
  foreign: "they lead outside the API of the service",
  malformed: "they name no record of this kind",
};

/** References to records that the mirror does not have, by field. */
export const references = block({
  id: "references",
  narrowedBy: {},
  asks: (_: PageMoment) => ({ rows: askFor("broken_references") }),
  draw: ({ rows }, { now }) =>
    shortList(rows, now, {
      title: "Broken references",
      total: sumIn(rows, "broken"),
      note: "A record points to another that the mirror does not have.",
      empty: ["none", "None.", "Every record that another points to is in the mirror."],
      what: ({ resource, field, target_resource, broken, targets }) => {
        const [one, many] = target_resource === null ? ["address", "addresses"] : [String(target_resource)];
        return html`<code>${foreign(String(field), 40)}</code> of ${counted(Number(broken), String(resource))}:
        ${counted(Number(targets), String(one), many)} that ${Number(targets) === 1 ? "is" : "are"} not here`;
      },
      when: "last_checked_at",
      why: ({ status }) => wordsOf(STATUS, status),
    }),
});

const REASONS: Readonly<Record<string, string>> = {
  not_sent: "the service fails to show this place of its list",
  no_id: "it has no id that can be stored",
  unreadable: "what came is no such record",
  refused: "the database refused it",
  other: "for another reason",
};

/** Records that came and could not be stored. */
export const quarantine = block({
  id: "quarantine",
  narrowedBy: {},
  asks: (moment: PageMoment) => ({ rows: askFor("quarantine"), counts: askForCounts(moment) }),
  draw: ({ rows, counts }, { now }) =>
    shortList(rows, now, {
      title: "Could not be stored",
      total: sumIn(rows, "records"),
      note: "docmirror quarantine shows each, and tries it again.",
      empty: [
        "none",
        "None.",
        `Every record that came in ${counted(Number(counts[0]?.runs ?? 0), "run")} is in the mirror.`,
      ],
      what: ({ resource, records }) => html`${counted(Number(records), String(resource))}`,
      when: "newest_at",
      why: ({ reason_kind }) => wordsOf(REASONS, reason_kind),
    }),
});

const CHANGES: Readonly<Record<string, string>> = {
  appeared: "is new",
  vanished: "is missing",
  type_changed: "has another type",
};

/** How the service differs from the interface that docmirror knows. */
export const drift = block({
  id: "drift",
  narrowedBy: {},
  asks: (_: PageMoment) => ({ rows: askFor("schema_changes", {}, [], onPage`\nlimit 50`) }),
  draw: ({ rows }, { now }) =>
    shortList(rows, now, {
      title: "Changes of the interface",
      total: rows.length,
      note: "What came is kept beside the known fields.",
      empty: ["none", "None.", "Records have the fields that the service documents."],
      what: ({ resource, field, kind }) =>
        html`${field === "" ? "The list" : html`<code>${foreign(String(field), 60)}</code>`} of
        ${foreign(`${String(resource)}s`, 40)} ${wordsOf(CHANGES, kind)}`,
      when: "observed_at",
      why: ({ detail }) => (detail === null ? "" : foreign(String(detail), 120)),
    }),
});

/** Readings of lists that did not come to a good end, and why. */
export const walks = block({
  id: "walks",
  narrowedBy: {},
  asks: (moment: PageMoment) => ({
    rows: ask("walks")`
select ${pick(walk, "run_id", "resource", "walk", "reason", "started_at")}
from ${walk}
where ${walk.walk} is not null and not ${walk.is_good} and ${isOfWeek(moment)}
order by ${walk.run_id} desc, ${walk.resource}${onPage`\nlimit ${inline(MOST_ROWS)}`}`,
    counts: askForCounts(moment),
  }),
  draw({ rows, counts }, { now }) {
    const all = Number(counts[0]?.walks ?? 0);
    return shortList(rows, now, {
      title: "Readings that were not whole",
      total: Number(counts[0]?.not_good ?? 0),
      note: `Of ${counted(all, "reading")} of lists in 7 days. The next sync reads such a list again.`,
      empty:
        all === 0
          ? ["unknown", "Not known.", "No list was read in 7 days."]
          : ["none", "None.", `${allOf(all, "reading")} of lists in 7 days came to a good end.`],
      what: ({ resource, run_id }) => html`${foreign(`${String(resource)}s`, 40)}, run ${String(run_id)}`,
      when: "started_at",
      why: ({ walk, reason }) =>
        reason === null
          ? walk === "head"
            ? "its counts did not agree"
            : String(walk).replaceAll("_", " ")
          : foreign(String(reason), 240),
    });
  },
});

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
