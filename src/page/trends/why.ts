import { grouped } from "../../base/text.ts";
import { ask, type Question, relation } from "../../report/ask.ts";
import { block } from "../parts/block.ts";
import { askForKinds } from "../parts/kinds.ts";
import { withQuery } from "../parts/links.ts";
import { renderKindRows } from "../parts/mini-bars.ts";
import { kindsOf, noFailures, outcomesOf } from "../parts/outcomes.ts";
import { within } from "../parts/period.ts";
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
      empty: kinds.length === 0 && noFailures(outcomesOf(days, period)?.finished ?? 0),
      body: renderKindRows({
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
  type === undefined
    ? askForKinds(period)
    : ask("fact_builds")`
select ${build.triggered_on} as day, ${build.error_class}, count(*) as failures
from ${build}
where ${build.failed} = 1 and ${within(build.triggered_on, period.start, period.last)} and ${build.type} = ${type}
group by day, ${build.error_class}
order by day, ${build.error_class}`;
