/** The facts for and against the mirror: the freshness of its lists, and all that is broken, missing or strange. */
import { allOf, counted, grouped } from "../../base/text.ts";
import { askFor, onPage } from "../../report/ask.ts";
import { RESOURCES } from "../../resources/resources.ts";
import { type Asks, countIn, question, sumIn } from "../parts/answers.ts";
import { block, type Empty } from "../parts/block.ts";
import { askForLists, type FreshList, type PageMoment } from "../parts/freshness.ts";
import { foreign, html, type Markup } from "../parts/html.ts";
import { age, type MarkKind, mark, when } from "../parts/marks.ts";
import { numberColumn, renderListTable, renderRows, renderState } from "../parts/tables.ts";
import { listName } from "./never-synced.ts";
import { askForCounts, mirrorQuestion, wordsOf } from "./runs.ts";

const MOST_ROWS = 8;

interface ShortList<R> {
  readonly title: string;
  readonly total: number;
  readonly note: string;
  readonly empty: Empty;
  readonly rows: readonly R[];
  /** The row in words, when it was seen last, and why it is there. */
  say(row: R): readonly [words: Markup, at: string | null, why: Markup | string];
  readonly now: Date;
}

const shortList = <R>({ title, total, note, empty, rows, say, now }: ShortList<R>) => ({
  title,
  count: grouped(total),
  ...(rows.length > 0 && { note }),
  empty: rows.length === 0 && empty,
  body: renderRows(
    rows.slice(0, MOST_ROWS).map((row) => {
      const [name, at, small] = say(row);
      return { name, age: age(at, now), small };
    }),
    rows.length > MOST_ROWS && `${counted(rows.length - MOST_ROWS, "more row")}, which the files have.`,
  ),
});

const STATUS: Readonly<Record<string, string>> = {
  gone: "asked for one by one; the service says there is none",
  pending: "not asked for yet, or the service did not answer",
  foreign: "they lead outside the API of the service",
  malformed: "they name no record of this kind",
};

/** References of a field to records that are not here. */
export interface ReferencesRow {
  readonly resource: string;
  readonly field: string;
  /** Null where they name no kind of record. */
  readonly target_resource: string | null;
  readonly broken: number;
  readonly targets: number;
  readonly status: string;
  readonly last_checked_at: string | null;
}

export const askForReferences = (): Asks<ReferencesRow> => askFor("broken_references");

/** References to records that the mirror does not have, by field. */
export const references = block({
  id: "references",
  asks: (_: PageMoment) => ({ rows: askForReferences() }),
  draw: ({ rows }, { now }) =>
    shortList({
      title: "Broken references",
      total: sumIn(rows, "broken"),
      note: "A record points to another that the mirror does not have.",
      empty: ["none", "None.", "Every record that another points to is in the mirror."],
      rows,
      say({ resource, field, target_resource, broken, targets, status, last_checked_at }) {
        const [one, many] = target_resource === null ? ["address", "addresses"] : [target_resource];
        return [
          html`<code>${foreign(field, 40)}</code> of ${counted(broken, resource)}:
        ${counted(targets, one ?? "", many)} that ${targets === 1 ? "is" : "are"} not here`,
          last_checked_at,
          wordsOf(STATUS, status),
        ];
      },
      now,
    }),
});

const REASONS: Readonly<Record<string, string>> = {
  not_sent: "the service fails to show this place of its list",
  no_id: "it has no id that can be stored",
  unreadable: "what came is no such record",
  refused: "the database refused it",
  other: "for another reason",
};

interface QuarantineRow {
  readonly resource: string;
  readonly records: number;
  readonly newest_at: string | null;
  readonly reason_kind: string;
}

export const askForQuarantine = (): Asks<QuarantineRow> => askFor("quarantine");

/** Records that came and could not be stored. */
export const quarantine = block({
  id: "quarantine",
  asks: (moment: PageMoment) => ({ rows: askForQuarantine(), counts: askForCounts(moment) }),
  draw: ({ rows, counts: [counts] }, { now }) =>
    shortList({
      title: "Could not be stored",
      total: sumIn(rows, "records"),
      note: "docmirror quarantine shows each, and tries it again.",
      empty: [
        "none",
        "None.",
        `Every record that came in ${counted(countIn(counts, "runs"), "run")} is in the mirror.`,
      ],
      rows,
      say: ({ resource, records, newest_at, reason_kind }) => [
        html`${counted(records, resource)}`,
        newest_at,
        wordsOf(REASONS, reason_kind),
      ],
      now,
    }),
});

const CHANGES: Readonly<Record<string, string>> = {
  appeared: "is new",
  vanished: "is missing",
  type_changed: "has another type",
  unsteady: "differs from reply to reply, so each reading takes it for a change",
};

interface ChangeRow {
  readonly resource: string;
  /** Empty for the list itself. */
  readonly field: string;
  readonly kind: string;
  readonly observed_at: string | null;
  readonly detail: string | null;
}

