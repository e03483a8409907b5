import type { ArchivedLog } from "../../mirror/builds/archived-log.ts";
import { renderBlock } from "../parts/block.ts";
import { renderEmpty } from "../parts/empty.ts";
import { html } from "../parts/html.ts";
import type { Offer } from "../parts/offers.ts";
import { foreign, type Markup } from "../parts/words.ts";
import { type CausePart, renderCause } from "./cause.ts";
import type { ErrorPlace, LogTail } from "./log-tail.ts";

const [BEFORE, AFTER] = [3, 2];
/** A text this short is read from its first line on. */
const SHORT = 12;
const LINE_LENGTH = 400;

interface CauseFacts {
  readonly build: { readonly archived_log: ArchivedLog | null };
  readonly place: ErrorPlace | null;
  readonly tails: readonly LogTail[];
}

/** Why a build failed: the line that says it, and the lines around it. That line stayed where the log was removed. */
export function renderBuildCause(
  { build: { archived_log: archived }, place, tails }: CauseFacts,
  logHref: string,
  tools: Offer,
): Markup {
  if (archived !== null && archived.error_line !== null) {
    const body = html`<p><code>${foreign(archived.error_line, LINE_LENGTH)}</code></p>
<p class="more">The lines around it were removed with <a href="#log">the log</a>.</p>`;
    return renderBlock({ id: "why", title: "Why", tools, body });
  }
  const parts = place === null ? [] : findCause(place, tails);
  const hit = place?.lines.at(-1);
  const body =
    place === null || parts.length === 0
      ? renderEmpty({
          kind: "unknown",
          strong: "Not known.",
          say: sayUnknown(archived, tails),
        })
      : html`${renderCause(parts)}
<p class="more"><a href="#${place.part.anchor}-${hit}">Line ${hit} of ${place.part.of}</a>, in the whole log
  below · <a href="${logHref}">the log as a text file</a></p>`;
  return renderBlock({ id: "why", title: "Why", tools, body });
}

function sayUnknown(archived: ArchivedLog | null, tails: readonly LogTail[]): string {
  if (archived !== null) return "No line of its log said what went wrong.";
  if (tails.length === 0) return "The service sent no log with this build.";
  return "No line of its log says what went wrong; the whole log is below.";
}

/** The lines around the error line, and the end of the output where the errors begin with them. */
function findCause({ part, lines: hits }: ErrorPlace, tails: readonly LogTail[]): CausePart[] {
  const tail = tails.find((one) => one.part === part);
  const [first = 1, last = first] = hits;
  const from = last <= SHORT ? 1 : first - BEFORE;
  const lines = tail?.lines.filter(({ number }) => number >= from && number <= last + AFTER) ?? [];
  if (lines.length === 0) return [];
  const cause = { part: part.anchor, words: part.title.toLowerCase(), lines, hits };
  const output = tails.find((one) => one.part.column === "output");
  if (part.column !== "error" || output === undefined || lines[0]?.number !== 1) return [cause];
  const end = output.lines.slice(-BEFORE);
  return [{ part: output.part.anchor, words: "the end of the output", lines: end }, cause];
}
