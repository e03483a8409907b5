import { renderBlock } from "../parts/block.ts";
import { renderEmpty } from "../parts/empty.ts";
import { html } from "../parts/html.ts";
import type { Offer } from "../parts/offers.ts";
import type { Markup } from "../parts/words.ts";
import { type CausePart, renderCause } from "./cause.ts";
import type { ErrorPlace, LogTail } from "./log-tail.ts";

const [BEFORE, AFTER] = [3, 2];
/** A text this short is read from its first line on. */
const SHORT = 12;

/** Why a build failed: the line that says it, and the lines around it. */
export function renderBuildCause(
  place: ErrorPlace | null,
  tails: readonly LogTail[],
  logHref: string,
  tools: Offer,
): Markup {
  const parts = place === null ? [] : findCause(place, tails);
  const hit = place?.lines.at(-1);
  const body =
    place === null || parts.length === 0
      ? renderEmpty({
          kind: "unknown",
          strong: "Not known.",
          say:
            tails.length === 0
              ? "The service sent no log with this build."
              : "No line of its log says what went wrong; the whole log is below.",
        })
      : html`${renderCause(parts)}
<p class="more"><a href="#${place.part.anchor}-${hit}">Line ${hit} of ${place.part.of}</a>, in the whole log
  below · <a href="${logHref}">the log as a text file</a></p>`;
  return renderBlock({ id: "why", title: "Why", tools, body });
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
