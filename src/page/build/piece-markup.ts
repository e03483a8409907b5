import { type Entry, type Line, type Piece, pieceText, type Section } from "../../mirror/builds/piece.ts";
import { html } from "../parts/html.ts";
import { foreign, type Markup } from "../parts/words.ts";

/** The newest entries of each kind that a page shows. The command line has all. */
const MOST_SHOWN = 50;
/** The maximum length of texts of the service, and of values of its fields. */
const TEXT_LENGTH = 300;
const VALUE_LENGTH = 120;

/** Labels whose meaning would differ from the same label in the reports. */
const LABELS: Readonly<Record<string, string>> = { project: "Project's record", version: "Version's record" };

/** The newest of many, as `render` shows them, below how many are left out. */
export function newest<T>(all: readonly T[], render: (shown: readonly T[]) => Markup): Markup {
  const left = all.length - MOST_SHOWN;
  return html`${left > 0 ? html`<p class="note">${left} earlier ones are left out.</p>` : ""}${render(all.slice(-MOST_SHOWN))}`;
}

/** A state that a build entered: its two bounds, and how each is known. */
export function renderState({ title, entries }: Section): Markup {
  return html`<h3 class="sub">${foreign(title)}</h3>
<dl class="facts">
${entries.map(renderBound)}</dl>
`;
}

/** An entry with all its lines. */
export function renderEntry({ label, lines }: Entry): Markup {
  return renderFact(
    labelText(label),
    html`${lines.map((line, index) => html`${index > 0 ? html`<br>` : ""}${renderLine(line)}`)}`,
  );
}

/** One fact, within a list of them. */
export function renderFact(label: string, words: Markup | string): Markup {
  return html`<div><dt>${label}</dt><dd>${words}</dd></div>
`;
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
