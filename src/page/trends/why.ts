import { grouped } from "../../base/text.ts";
import { ask, type Question, relation } from "../../report/ask.ts";
import { block } from "../parts/block.ts";
import type { Markup } from "../parts/html.ts";
import { askForKinds } from "../parts/kinds.ts";
import { withQuery } from "../parts/links.ts";
import { renderKindRows } from "../parts/mini-bars.ts";
import { renderEmpty } from "../parts/notice.ts";
import { kindsOf, outcomesOf } from "../parts/outcomes.ts";
import { type Period, within } from "../parts/period.ts";
import { askForDays, CHOSEN, type TrendsScope } from "./trends-scope.ts";

const build = relation("fact_builds");

/** The kinds of error, day by day. */
export const why = block({
  id: "why",
  narrowedBy: CHOSEN,
  asks: (scope: TrendsScope) => ({ rows: askForKindsOf(scope), days: askForDays(scope) }),
  draw({ rows, days }, { period, choice, now }) {
    const kinds = kindsOf(rows, period);
    return {
      title: "Why builds fail",
      count: grouped(kinds.reduce((sum, kind) => sum + kind.now, 0)),
      body:
        kinds.length === 0
          ? renderNoFailures(outcomesOf(days, period)?.finished ?? 0)
          : renderKindRows({
              kinds,
              period,
              href: (kind) => withQuery("/errors", { since: choice.since, until: choice.until, kind }),
              now,
            }),
    };
  },
});

/** The failures of each day by class. */
export const askForKindsOf = ({ period, type }: TrendsScope): Question =>
  type === undefined ? askForKinds(period) : askForKindsOfType(period, type);

function askForKindsOfType({ start, last }: Period, type: string): Question {
  return ask("fact_builds")`
select ${build.triggered_on} as day, ${build.error_class}, count(*) as failures
from ${build}
where ${build.failed} = 1 and ${within(build.triggered_on, start, last)} and ${build.type} = ${type}
group by day, ${build.error_class}
order by day, ${build.error_class}`;
}

function renderNoFailures(finished: number): Markup {
  return finished === 0
    ? renderEmpty({ kind: "unknown", strong: "Not known.", say: "No build of these days has finished." })
    : renderEmpty({
        kind: "none",
        strong: "None failed.",
        say: `${grouped(finished)} builds of these days have finished.`,
      });
}
