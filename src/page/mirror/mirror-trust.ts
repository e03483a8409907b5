import { counted, grouped } from "../../base/text.ts";
import { age } from "../parts/age.ts";
import { renderBlock } from "../parts/block.ts";
import { type EmptyFacts, renderEmpty } from "../parts/empty.ts";
import { html } from "../parts/html.ts";
import type { Offer } from "../parts/offers.ts";
import type { Row } from "../parts/row.ts";
import { foreign, type Markup } from "../parts/words.ts";
import { MOST_ROWS } from "./mirror-questions.ts";

/** A short list of what the mirror lacks, or that nothing is lacking. */
interface ShortList {
  readonly id: string;
  readonly title: string;
  readonly total: number;
  readonly note: string;
  readonly tools: Offer;
  readonly rows: readonly Row[];
  readonly empty: Pick<EmptyFacts, "kind" | "strong" | "say">;
  readonly what: (row: Row) => Markup;
  readonly when: string;
  readonly why: (row: Row) => Markup | string;
  readonly now: Date;
}

function renderShortList(facts: ShortList): Markup {
  const { id, title, total, note, tools, rows, empty, what, when, why, now } = facts;
  const left = rows.length - MOST_ROWS;
  return renderBlock({
    id,
    title,
    count: grouped(total),
    tools,
    ...(rows.length > 0 && { note }),
    body:
      rows.length === 0
        ? renderEmpty(empty)
        : html`<ul class="rows">${rows
            .slice(0, MOST_ROWS)
            .map(
              (row) =>
                html`<li><span>${what(row)}</span>${age(row[when], now)}<small>${why(row)}</small></li>`,
            )}</ul>
          ${left > 0 ? html`<p class="more">${counted(left, "more row")}, which the files have.</p>` : ""}`,
  });
}

const STATUS: Readonly<Record<string, string>> = {
  gone: "asked for one by one; the service says there is none",
  pending: "not asked for yet, or the service did not answer",
  foreign: "they lead outside the API of the service",
  malformed: "they name no record of this kind",
};

/** References to records that the mirror does not have, by field. */
export function renderReferences(rows: readonly Row[], tools: Offer, now: Date): Markup {
  return renderShortList({
    id: "references",
    title: "Broken references",
    total: rows.reduce((sum, { broken }) => sum + Number(broken), 0),
    note: "A record points to another that the mirror does not have.",
    tools,
    rows,
    empty: { kind: "none", strong: "None.", say: "Every record that another points to is in the mirror." },
    what: ({ resource, field, target_resource, broken, targets }) => {
      const [one, many] = target_resource === null ? ["address", "addresses"] : [String(target_resource)];
      return html`<code>${foreign(String(field), 40)}</code> of ${counted(Number(broken), String(resource))}:
        ${counted(Number(targets), String(one), many)} that ${Number(targets) === 1 ? "is" : "are"} not here`;
    },
    when: "last_checked_at",
    why: ({ status }) => wordsOf(STATUS, status),
    now,
  });
}

const REASONS: Readonly<Record<string, string>> = {
  not_sent: "the service fails to show this place of its list",
  no_id: "it has no id that can be stored",
  unreadable: "what came is no such record",
  refused: "the database refused it",
  other: "for another reason",
};

/** Records that came and could not be stored. */
export function renderQuarantine(rows: readonly Row[], tools: Offer, runs: number, now: Date): Markup {
  return renderShortList({
    id: "quarantine",
    title: "Could not be stored",
    total: rows.reduce((sum, { records }) => sum + Number(records), 0),
    note: "docmirror quarantine shows each, and tries it again.",
    tools,
    rows,
    empty: {
      kind: "none",
      strong: "None.",
      say: `Every record that came in ${counted(runs, "run")} is in the mirror.`,
    },
    what: ({ resource, records }) => html`${counted(Number(records), String(resource))}`,
    when: "newest_at",
    why: ({ reason_kind }) => wordsOf(REASONS, reason_kind),
    now,
  });
}

const CHANGES: Readonly<Record<string, string>> = {
  appeared: "is new",
  vanished: "is missing",
  type_changed: "has another type",
};

/** How the service differs from the interface that docmirror knows. */
export function renderChanges(rows: readonly Row[], tools: Offer, now: Date): Markup {
  return renderShortList({
    id: "drift",
    title: "Changes of the interface",
    total: rows.length,
    note: "What came is kept beside the known fields.",
    tools,
    rows,
    empty: { kind: "none", strong: "None.", say: "Records have the fields that the service documents." },
    what: ({ resource, field, kind }) =>
      html`<code>${foreign(String(field), 60)}</code> of ${foreign(`${String(resource)}s`, 40)} ${wordsOf(CHANGES, kind)}`,
    when: "observed_at",
    why: ({ detail }) => (detail === null ? "" : foreign(String(detail), 120)),
    now,
  });
}

/** Readings of lists that did not come to a good end, and why. */
export function renderWalks(rows: readonly Row[], counts: Row | undefined, tools: Offer, now: Date): Markup {
  const walks = Number(counts?.walks ?? 0);
  return renderShortList({
    id: "walks",
    title: "Readings that were not whole",
    total: Number(counts?.not_good ?? 0),
    note: `Of ${counted(walks, "reading")} of lists in 7 days. The next sync reads such a list again.`,
    tools,
    rows,
    empty:
      walks === 0
        ? { kind: "unknown", strong: "Not known.", say: "No list was read in 7 days." }
        : {
            kind: "none",
            strong: "None.",
            say: `All ${counted(walks, "reading")} of lists in 7 days came to a good end.`,
          },
    what: ({ resource, run_id }) => html`${foreign(`${String(resource)}s`, 40)}, run ${String(run_id)}`,
    when: "started_at",
    why: ({ walk, reason }) =>
      reason === null
        ? walk === "head"
          ? "its counts did not agree"
          : String(walk).replaceAll("_", " ")
        : foreign(String(reason), 240),
    now,
  });
}

function wordsOf(words: Readonly<Record<string, string>>, name: unknown): string {
  return (Object.hasOwn(words, String(name)) ? words[String(name)] : undefined) ?? String(name);
}
