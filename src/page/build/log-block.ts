import { counted, grouped } from "../../base/text.ts";
import type { ArchivedLog } from "../../mirror/builds/archived-log.ts";
import { literal } from "../../report/export/duckdb.ts";
import { momentTag } from "../parts/age.ts";
import { renderBlock } from "../parts/block.ts";
import { renderEmpty } from "../parts/empty.ts";
import { html } from "../parts/html.ts";
import { foreign, type Markup } from "../parts/words.ts";
import { renderAnchoredLine } from "./cause.ts";
import { LOG_PARTS, type LogTail } from "./log-tail.ts";

const LONGEST_PATH = 500;
const WARNING = /\bwarning\b:?/i;

export interface LogFacts {
  readonly id: string;
  readonly build: { readonly archived_log: ArchivedLog | null };
  readonly tails: readonly LogTail[];
  readonly now: Date;
}

/** The whole log, each text folded. Of a long text it has the end, and a link to all of it. */
export function renderLog(
  { id, build: { archived_log: archived }, tails, now }: LogFacts,
  logHref: string,
): Markup {
  const total = tails.reduce((sum, tail) => sum + tail.total, 0);
  if (archived !== null) return renderArchived(id, archived, now);
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

/** Where a log is that was removed, and how DuckDB reads it there. */
function renderArchived(id: string, { folder, path, removed_at }: ArchivedLog, now: Date): Markup {
  const file = `${folder}/${path}`;
  const say = html`It was removed from the mirror ${momentTag(removed_at, now)}, and is in the export of logs
    <code>${foreign(file, LONGEST_PATH)}</code>. DuckDB reads it there:`;
  const statement = `select ${LOG_PARTS.map(({ column }) => column).join(", ")}
from read_parquet(${literal(file)})
where build_id = ${literal(id)}`;
  return renderBlock({
    id: "log",
    title: "The whole log",
    body: html`${renderEmpty({ kind: "unknown", strong: "Not here.", say })}
<pre tabindex="0" role="region" aria-label="SQL that reads the log">${statement}</pre>`,
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
