import { type SQL, sql } from "drizzle-orm";
import { counted, grouped } from "../../base/text.ts";
import { inline } from "../../report/relation.ts";
import { type Bound, renderBoundKey } from "../parts/charts/bound-bar.ts";
import { renderEmpty } from "../parts/empty.ts";
import { html } from "../parts/html.ts";
import { KNOWN_WITHIN } from "../parts/questions/known-times.ts";
import type { Row } from "../parts/row.ts";
import { type Markup, percent } from "../parts/words.ts";

const UNWATCHED = html`nobody looked between trigger and finish. <code>docmirror watch</code> looks each minute.`;
export const KEY = renderBoundKey("surely so long", "perhaps so long");

/** How many builds the figures are about, of all that finished; a command where those are few. */
export function renderKnown(known: number, finished: number): Markup {
  const share = known / finished;
  return html`<p class="note">Known to within ${KNOWN_WITHIN}: ${grouped(known)} of the ${counted(finished, "build")} that finished,
    ${percent(share)}.${share < 0.5 ? html` Of the others it is not known: ${UNWATCHED}` : ""}</p>`;
}

/** That no time is known, in one line. */
export function renderUnknown(finished: number): Markup {
  return renderEmpty({
    kind: "unknown",
    strong: "Not known.",
    say:
      finished === 0
        ? "No build of these days has finished."
        : html`The times of none of the ${counted(finished, "finished build")} are known to within ${KNOWN_WITHIN}: ${UNWATCHED}`,
  });
}

export const boundOf = (row: Row, name: string): Bound => ({
  least: Number(row[`${name}_least`]),
  most: Number(row[`${name}_most`]),
});

/** Both bounds of a time of builds that is known, as percentiles: the percentile of a bound is a bound of the percentile. */
export function percentiles(name: string, least: SQL, most: SQL, isKnown: SQL): SQL {
  const of = (bound: SQL, share: number) =>
    sql`percentile_cont(${inline(share)}) within group (order by ${bound}) filter (where ${isKnown})`;
  return sql.join(
    [["p50", 0.5] as const, ["p90", 0.9] as const].map(
      ([word, share]) =>
        sql`${of(least, share)} as ${sql.raw(`${name}_${word}_least`)},\n  ${of(most, share)} as ${sql.raw(`${name}_${word}_most`)}`,
    ),
    sql`,\n  `,
  );
}
