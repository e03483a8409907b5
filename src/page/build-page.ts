import { html } from "hono/html";
import type { BuildDescription } from "../builds/describe-build.ts";
import type { BuildExplanation } from "../builds/explain-build.ts";
import { type Entry, type Line, type Piece, pieceText, type Section } from "../builds/piece.ts";
import type { TransactionSql } from "../db/connect.ts";
import { askFor, type Question } from "../report/question.ts";
import { agoWords } from "./age.ts";
import { renderBlock, renderHead } from "./block.ts";
import { renderLinks } from "./empty.ts";
import { projectHref } from "./links.ts";
import type { Row } from "./list-table.ts";
import { outcomeMark } from "./mark.ts";
import { renderVerdict } from "./verdict-bar.ts";
import { foreign, kindLabel, kindMeaning, type Markup, shorten, slugWords, targetWords } from "./words.ts";

/** The newest entries of each kind that a page shows. The command line has all. */
const MOST_SHOWN = 50;
/** The maximum length of texts of the service, and of values of its fields. */
const TEXT_LENGTH = 300;
const VALUE_LENGTH = 120;

/** Labels whose meaning would differ from the same label in the reports. */
const LABELS: Readonly<Record<string, string>> = { project: "Project's record", version: "Version's record" };

/** The row of one build in `report.fact_builds`. */
export function askForBuild(id: string): Question {
  return askFor("fact_builds", {}, (hold) => [`build_id = ${hold(id)}`]);
}

/** The row that this question returns, if there is one. */
export function findFacts(tx: TransactionSql, { text, params }: Question): Promise<readonly Row[]> {
  return tx.unsafe<Row[]>(text, params);
}

/**
 * The known facts about a build and their sources: first the facts as the reports count them, then the texts of
 * `docmirror explain`. `fact` is missing until the reports have been refreshed.
 */
export function renderBuild(
  id: string,
  { state, facts, states, changes, quarantine }: BuildDescription,
  fact: Row | undefined,
  question: Question,
  now: Date,
): Markup {
  return html`${renderAnswer(id, fact, now)}
${renderBlock({
  id: "facts",
  title: "What is known",
  tools: { question },
  body: html`<dl class="facts">
${renderFacts(fact)}${renderFact("State", foreign(state, TEXT_LENGTH))}${facts.map(renderEntry)}</dl>`,
})}
${renderBlock({
  id: "states",
  title: "Its states",
  note: "Each state was entered between two moments. A reply first showed it at the second one.",
  body: newest(states, renderState),
})}
${changes.length === 0 ? "" : renderList("changes", "What changed in its record", changes)}
${quarantine.length === 0 ? "" : renderList("quarantine", "Replies that could not be stored", quarantine)}
${fact === undefined ? "" : renderFactRow(fact)}
<p class="more">At the command line: <code>docmirror explain build ${shorten(id)}</code></p>`;
}

/** How it ended, how long ago, and the line that says why. */
function renderAnswer(id: string, fact: Row | undefined, now: Date): Markup {
  if (fact === undefined) return renderHead(html`Build ${foreign(id)}`);
  const { kind, word } = outcomeMark(fact.outcome);
  const slug = String(fact.project_slug);
  const project = html`<a href="${projectHref(slug)}">${slugWords(slug)}</a>`;
  const ago = agoWords(fact.triggered_at, now);
  const line = fact.output_excerpt === null ? "" : html`: ${foreign(String(fact.output_excerpt), 200)}`;
  const meaning = kindMeaning(fact.error_class);
  const why =
    fact.error_class === null
      ? ""
      : `${kindLabel(fact.error_class)}${meaning === null ? "" : `: ${meaning}`}. `;
  return renderVerdict({
    look: fact.outcome === "failed" ? "some" : fact.outcome === "succeeded" ? "good" : "idle",
    mark: { kind, word },
    crumbs: html`<a href="/projects">Projects</a> / ${project} / build ${foreign(id)}`,
    sentence: html`${word.charAt(0).toUpperCase() + word.slice(1)}${ago === null ? "" : `, triggered ${ago} ago`}${line}`,
    evidence: html`${why}${targetWords(fact.version_slug, fact.type)} of ${project}.`,
    acts: renderLinks([
      { href: `/build/${encodeURIComponent(id)}/log.txt`, words: "The log as a text file" },
    ]),
  });
}

