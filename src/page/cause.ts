import { html } from "hono/html";
import { type Markup, shorten } from "./words.ts";

export interface LogLine {
  /** From 1. */
  readonly number: number;
  readonly text: string;
}

export interface CauseFacts {
  /** Which part of the log, for the anchors of the whole log: `error`, `output`, `setup`, `setup-error`. */
  readonly part: string;
  /** The line that says the cause, and those before it, in their order. */
  readonly lines: readonly LogLine[];
  /** The number of the line that is highlighted. */
  readonly hit: number;
  /** The part in words, such as "errors". */
  readonly partWords: string;
}

const LINE_LENGTH = 2000;

/** One numbered line of a log. Its number links to `#PART-NUMBER`. */
export function renderLine(part: string, { number, text }: LogLine, kind = ""): Markup {
  return html`<span class="l${kind}"><a href="#${part}-${number}" aria-label="${part}, line ${number}">${number}</a><span>${shorten(text, LINE_LENGTH)}</span></span>`;
}

/** The cause in its context: lines of the log, the one that says it highlighted. */
export function renderCause({ part, lines, hit, partWords }: CauseFacts): Markup {
  return html`<div class="cause" tabindex="0" role="region" aria-label="The lines around the cause">
<span class="part">${partWords}</span>
${lines.map((line) => renderLine(part, line, line.number === hit ? " hit" : ""))}
</div>`;
}
