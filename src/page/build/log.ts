import { counted, grouped } from "../../base/text.ts";
import type { ArchivedLog } from "../../mirror/builds/explain-build.ts";
import { literal } from "../../report/export/parquet.ts";
import { sumIn } from "../parts/answers.ts";
import { block, renderNoRows } from "../parts/block.ts";
import { askForBuild } from "../parts/builds.ts";
import { foreign, html, type Markup, shorten } from "../parts/html.ts";
import { buildHref } from "../parts/links.ts";
import { momentTag } from "../parts/marks.ts";
import type { BuildSaid, BuildScope } from "./build-scope.ts";
import { type ErrorPlace, LOG_PARTS, type LogLine, type LogPart, type LogTail } from "./log-tail.ts";

const [LINES_BEFORE, LINES_AFTER] = [3, 2];
/** A text this short is read from its first line on. */
const SHORT = 12;
const CAUSE_LENGTH = 400;

const LONGEST_PATH = 500;
const WARNING = /\bwarning\b:?/i;

/** The text within a sentence, such as "errors"; and its name in the anchors of the page. */
const wordsOf = ({ title }: LogPart): string => title.toLowerCase();
const anchorOf = ({ column }: LogPart): string => column.replace("_", "-");

const logHref = (id: string): string => `${buildHref(id)}/log.txt`;

/** The whole log, each text folded. A long text has its end here, and a link to all of it. */
export const log = block({
  id: "log",
  narrowedBy: null,
  draw(_found, { id, now }: BuildScope, { build, tails }: BuildSaid) {
    const title = "The whole log";
    const archived = build.archived_log;
    const total = sumIn(tails, "total");
    if (archived !== null) return { title, body: renderArchived(id, archived, now) };
    if (total === 0)
      return {
        title,
        empty: ["unknown", "No log.", "The service sent no log with this build, or has not sent it yet."],
      };
    return {
      title,
      count: counted(total, "line"),
      note: html`In the order in which the service keeps it. Each number is a link to its line. <a href="${logHref(id)}">As a text file</a>`,
      body: html`<div class="logs">${LOG_PARTS.map((part) => {
        const tail = tails.find((one) => one.part === part);
        return tail === undefined
          ? html`<p class="part-empty">${part.title} <small>empty</small></p>
`
          : renderTail(tail, logHref(id));
      })}</div>`,
    };
  },
});

function renderArchived(id: string, { folder, path, removed_at }: ArchivedLog, now: Date): Markup {
  const file = `${folder}/${path}`;
  const say = html`It was removed from the mirror ${momentTag(removed_at, now)}, and is in the export of logs
    <code>${foreign(file, LONGEST_PATH)}</code>. DuckDB reads it there:`;
  const statement = `select ${LOG_PARTS.map(({ column }) => column).join(", ")}
from read_parquet(${literal(file)})
where build_id = ${literal(id)}`;
  return html`${renderNoRows("unknown", "Not here.", say)}
<pre tabindex="0" role="region" aria-label="SQL that reads the log">${statement}</pre>`;
}

function renderTail({ part, total, lines }: LogTail, logHref: string): Markup {
  const warnings = lines.filter(({ text }) => WARNING.test(text)).length;
  const first = lines[0]?.number ?? 1;
  const count = `${counted(total, "line")}${warnings > 0 ? `, ${counted(warnings, "warning")}${first > 1 ? " in those shown" : ""}` : ""}`;
  return html`<details id="log-${anchorOf(part)}"><summary>${part.title} <small>${count}</small></summary>
${
  first > 1
    ? html`<p class="note">Only the last ${grouped(lines.length)} lines are here.
  <a href="${logHref}">The text file</a> has all ${grouped(total)}.</p>`
    : ""
}
<pre class="log" tabindex="0" role="region" aria-label="${part.title}">
  ${lines.map((line) => renderLine(part, line, WARNING.test(line.text) ? " warnline" : "", true))}</pre></details>
`;
}

/** The reason of a failure: the line that says it, and the lines around it. That line stayed where the log was removed. */
export const why = block({
  id: "why",
  file: ({ id }) => askForBuild(id),
  draw: (_found, { id }: BuildScope, said: BuildSaid) =>
    said.isFailed ? { title: "Why", body: renderReason(id, said) } : null,
});

function renderReason(id: string, { build, place, tails }: BuildSaid): Markup {
  const archived = build.archived_log;
  if (archived !== null && archived.error_line !== null)
    return html`<p><code>${foreign(archived.error_line, CAUSE_LENGTH)}</code></p>
<p class="more">The lines around it were removed with <a href="#log">the log</a>.</p>`;
  const parts = place === null ? [] : findCause(place, tails);
  if (place === null || parts.length === 0) {
    const say =
      archived !== null
        ? "No line of its log said what went wrong."
        : tails.length === 0
          ? "The service sent no log with this build."
          : "No line of its log says what went wrong; the whole log is below.";
    return renderNoRows("unknown", "Not known.", say);
  }
  const hit = place.lines.at(-1);
  return html`${renderCause(parts)}
<p class="more"><a href="#${anchorOf(place.part)}-${hit}">Line ${hit} of the ${wordsOf(place.part)}</a>, in the whole log
  below · <a href="${logHref(id)}">the log as a text file</a></p>`;
}

/** The lines around the error line, and the end of the output where the errors begin with them. */
function findCause({ part, lines: hits }: ErrorPlace, tails: readonly LogTail[]): CausePart[] {
  const tail = tails.find((one) => one.part === part);
  const [first = 1, last = first] = hits;
  const from = last <= SHORT ? 1 : first - LINES_BEFORE;
  const lines = tail?.lines.filter(({ number }) => number >= from && number <= last + LINES_AFTER) ?? [];
  if (lines.length === 0) return [];
  const cause = { part, words: wordsOf(part), lines, hits };
  const output = tails.find((one) => one.part.column === "output");
  if (part.column !== "error" || output === undefined || lines[0]?.number !== 1) return [cause];
  const end = output.lines.slice(-LINES_BEFORE);
  return [{ part: output.part, words: "the end of the output", lines: end }, cause];
}

interface CausePart {
  readonly part: LogPart;
  /** What the lines are, such as "errors". */
  readonly words: string;
  readonly lines: readonly LogLine[];
  /** The numbers of the lines that say the cause. A part without any is dim. @default none */
  readonly hits?: readonly number[];
}

const LINE_LENGTH = 2000;

/** `isAnchor`: it is what links to it lead to, as in the whole log. */
function renderLine(part: LogPart, { number, text }: LogLine, kind: string, isAnchor = false): Markup {
  const anchor = anchorOf(part);
  return html`<span class="l${kind}"${isAnchor && html` id="${anchor}-${number}"`}>
    <a href="#${anchor}-${number}" aria-label="${anchor}, line ${number}">${number}</a>
    <span>${shorten(text, LINE_LENGTH)}</span></span>`;
}

function renderCause(parts: readonly CausePart[]): Markup {
  return html`<div class="cause" tabindex="0" role="region" aria-label="The lines around the cause">
${parts.map(({ part, words, lines, hits }) => {
  const kindOf = ({ number }: LogLine) => (hits === undefined ? " dim" : hits.includes(number) ? " hit" : "");
  return html`<span class="part">${words}</span>
${lines.map((line) => renderLine(part, line, kindOf(line)))}
`;
})}</div>`;
}
