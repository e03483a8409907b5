import type { Newest } from "../../mirror/builds/describe-build.ts";
import type { Entry, Line, Piece, Section } from "../../mirror/builds/piece.ts";
import { momentTag } from "../parts/age.ts";
import { block, type Row } from "../parts/block.ts";
import { foreign, html, type Markup, slugWords, targetWords } from "../parts/html.ts";
import { kindLabel } from "../parts/kinds.ts";
import { projectLink } from "../parts/links.ts";
import { outcomeMark } from "../parts/marks.ts";
import { askForBuild, type BuildScope, OWN } from "./build-scope.ts";
import type { BuildSaid } from "./build-verdict.ts";

/** The facts of a build: as the reports count it, as the service sent it, and its whole row. */
export const facts = block({
  id: "facts",
  narrowedBy: OWN,
  asks: (_: BuildScope) => ({}),
  file: ({ id }) => askForBuild(id),
  draw(_found, { id, fact, now }, { told }: BuildSaid) {
    if (told === null) return null;
    const { state, facts } = told.description;
    return {
      title: "Facts",
      body: html`<dl class="facts">
${renderFact("Build", foreign(id, 40))}${fact === undefined ? renderFact("Outcome", "not counted yet") : renderCounted(fact, now)}</dl>
<details class="fold"${fact === undefined ? " open" : ""}><summary>As the service sent it</summary>
<dl class="facts">
${renderFact("State", foreign(state, 300))}${facts.map(renderEntry)}</dl>
</details>
${fact === undefined ? "" : renderRow(fact)}
<p class="note">At the command line: <code>docmirror explain build ${foreign(id, 40)}</code></p>`,
    };
  },
});

const entries = (id: "changes" | "quarantine", title: string) =>
  block({
    id,
    asks: (_: BuildScope) => ({}),
    draw(_found, _scope, { told }: BuildSaid) {
      const entries = told?.description[id];
      if (entries === undefined || entries.shown.length === 0) return null;
      const { shown, left } = entries;
      return {
        title,
        count: String(left + shown.length),
        body: html`${renderLeft(left)}<dl class="facts">
${shown.map(renderEntry)}</dl>`,
      };
    },
  });

export const changes = entries("changes", "What changed in its record");
export const quarantine = entries("quarantine", "Replies that could not be stored");

function renderCounted(fact: Row, now: Date): Markup {
  const slug = String(fact.project_slug);
  const code = (name: string) => html`<code>${foreign(String(fact[name]), 80)}</code>`;
  const [after, before] = [fact.finished_after, fact.finished_before];
  const from = after === null ? "" : html`${momentTag(after, now)} to `;
  const facts: [string, Markup | string | null][] = [
    ["Outcome", html`<strong>${outcomeMark(fact.outcome).word}</strong>`],
    ["Project", slug === "(unknown)" ? slugWords(slug) : projectLink(slug)],
    ["Of", targetWords(fact.version_slug, fact.type)],
    ["Triggered", fact.triggered_at === null ? "not known" : momentTag(fact.triggered_at, now)],
    ["Finished", before === null ? null : html`${from}${momentTag(before, now)}`],
    ["Error", fact.error_class === null ? null : errorWords(fact.error_class)],
    ["Error line", fact.error_line_id === null ? null : code("error_line_id")],
    ["Its kind", fact.error_fingerprint === null ? null : code("error_fingerprint")],
    ["Named", fact.reference === null ? null : code("reference")],
  ];
  return html`${facts.map(([label, words]) => (words === null ? "" : renderFact(label, words)))}`;
}

const errorWords = (errorClass: unknown): Markup =>
  html`${kindLabel(errorClass)} <small class="quiet">${foreign(String(errorClass), 40)}</small>`;

function renderRow(fact: Row): Markup {
  const columns = Object.entries(fact).map(([name, value]) =>
    renderFact(name, value === null ? html`<small>null</small>` : foreign(String(value), 400)),
  );
  return html`<details class="fold"><summary>Its row in report.fact_builds</summary>
<dl class="facts">
${columns}</dl>
</details>`;
}

/** The maximum length of texts of the service, and of values of its fields. */
const TEXT_LENGTH = 300;
const VALUE_LENGTH = 120;

/** Labels whose meaning would differ from the same label in the reports. */
const LABELS: Readonly<Record<string, string>> = { project: "Project's record", version: "Version's record" };

const renderLeft = (left: number): Markup | string =>
  left === 0 ? "" : html`<p class="note">${left} earlier ones are left out.</p>`;

/** The states that a build entered: the two bounds of each, and how they are known. */
export const renderStates = ({ shown, left }: Newest<Section>): Markup =>
  html`${renderLeft(left)}${shown.map(
    ({ title, entries }) => html`<h3 class="sub">${foreign(title)}</h3>
<dl class="facts">
${entries.map(renderBound)}</dl>
`,
  )}`;

function renderEntry({ label, lines }: Entry): Markup {
  return renderFact(
    labelText(label),
    html`${lines.map((line, index) => html`${index > 0 ? html`<br>` : ""}${renderPieces(line)}`)}`,
  );
}

function renderFact(label: string, words: Markup | string): Markup {
  return html`<div><dt>${label}</dt><dd>${words}</dd></div>
`;
}

/** A bound of a state. The moment is bold; the lines below say how it is known. */
function renderBound(entry: Entry): Markup {
  const [answer = [], ...reasons] = entry.lines;
  if (reasons.length === 0) return renderEntry(entry);
  const lines = reasons.map((line) => html`<br>${renderPieces(line)}`);
  return renderFact(labelText(entry.label), html`<strong>${renderPieces(answer)}</strong>${lines}`);
}

function labelText(label: string): string {
  return LABELS[label] ?? label.charAt(0).toUpperCase() + label.slice(1);
}

const PIECES: Readonly<Record<Exclude<Piece, string>["kind"], (text: string) => Markup>> = {
  moment: exact,
  uri: (text) => html`<code>${foreign(text, TEXT_LENGTH)}</code>`,
  value: (text) => html`<code>${foreign(text, VALUE_LENGTH)}</code>`,
  run: (text) => html`<small>${text}</small>`,
  request: (text) => html`<small><code>${foreign(text, TEXT_LENGTH)}</code></small>`,
  foreign: (text) => foreign(text, TEXT_LENGTH),
};

const renderPieces = (line: Line): Markup =>
  html`${line.map((piece) => (typeof piece === "string" ? piece : PIECES[piece.kind](piece.text)))}`;

/** A moment with its fraction of a second, because the reader of a bound wants it exact. */
function exact(text: string): Markup {
  const [day = "", time = ""] = text.split(/[ T]/);
  return html`<time datetime="${day}T${time}Z">${day} ${time}</time>`;
}
