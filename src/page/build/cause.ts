import { html } from "../parts/html.ts";
import { type Markup, shorten } from "../parts/words.ts";

export interface LogLine {
  /** From 1. */
  readonly number: number;
  readonly text: string;
}

/** Lines of one text of a log, as they stand in it. */
export interface CausePart {
  /** Which text, for the anchors of the whole log: `error`, `output`, `setup`, `setup-error`. */
  readonly part: string;
  /** The text in words, such as "errors". */
  readonly words: string;
  readonly lines: readonly LogLine[];
  /** The numbers of the lines that say the cause. A part without any is dim. @default none */
  readonly hits?: readonly number[];
}

const LINE_LENGTH = 2000;

/** One numbered line of a log. Its number links to `#PART-NUMBER`. */
function renderLine(part: string, { number, text }: LogLine, kind = ""): Markup {
  return html`<span class="l${kind}">
    <a href="#${part}-${number}" aria-label="${part}, line ${number}">${number}</a>
    <span>${shorten(text, LINE_LENGTH)}</span></span>`;
}

/** The same line where the whole log has it: the anchor of such links. */
export function renderAnchoredLine(part: string, { number, text }: LogLine, kind = ""): Markup {
  return html`<span class="l${kind}" id="${part}-${number}">
    <a href="#${part}-${number}" aria-label="${part}, line ${number}">${number}</a>
    <span>${shorten(text, LINE_LENGTH)}</span></span>`;
}

/** The cause in its context: lines of the log, the one that says it highlighted. */
export function renderCause(parts: readonly CausePart[]): Markup {
  return html`<div class="cause" tabindex="0" role="region" aria-label="The lines around the cause">
${parts.map(
  ({ part, words, lines, hits = [] }) => html`<span class="part">${words}</span>
${lines.map((line) => renderLine(part, line, kindOf(line, hits)))}
`,
)}</div>`;
}

function kindOf({ number }: LogLine, hits: readonly number[]): string {
  if (hits.length === 0) return " dim";
  return hits.includes(number) ? " hit" : "";
}
