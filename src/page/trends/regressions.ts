import { grouped } from "../../base/text.ts";
import { askFor, onPage } from "../../report/ask.ts";
import { inline } from "../../report/relation.ts";
import { block } from "../parts/block.ts";
import { renderEmpty } from "../parts/empty.ts";
import { html } from "../parts/html.ts";
import { icon } from "../parts/icon.ts";
import { buildLink, projectLink } from "../parts/record-links.ts";
import type { Row } from "../parts/row.ts";
import type { Markup } from "../parts/words.ts";
import { points } from "./compare.ts";
import type { TrendsScope } from "./trends-scope.ts";

const SHOWN = 5;

/** Projects that got worse lately. */
export const regressions = block({
  id: "regressions",
  narrowedBy: {},
  asks: (_: TrendsScope) => ({
    rows: askFor("regressions", {}, [], onPage`\nlimit ${inline(SHOWN)}`),
  }),
  draw({ rows }) {
    return {
      title: "Projects that got worse",
      note: "The last 7 days against the 28 before, whatever dates are chosen; projects with 20 finished builds or more in both.",
      body:
        rows.length === 0
          ? renderEmpty({
              kind: "unknown",
              strong: "None is known.",
              say: "No project with that many builds has a rate that is surely lower. Of those with fewer this says nothing.",
            })
          : html`<ul class="rows">${rows.map(
              (row) =>
                html`<li>${projectLink(row.project_slug)}
                <span class="n"><span class="delta bad">${icon("down")}<span class="unseen">down </span>
                ${points(Number(row.difference)).replace("−", "")} points</span></span>
                <small>${grouped(Number(row.succeeded_last_7_days))} of
                ${grouped(Number(row.finished_last_7_days))} succeeded,
                ${grouped(Number(row.succeeded_28_days_before))} of
                ${grouped(Number(row.finished_28_days_before))} before: surely
                ${points(-Number(row.difference_high)).replace("+", "")} points or more${lastFailed(row)}</small></li>`,
            )}</ul>`,
    };
  },
});

const lastFailed = ({ last_failed_build_id: id }: Row): Markup | string =>
  id === null ? "" : html` · last ${buildLink(id)}`;