/** The differences of the service from the interface that docmirror knows. */
export const drift = block({
  id: "drift",
  asks: (_: PageMoment): { rows: Asks<ChangeRow> } => ({
    rows: askFor("schema_changes", {}, [], onPage`\nlimit 50`),
  }),
  draw: ({ rows }, { now }) =>
    shortList({
      title: "Changes of the interface",
      total: rows.length,
      note: "What came is kept beside the known fields.",
      empty: ["none", "None.", "Records have the fields that the service documents."],
      rows,
      say: ({ resource, field, kind, observed_at, detail }) => [
        html`${field === "" ? "The list" : html`<code>${foreign(field, 60)}</code>`} of
        ${foreign(`${resource}s`, 40)} ${wordsOf(CHANGES, kind)}`,
        observed_at,
        kind === "unsteady"
          ? html`<code>DOCMIRROR_IGNORED_FIELDS=${foreign(`${resource}.${field}`, 100)}</code> leaves it out of comparison and history`
          : foreign(detail ?? "", 120),
      ],
      now,
    }),
});

interface WalkRow {
  readonly run_id: number;
  readonly resource: string;
  readonly walk: string;
  readonly reason: string | null;
  readonly started_at: string | null;
}

const BAD_WALKS = mirrorQuestion<WalkRow>("bad_walks");

/** Readings of lists that did not come to a good end, and why. */
export const walks = block({
  id: "walks",
  asks: (moment: PageMoment) => ({
    rows: BAD_WALKS(moment),
    counts: askForCounts(moment),
  }),
  draw({ rows, counts: [counts] }, { now }) {
    const all = countIn(counts, "walks");
    return shortList({
      title: "Readings that were not whole",
      total: countIn(counts, "not_good"),
      note: `Of ${counted(all, "reading")} of lists in 7 days. The next sync reads such a list again.`,
      empty:
        all === 0
          ? ["unknown", "Not known.", "No list was read in 7 days."]
          : ["none", "None.", `${allOf(all, "reading")} of lists in 7 days came to a good end.`],
      rows,
      say({ run_id, resource, walk, reason, started_at }) {
        const how = walk === "head" ? "its counts did not agree" : walk.replaceAll("_", " ");
        return [
          html`${foreign(`${resource}s`, 40)}, run ${run_id}`,
          started_at,
          reason === null ? how : foreign(reason, 240),
        ];
      },
      now,
    });
  },
});

/** Projects that no list shows, but that other records refer to. */
const HIDDEN_PROJECTS = question<{ readonly projects: number }>("hidden_projects", import.meta.url);

/** The freshness of each list, a row each. */
export const lists = block({
  id: "lists",
  asks: (_: PageMoment) => ({ rows: askForLists(), hidden: HIDDEN_PROJECTS() }),
  draw({ rows, hidden: [hidden] }, { now, isFile, freshness: { overdue, uncounted } }) {
    const hiddenProjects = countIn(hidden, "projects");
    // A count that was made while the first sync went on is that of a part.
    const counted = (head: string, column: "records" | "deleted_records") =>
      numberColumn<FreshList>(head, (list) => (uncounted.includes(list.resource) ? null : list[column]));
    return {
      title: "Lists",
      body: renderListTable<FreshList>({
        caption: "Lists",
        columns: [
          { head: "List", isName: true, cell: ({ resource }) => listName(resource) },
          {
            head: "State",
            cell(list) {
              const [kind, word] = listState(list, overdue);
              return isFile && kind === "good"
                ? renderState(mark("flat", "was current"), "was current")
                : renderState(mark(kind, word), word);
            },
          },
          numberColumn("As of", (list) => age(list.current_through, now)),
          counted("Records", "records"),
          counted("Gone upstream", "deleted_records"),
          numberColumn("Not stored", ({ quarantined }) => quarantined),
          {
            head: "How it was read",
            place: "wide",
            cell: (list) => walkWords(list, now, list.resource === "project" ? hiddenProjects : 0),
          },
        ],
        rows: rows.toSorted((a, b) => RESOURCES.indexOf(a.resource) - RESOURCES.indexOf(b.resource)),
      }),
    };
  },
});

function listState(list: FreshList, overdue: readonly string[]): [MarkKind, string] {
  const deficit = list.deficit ?? 0;
  const held = list.held_records ?? 0;
  if (list.last_good_at === null) return ["idle", "never read"];
  if (overdue.includes(list.resource)) return ["warn", "not current"];
  if (held > 0) return ["warn", `${grouped(held)} held back`];
  if (deficit > 0) return ["warn", list.is_whole ? "count too high" : "records missing"];
  if (deficit < 0 && list.is_whole) return ["warn", "count too low"];
  return list.is_whole ? ["good", "current"] : ["warn", "last reading not whole"];
}

function walkWords(
  { last_walk, last_good_at, read_since, records }: FreshList,
  now: Date,
  hidden: number,
): string {
  if (last_good_at === null) return "not yet";
  const at = when(last_good_at, now);
  const shown = hidden === 0 ? "" : `; the list shows ${grouped((records ?? 0) - hidden)} of them`;
  if (last_walk === "whole") return `from end to end, ${at}${shown}`;
  return `the new ones, ${at}; ${read_since === null ? "never all" : `all since ${when(read_since, now)}`}`;
}
