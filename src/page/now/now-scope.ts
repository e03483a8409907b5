import { type SQL, sql } from "drizzle-orm";
import { ask, askFor, pick, type Question, relation, where } from "../../report/ask.ts";
import type { Row } from "../parts/block.ts";
import { DAY_MS, when } from "../parts/marks.ts";
import type { PageMoment } from "../parts/page-moment.ts";
import { isMine, type Mine } from "../parts/projects.ts";
import { askForRising } from "../parts/rising.ts";

const build = relation("fact_builds");
const failing = relation("failing_projects");
const open = relation("open_builds");
const streak = relation("recoveries");
const byType = relation("success_rate_by_type");
const daily = relation("success_rate_daily");
const date = relation("dim_dates");
const incident = relation("incident_hours");
const project = relation("dim_projects");

/** Which projects of `report.failing_projects` are listed. */
export const SHOWN = {
  main: { label: "Main docs", condition: failing.is_main_failing },
  worked: { label: "Worked before", condition: failing.worked_before },
  never: { label: "Never succeeded", condition: sql`not ${failing.worked_before}` },
} as const;

export type Shown = keyof typeof SHOWN;

export interface NowChoice {
  readonly show: Shown | undefined;
  /** An error class. */
  readonly why: string | undefined;
  readonly page: number;
}

/** What the blocks of now are about. */
export interface NowScope extends PageMoment {
  readonly choice: NowChoice;
  /** Whose projects are listed as failing. @default all */
  readonly mine?: Mine | undefined;
}

/** Moments of the SQL, from the one that the page speaks of: it, its day, `ago` before it, that a column is `since` then. */
export function momentsOf({ at }: Pick<NowScope, "at">) {
  const now = sql`${at.toISOString()}::timestamptz`;
  const ago = (span: string): SQL => sql`${now} - interval ${sql.raw(`'${span}'`)}`;
  return {
    now,
    today: sql`${at.toISOString().slice(0, 10)}::date`,
    ago,
    since: (column: SQL, span: string): SQL => sql`${column} > ${ago(span)} and ${column} <= ${now}`,
  };
}

/** The 24 hours that the page is about. */
export interface NowSpan {
  readonly now: Date;
  /** The span in words, such as "last 24 hours"; and for a title, such as "last 24 h". */
  readonly words: string;
  readonly short: string;
  readonly since: string;
  /** When it ends, such as "22 Nov 02:10". */
  readonly endWords: string;
}

/** The 24 hours up to the last look; the last ones where it is new. */
export function spanOf({ now, at, isNow }: PageMoment): NowSpan {
  const span = spanUntil(at, when(at.getTime(), now), now);
  return isNow ? { ...span, words: "last 24 hours", short: "last 24\u00a0h" } : span;
}

export function spanUntil(end: Date, endWords: string, now: Date): NowSpan {
  return {
    now,
    words: `24 hours before ${endWords}`,
    short: "those 24\u00a0h",
    since: new Date(end.getTime() - DAY_MS).toISOString(),
    endWords,
  };
}

