import { counted } from "../../base/text.ts";
import { block } from "../parts/block.ts";
import { askForRising, linesHref, type RisingLine, risenWords, sinceWords } from "../parts/changes.ts";
import { html, type Markup } from "../parts/html.ts";
import { renderMask } from "../parts/kinds.ts";
import { buildLink } from "../parts/links.ts";
import { icon, momentTag, when } from "../parts/marks.ts";
import type { ErrorsScope } from "./lines-questions.ts";

/** The lines that rose in the last 24 hours, those of the most projects first. Nothing where none did. */
export const risen = block({
  id: "risen",
  narrowedBy: {},
  asks: ({ at }: ErrorsScope) => ({ rows: askForRising(at) }),
  draw({ rows }, { now, at, isNow }) {
    if (rows.length === 0) return null;
    return {
      title: isNow ? "Rose in 24 hours" : `Rose in the 24 hours before ${when(at.getTime(), now)}`,
      count: counted(rows.length, "line"),
      note: "Lines that came in many projects and more often than chance explains: each points to one cause.",
      body: html`<ol class="klines risen">${rows.map((one) => renderRiser(one, now, at))}</ol>`,
    };
  },
});

function renderRiser(one: RisingLine, now: Date, at: Date): Markup {
  const against = `rises: ${risenWords(one)}`;
  return html`<li class="kline rises">
    <strong><a href="${linesHref({ line: one.error_line_id }, at)}">${counted(one.projects, "project")}</a>
    since ${sinceWords(one, now)}:</strong> <code class="mask">${renderMask(one.error_line)}</code>
    <small><span class="rise">${icon("up")}${one.failures_before === 0 ? "new" : against}</span>
    ${counted(one.failures, "build")}, the first ${buildLink(one.first_build_id)}, ${momentTag(one.since, now)}</small></li>
`;
}
