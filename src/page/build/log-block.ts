import { renderBlock } from "../parts/block.ts";
import { renderEmpty } from "../parts/empty.ts";
import { html } from "../parts/html.ts";
import { counted, grouped, type Markup } from "../parts/words.ts";
import { renderAnchoredLine } from "./cause.ts";
import { LOG_PARTS, type LogTail } from "./log-tail.ts";

const WARNING = /\bwarning\b:?/i;

/** The whole log, each text folded. Of a long text it has the end, and a link to all of it. */
export function renderLog(tails: readonly LogTail[], logHref: string): Markup {
  const total = tails.reduce((sum, tail) => sum + tail.total, 0);
  if (total === 0) {
    const say = "The service sent no log with this build, or has not sent it yet.";
    return renderBlock({
      id: "log",
      title: "The whole log",
      body: renderEmpty({ kind: "unknown", strong: "No log.", say }),
    });
  }
  return renderBlock({
    id: "log",
    title: "The whole log",
    count: counted(total, "line"),
    note: html`In the order in which the service keeps it. Each number is a link to its line. <a href="${logHref}">As a text file</a>`,
    body: html`<div class="logs">${LOG_PARTS.map((part) => {
      const tail = tails.find((one) => one.part === part);
      return tail === undefined
        ? html`<p class="part-empty">${part.title} <small>empty</small></p>
`
        : renderTail(tail, logHref);
    })}</div>`,
  });
}

function renderTail({ part, total, lines }: LogTail, logHref: string): Markup {
  const warnings = lines.filter(({ text }) => WARNING.test(text)).length;
  const first = lines[0]?.number ?? 1;
  const count = `${counted(total, "line")}${warnings > 0 ? `, ${counted(warnings, "warning")}${first > 1 ? " in those shown" : ""}` : ""}`;
  return html`<details id="log-${part.anchor}"><summary>${part.title} <small>${count}</small></summary>
${
  first > 1
    ? html`<p class="note">Only the last ${grouped(lines.length)} lines are here.
  <a href="${logHref}">The text file</a> has all ${grouped(total)}.</p>`
    : ""
}
<pre class="log" tabindex="0" role="region" aria-label="${part.title}">
  ${lines.map((line) => renderAnchoredLine(part.anchor, line, WARNING.test(line.text) ? " warnline" : ""))}</pre></details>
`;
}