/** What the verdict asks; blocks ask some of it too. */
export function askForVerdict(scope: NowScope) {
  const { now, today, ago, since } = momentsOf(scope);
  return {
    totals: askForTotals(),
    failing: askForFailing(scope),
    kinds: askForKinds(scope),
    openCounts: askForOpenCounts(scope),
    fixedCounts: askForFixedCounts(scope),
    rising: askForRising(scope.at),
    arrivals: askFor("arrivals"),
    newest: askFor("failing_projects", { limit: 1 }),
    broke: ask("recoveries")`
select floor(extract(epoch from ${now} - ${streak.broke_at}) / 86400)::int as days_before,
  count(distinct ${streak.project_id}) as broke,
  count(distinct ${streak.project_id}) filter (where ${streak.is_open}) as still_failing
from ${streak}
where ${since(streak.broke_at, "29 days")}
group by days_before
order by days_before`,
    rates: ask("fact_builds")`
select ${build.triggered_at} > ${ago("24 hours")} as is_last_day,
  count(${build.succeeded}) as finished, sum(${build.succeeded}) as succeeded
from ${build}
where ${build.triggered_on} >= (${ago("8 days")})::date
  and ${since(build.triggered_at, "8 days")}
group by is_last_day`,
    days: ask("success_rate_daily")`
select ${pick(daily, "day", "finished", "succeeded", "success_rate")}
from ${daily}
where ${daily.day} > ${today} - 31 and ${daily.day} <= ${today}
order by ${daily.day}`,
    hours: ask("incident_hours")`
select count(*) as looked_at
from (
  select date_trunc('hour', ${build.triggered_at})
  from ${build}
  where ${build.succeeded} is not null and ${build.project_id} <> '-1'
    and ${build.triggered_on} >= (${ago("4 hours")})::date
    and ${build.triggered_at} >= date_trunc('hour', ${now}) - interval '3 hours' and ${build.triggered_at} <= ${now}
  group by 1
  having count(distinct ${build.project_id}) >= 8
) as hour`,
    incidents: ask("incident_hours")`
select ${pick(incident, "hour", "projects", "projects_failing", "projects_expected")}
from ${incident}
where ${incident.hour} >= date_trunc('hour', ${now}) - interval '3 hours' and ${incident.hour} <= ${now}
order by ${incident.hour} desc
limit 1`,
  };
}

export type NowAnswers = Readonly<Record<keyof ReturnType<typeof askForVerdict>, readonly Row[]>>;

/** What fails, by class of error; of one maintainer where one is named. */
export function askForFailing(scope: NowScope, mine?: Mine): Question {
  const { ago } = momentsOf(scope);
  return ask("failing_projects")`
select ${failing.error_class}, count(*) as projects,
  count(*) filter (where ${failing.is_main_failing}) as main,
  count(*) filter (where ${failing.worked_before}) as worked,
  count(*) filter (where ${failing.newest_failing_since} > ${ago("24 hours")}) as lately
from ${failing}${where(isMine(failing.project_id, mine))}
group by ${failing.error_class}
order by projects desc, ${failing.error_class}`;
}

/** Why builds failed, with how often it is so on a usual day. */
export function askForKinds(scope: NowScope): Question {
  const { ago, since } = momentsOf(scope);
  return ask("fact_builds")`
select ${build.error_class},
  count(*) filter (where ${build.triggered_at} > ${ago("24 hours")}) as failures,
  count(*) filter (where ${build.triggered_at} <= ${ago("24 hours")}) / 28.0 as usual
from ${build}
where ${build.failed} = 1
  and ${build.triggered_on} >= (${ago("29 days")})::date
  and ${since(build.triggered_at, "29 days")}
group by ${build.error_class}
having count(*) filter (where ${build.triggered_at} > ${ago("24 hours")}) > 0
order by failures desc, usual desc, ${build.error_class}`;
}

/** How many builds are open. */
export function askForOpenCounts(scope: NowScope): Question {
  const { ago } = momentsOf(scope);
  return ask("open_builds")`
select count(*) as builds,
  count(*) filter (where ${open.outcome} = 'stuck') as stuck,
  count(*) filter (where ${open.outcome} = 'stuck' and ${open.triggered_at} > ${ago("24 hours")}) as lately,
  min(${open.triggered_at}) filter (where ${open.outcome} = 'stuck') as oldest
from ${open}`;
}

/** How much was fixed. */
export function askForFixedCounts(scope: NowScope): Question {
  const { since } = momentsOf(scope);
  return ask("recoveries")`
select count(*) as series, count(distinct ${streak.project_id}) as projects
from ${streak}
where ${since(streak.recovered_at, "24 hours")}`;
}

/** How much there is to judge: projects, finished builds of all time, the first day with a build. */
export const askForTotals = (): Question => ask("freshness")`
select (select count(*) from ${project} where not ${project.is_deleted} and ${project.project_id} <> '-1') as projects,
  (select sum(${byType.finished}) from ${byType}) as finished,
  (select min(${date.day}) from ${date}) as first_day`;
