import { sql } from "drizzle-orm";
import { counted, grouped } from "../../base/text.ts";
import { ask, askFor, inline, onPage, pick, type Question, relation } from "../../report/ask.ts";
import type { Row } from "../parts/answers.ts";
import { block, renderNoRows } from "../parts/block.ts";
import { type Count, rateDot } from "../parts/changes.ts";
import { foreign, html, percent, wholePercent } from "../parts/html.ts";
import { askForKinds } from "../parts/kinds.ts";
import { withQuery } from "../parts/links.ts";
import { mark, momentTag } from "../parts/marks.ts";
import { renderKindRows } from "../parts/mini-bars.ts";
import { kindsOf, noFailures, outcomesOf } from "../parts/outcomes.ts";
import { dateOf, daysName, type Period, within } from "../parts/period.ts";
import { type Column, renderListTable } from "../parts/tables.ts";
import { rateChange } from "./compare.ts";
import {
  askForDays,
  CHOSEN,
  LATE_DAYS,
  lateOf,
  momentWithin,
  plainOf,
  type TrendsScope,
} from "./trends-scope.ts";

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

const incident = relation("incident_hours");
const SHOWN = 5;

/** Hours in which far more projects failed than usual, and the rate without them. Of one format the period is shorter at most. */
export const platform = block({
  id: "platform",
  narrowedBy: CHOSEN,
  asks: (scope: TrendsScope) => ({
    rows: askForIncidents(scope),
    looked: askForHours(scope.period),
    plain: ask("success_rate_without_platform")`${plainOf(scope.period)}`,
  }),
  draw({ rows, looked, plain }, { period, type, now }) {
    const row = plain.find(({ is_this_period }) => is_this_period === true);
    const count = (which: string): Count => ({
      succeeded: Number(row?.[`succeeded${which}`] ?? 0),
      finished: Number(row?.[`finished${which}`] ?? 0),
    });
    const [all, kept] = [count(""), count("_without_platform")];
    const lookedAt = Number(looked[0]?.looked_at ?? 0);
    const hours = Number(rows[0]?.hours ?? 0);
    const late = Math.min(period.days, LATE_DAYS);
    const of = late < period.days ? `the last ${late} days` : "these days";
    const left = all.finished - kept.finished;
    const empty = () =>
      lookedAt === 0
        ? renderNoRows(
            "unknown",
            "Not known.",
            `In no hour of ${of} did eight projects or more build, which it takes to tell.`,
          )
        : renderNoRows(
            "none",
            "None found.",
            `In ${grouped(lookedAt)} of the ${grouped(late * 24)} hours of ${of} enough projects built to tell, ` +
              "and in none of the period did far more of them fail than usual.",
          );
    const found = html`<ul class="rows">${rows.map(
      (row) =>
        html`<li><span>${mark("bad", "trouble")} ${momentTag(row.hour, now)}</span>
              <span class="n">${grouped(Number(row.projects_failing))} of
              ${counted(Number(row.projects), "project")} failed</span>
              <small>${usualWords(Number(row.projects_expected))} would be usual</small></li>`,
    )}</ul>${hours > rows.length ? html`<p class="more">${counted(hours - rows.length, "more hour")} in the file.</p>` : ""}`;
    const rate = ({ succeeded, finished }: Count) => percent(succeeded / finished);
    const without =
      left === 0
        ? html`<p class="more">Of ${counted(all.finished, "finished build")} none failed of an error that is the platform's own.</p>`
        : html`<p class="more">Without ${hours > 0 ? "such hours and " : ""}the platform's own errors,
        ${counted(left, "build")} fewer, <b>${rate(kept)}</b>
        succeeded, with them ${rate(all)}.</p>`;
    return {
      title: "Trouble of the platform",
      ...(hours > 0 && { count: counted(hours, "hour") }),
      ...(type !== undefined && { note: "Of all formats: these figures ignore the format." }),
      body: html`${hours === 0 ? empty() : found}
${kept.finished === 0 ? "" : without}`,
    };
  },
});

export const askForIncidents = ({ period }: TrendsScope): Question => ask("incident_hours")`
select ${pick(incident, "hour", "projects", "projects_failing", "projects_expected")}${onPage`, count(*) over () as hours`}
from ${incident}
where ${momentWithin(incident.hour, period.first, period.last)}
order by ${incident.hour} desc${onPage`\nlimit ${inline(SHOWN)}`}`;

const askForHours = (period: Period): Question => ask("incident_hours")`
select count(*) as looked_at
from (
  select date_trunc('hour', ${build.triggered_at})
  from ${build}
  where ${build.succeeded} is not null and ${build.project_id} <> '-1'
    and ${within(build.triggered_on, lateOf(period).first, period.last)}
  group by 1
  having count(distinct ${build.project_id}) >= 8
) as hour`;

const usualWords = (projects: number): string =>
  projects < 1 ? "fewer than one" : grouped(Math.round(projects));