/** Why a build has no page. It may be in quarantine. */
export function absenceWords({ quarantine }: BuildExplanation): Markup | string {
  const last = quarantine.findLast(({ resolved_at }) => resolved_at === null);
  if (last === undefined) return "The mirror has no build with this id.";
  return html`<p>The mirror has no build with this id. The service sent it, but it could not be stored: ${foreign(last.reason, 300)}</p>
<p><code>docmirror quarantine --resource build</code> shows what was sent.</p>`;
}

/** The row of the build, under the names that SQL and CSV use. */
function renderFactRow(fact: Row): Markup {
  const columns = Object.entries(fact).map(([name, value]) =>
    renderFact(name, value === null ? html`<small>null</small>` : foreign(String(value), 400)),
  );
  return renderBlock({
    id: "row",
    title: "How the reports count it",
    note: html`Its row in <code>report.fact_builds</code>. The duration is the middle of its two bounds, if they are close enough.`,
    body: html`<details class="fold"><summary>All columns</summary>
<dl class="facts">
${columns}</dl>
</details>`,
  });
}

function renderFacts(fact: Row | undefined): Markup[] {
  if (fact === undefined)
    return [renderFact("Outcome", "not counted yet: the reports are computed when a run ends")];
  const project = String(fact.project_slug);
  const text = (name: string, length = 80) => foreign(String(fact[name]), length);
  const facts = [
    renderFact("Outcome", html`<strong>${outcomeMark(fact.outcome).word}</strong>`),
    renderFact("Project", html`<a href="${projectHref(project)}">${slugWords(project)}</a>`),
    renderFact("Of", targetWords(fact.version_slug, fact.type)),
  ];
  if (fact.error_class !== null) facts.push(renderFact("Why", kindLabel(fact.error_class)));
  if (fact.output_excerpt !== null)
    facts.push(renderFact("Error line", html`<code>${text("output_excerpt", 400)}</code>`));
  return facts;
}

function renderState({ title, entries }: Section): Markup {
  return html`<h3>${foreign(title)}</h3>
<dl class="facts">
${entries.map(renderBound)}</dl>
`;
}

function renderList(id: string, title: string, entries: readonly Entry[]): Markup {
  return renderBlock({
    id,
    title,
    count: String(entries.length),
    body: html`<dl class="facts">
${newest(entries, renderEntry)}</dl>`,
  });
}

function newest<T>(all: readonly T[], render: (one: T) => Markup): Markup {
  const left = all.length - MOST_SHOWN;
  return html`${left > 0 ? html`<div><dt>…</dt><dd>${left} earlier ones are left out</dd></div>` : ""}${all.slice(-MOST_SHOWN).map(render)}`;
}

function renderEntry({ label, lines }: Entry): Markup {
  return renderFact(
    labelText(label),
    html`${lines.map((line, index) => html`${index > 0 ? html`<br>` : ""}${renderLine(line)}`)}`,
  );
}

/** A bound of a state. The moment is bold; the lines below say how it is known. */
function renderBound(entry: Entry): Markup {
  const [answer = [], ...reasons] = entry.lines;
  if (reasons.length === 0) return renderEntry(entry);
  const lines = reasons.map((line) => html`<br>${renderLine(line)}`);
  return renderFact(labelText(entry.label), html`<strong>${renderLine(answer)}</strong>${lines}`);
}

function labelText(label: string): string {
  return LABELS[label] ?? label.charAt(0).toUpperCase() + label.slice(1);
}

function renderFact(label: string, words: Markup | string): Markup {
  return html`<div><dt>${label}</dt><dd>${words}</dd></div>
`;
}

const renderLine = (line: Line): Markup => html`${line.map(renderPiece)}`;

function renderPiece(piece: Piece): Markup | string {
  if (typeof piece === "string") return piece;
  const text = pieceText(piece);
  switch (piece.kind) {
    case "moment":
      return exact(piece.at);
    case "uri":
      return html`<code>${foreign(text, TEXT_LENGTH)}</code>`;
    case "value":
      return html`<code>${foreign(text, VALUE_LENGTH)}</code>`;
    case "run":
      return html`<small>${text}</small>`;
    case "request":
      return html`<small><code>${foreign(text, TEXT_LENGTH)}</code></small>`;
    case "foreign":
      return foreign(text, TEXT_LENGTH);
    case "interval":
    case "length":
      return text;
  }
}

/** A moment with its fraction of a second, because the reader of a bound wants it exact. */
function exact(text: string): Markup {
  const [day = "", time = ""] = text.replace(/\+00$/, "").split(/[ T]/);
  return html`<time datetime="${day}T${time}Z">${day} ${time}</time>`;
}
