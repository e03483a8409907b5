import { sql } from "drizzle-orm";
import { counted, grouped } from "../../base/text.ts";
import { ask, onPage } from "../../report/ask.ts";
import { inline, pick, relation, where } from "../../report/relation.ts";
import { block } from "../parts/block.ts";
import { renderEmpty } from "../parts/empty.ts";
import { html } from "../parts/html.ts";
import { projectLink, targetTag } from "../parts/record-links.ts";
import type { TrendsScope } from "./trends-scope.ts";

const series = relation("flaky_series");
const SHOWN = 5;

/** Versions and formats whose results change more often than chance explains. */
export const flaky = block({
  id: "flaky",
  narrowedBy: { type: null },
  asks: (scope: TrendsScope) => ({
    rows: ask("flaky_series")`
select ${pick(series, "project_slug", "version_slug", "type", "finished", "flips", "flip_rate_by_chance", "p_value_adjusted")}${onPage`,
  count(*) over () as series`}
from ${series}${where(scope.type !== undefined && sql`${series.type} = ${scope.type}`)}
order by ${series.p_value}, ${series.finished} desc, ${pick(series, "project_slug", "version_slug", "type")}${onPage`\nlimit ${inline(SHOWN)}`}`,
  }),
  draw({ rows }) {
    const all = Number(rows[0]?.series ?? 0);
    return {
      title: "Flaky",
      ...(all > 0 && { count: grouped(all) }),
      note: "Of the last 20 results of each, whatever dates are chosen: those that change between success and failure more often than random order would.",
      body:
        rows.length === 0
          ? renderEmpty({
              kind: "unknown",
              strong: "None stands out.",
              say: "No version and format changes so often that chance is an unlikely reason. With few builds nothing could.",
            })
          : html`<ul class="rows">${rows.map((row) => {
              const chance = Number(row.flip_rate_by_chance) * (Number(row.finished) - 1);
              return html`<li><span>${projectLink(row.project_slug)} ${targetTag(row)}</span>
              <span class="n">${counted(Number(row.flips), "change")}</span>
              <small>in ${grouped(Number(row.finished))} builds; ${grouped(Math.round(chance))} would be
              chance</small></li>`;
            })}</ul>${all > rows.length ? html`<p class="more">${grouped(all - rows.length)} more in the file.</p>` : ""}`,
    };
  },
});
