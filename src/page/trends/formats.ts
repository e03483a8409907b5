import { sql } from "drizzle-orm";
import { ask, askFor, type Question, relation } from "../../report/ask.ts";
import type { Row } from "../parts/answers.ts";
import { block } from "../parts/block.ts";
import { type Count, rateDot } from "../parts/changes.ts";
import { foreign, html, wholePercent } from "../parts/html.ts";
import { withQuery } from "../parts/links.ts";
import { dateOf, daysName, within } from "../parts/period.ts";
import { type Column, renderListTable } from "../parts/tables.ts";
import { rateChange } from "./compare.ts";
import { CHOSEN, type TrendsScope } from "./trends-scope.ts";

const build = relation("fact_builds");

/** The rate of each format, against the period before; of all time for a long period. */
export const formats = block({
  id: "formats",
  narrowedBy: CHOSEN,
  asks: (scope: TrendsScope) => ({ rows: askForFormats(scope) }),
  draw({ rows }, scope) {
    const { period, now, choice } = scope;
    const about = formatsAbout(scope);
    const isAllTime = about === "all time";
    const countOf = (row: Row, which = ""): Count => ({
      succeeded: Number(row[`succeeded${which}`] ?? 0),
      finished: Number(row[`finished${which}`] ?? 0),
    });
    const columns: Column[] = [
      {
        head: "Format",
        isName: true,
        cell: ({ type }) =>
          type === "(none)"
            ? "not known"
            : html`<a href="${withQuery("/trends", { since: choice.since, until: choice.until, type: String(type) })}">${foreign(String(type), 24)}</a>`,
      },
      {
        head: isAllTime ? "Succeeded, of all time" : `Succeeded, ${daysName(period, now)}`,
        isWide: true,
        cell: (row) => rateDot(countOf(row).succeeded, countOf(row).finished),
      },
      ...(about === "both periods"
        ? [
            {
              head: "Before",
              isNumber: true,
              label: "before",
              cell: (row: Row) => {
                const { succeeded, finished } = countOf(row, "_before");
                return finished === 0 ? "–" : wholePercent(succeeded / finished);
              },
            },
            { head: "Change", cell: (row: Row) => rateChange(countOf(row), countOf(row, "_before"), false) },
          ]
        : []),
    ];
    const shown = rows.filter((row) => countOf(row).finished > 0 || countOf(row, "_before").finished > 0);
    return {
      title: "By format",
      ...(isAllTime && { note: "Of all time: these figures ignore the dates, because the period is long." }),
      empty: shown.length === 0 && ["unknown", "Not known.", "No build of this period has finished."],
      body: renderListTable({ caption: "Success by format", columns, rows: shown }),
    };
  },
});

/**
 * What the rates of the formats are about. For more than 14 days nothing before is counted, and for more than 31 days,
 * or beside the builds of one format, they are those of all time.
 */
function formatsAbout({ period, type }: TrendsScope): "both periods" | "the period" | "all time" {
  if (period.days <= 14) return period.before === null ? "the period" : "both periods";
  return period.days <= 31 && type === undefined ? "the period" : "all time";
}

function askForFormats(scope: TrendsScope): Question {
  const about = formatsAbout(scope);
  if (about === "all time") return askFor("success_rate_by_type");
  const { start, first, last } = scope.period;
  const of = sql`filter (where ${build.triggered_on} >= ${dateOf(first)})`;
  const before = sql`filter (where ${build.triggered_on} < ${dateOf(first)})`;
  return ask("fact_builds")`
select ${build.type},
  count(${build.succeeded}) ${of} as finished,
  sum(${build.succeeded}) ${of} as succeeded,
  count(${build.succeeded}) ${before} as finished_before,
  sum(${build.succeeded}) ${before} as succeeded_before
from ${build}
where ${within(build.triggered_on, about === "both periods" ? start : first, last)}
group by ${build.type}
order by finished desc, ${build.type}`;
}
