import { counted, grouped } from "../../base/text.ts";
import { momentTag } from "../parts/age.ts";
import { renderBlock } from "../parts/block.ts";
import { html } from "../parts/html.ts";
import { icon } from "../parts/icon.ts";
import { renderMask } from "../parts/mask.ts";
import type { Offer } from "../parts/offers.ts";
import { buildLink } from "../parts/record-links.ts";
import { linesHref, type RisingLine, sinceWords } from "../parts/rising-lines.ts";
import type { Markup } from "../parts/words.ts";

/** The lines that rose in the last 24 hours, those of the most projects first. Nothing where none did. */
export function renderRisen(
  rising: readonly RisingLine[],
  tools: Offer,
  { now, at }: { readonly now: Date; readonly at: Date },
): Markup | string {
  if (rising.length === 0) return "";
  return renderBlock({
    id: "risen",
    title: "Rose in 24 hours",
    count: counted(rising.length, "line"),
    note: "Lines that came in many projects and more often than chance explains: each points to one cause.",
    tools,
    body: html`<ol class="klines risen">${rising.map((one) => renderRiser(one, now, at))}</ol>`,
  });
}

function renderRiser(one: RisingLine, now: Date, at: Date): Markup {
  const { id, line, projects, failures, before, since, firstBuild } = one;
  return html`<li class="kline rises"><strong><a href="${linesHref({ line: id }, at)}">${counted(projects, "project")}</a>
    since ${sinceWords(one, now)}:</strong> <code class="mask">${renderMask(line)}</code>
    <small><span class="rise">${icon("up")}${before === 0 ? "new" : `rises: ${grouped(failures)} against ${grouped(before)} in 28 days`}</span>
    ${counted(failures, "build")}, the first ${buildLink(firstBuild)}, ${momentTag(new Date(since).toISOString(), now)}</small></li>
`;
}
