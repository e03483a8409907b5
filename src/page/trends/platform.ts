import { counted, grouped } from "../../base/text.ts";
import { ask, inline, onPage, pick, type Question, relation } from "../../report/ask.ts";
import { block, renderNoRows } from "../parts/block.ts";
import type { Count } from "../parts/changes.ts";
import { html, percent } from "../parts/html.ts";
import { mark, momentTag } from "../parts/marks.ts";
import { type Period, within } from "../parts/period.ts";
import { CHOSEN, LATE_DAYS, lateOf, momentWithin, plainOf, type TrendsScope } from "./trends-scope.ts";

const build = relation("fact_builds");
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
