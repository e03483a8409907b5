import { html } from "hono/html";
import { askFor, type Question } from "../report/question.ts";
import type { BlockSpec } from "./block.ts";
import { type Column, countOf, momentOf, type Row, spanOf, textIn } from "./cells.ts";
import { type Markup, moment } from "./words.ts";

/** The status of a run as a symbol and a word, so that it can be read without colour. */
const STATUS: Record<string, { symbol: string; kind: string }> = {
  succeeded: { symbol: "✓", kind: "good" },
  partial: { symbol: "◐", kind: "fair" },
  failed: { symbol: "✗", kind: "bad" },
  interrupted: { symbol: "⊘", kind: "fair" },
};
const UNDER_WAY = { symbol: "…", kind: "open" };

const statusOf = (run: Row) => STATUS[String(run.status)] ?? UNDER_WAY;

const STATUS_COLUMN: Column = { head: "Status", cell: (run) => `${statusOf(run).symbol} ${run.status}` };

/** A separate question, because the rounds of the watch, one a minute, would hide the syncs. */
export const LAST_ROUND = "last-round";
export const askForLastRound = (): Question => askFor("runs", { limit: 1 }, () => ["kind = 'watch'"]);

export const SYNCS: BlockSpec = {
  id: "runs",
  title: "Last syncs",
  relation: "runs",
  meaning: "How did docmirror's own runs end? One mark for each sync, the newest at the end.",
  filters: [],
  isOfBuilds: false,
  limit: 30,
  ask: (filters) => askFor("runs", filters, () => ["kind <> 'watch'"]),
  async chart(syncs, answers) {
    const [round] = await answers.of(LAST_ROUND);
    return (await html`${renderStrip(syncs)}${renderRound(round)}`).toString();
  },
  columns: [
    { ...countOf("Run", "run_id"), isName: true },
    STATUS_COLUMN,
    textIn("Kind", "kind", 16),
    momentOf("Began", "started_at"),
    spanOf("Took", "duration_s"),
    countOf("Requests", "requests"),
    countOf("Records", "records"),
    countOf("New", "inserted"),
    countOf("Changed", "updated"),
    countOf("Gone", "deleted"),
    countOf("Warnings", "warnings"),
    textIn("Ended by", "error", 120),
  ],
  empty: "No sync has run yet.",
};

function renderStrip(syncs: readonly Row[]): Markup | string {
  if (syncs.length === 0) return "";
  const marks = syncs.map((run) => {
    const { symbol, kind } = statusOf(run);
    return html`<li class="${kind}"><span aria-hidden="true">${symbol}</span><span class="unseen">${run.status}, ${run.kind}, </span> <small>${String(run.started_at).slice(5, 10)}</small></li>
`;
  });
  return html`<ol class="strip" aria-label="The last ${syncs.length} syncs, oldest first">
${marks}</ol>`;
}

function renderRound(round: Row | undefined): Markup {
  if (round === undefined) return html`<p class="meaning">No round of the watch has run yet.</p>`;
  return html`<p class="meaning">The last round of the watch, run ${round.run_id}, began ${moment(String(round.started_at))}: ${statusOf(round).symbol} ${round.status}.</p>`;
}
