import { type SQL, sql } from "drizzle-orm";
import { ask, askFor, inline, pick, relation, where } from "../../report/ask.ts";
import type { Asks, Found } from "../parts/answers.ts";
import { askForRising } from "../parts/changes.ts";
import type { PageMoment } from "../parts/freshness.ts";
import { askForHoursLookedAt, askForTroubleAt } from "../parts/incidents.ts";
import { DAY_MS, when } from "../parts/marks.ts";
import { isMine, type Mine } from "../parts/projects.ts";

const build = relation("fact_builds");
const failing = relation("failing_projects");
const open = relation("open_builds");
const streak = relation("streaks");
const byType = relation("success_rate_by_type");
const daily = relation("success_rate_daily");
const date = relation("dim_dates");
const project = relation("dim_projects");

/** The choices among the projects of `report.failing_projects`. */
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

/** The moment of the page, and the choice of the reader. */
export interface NowScope extends PageMoment {
  readonly choice: NowChoice;
  /** The maintainer whose projects are listed as failing. @default all */
  readonly mine?: Mine | undefined;
}

/** The choice as the links of the page keep it. */
export const keptBy = ({ choice: { show, why }, mine, day }: NowScope) => ({
  show,
  why,
  maintainer: mine?.maintainer,
  day: day?.text,
});

/** The series that failed at the end of a day, with the build that broke each. */
export const seriesOn = (day: string): SQL => sql`
  select fails.*, streak.is_main, streak.worked_before as worked, broke.error_line
  from report.failing_on(${day}::date) as fails
  join report.streaks as streak using (first_failed_build_id)
  left join report.fact_builds as broke on broke.build_id = fails.first_failed_build_id`;

/** `report.failing_projects`; of a past day the rows that it would have had at its end, in its order of what is worst. */
export const failingFrom = (day: NowScope["day"] | undefined): SQL =>
  day === undefined
    ? failing
    : sql`(
  select distinct on (project_id) fails.*, count(*) over project as failing, bool_or(is_main) over project as is_main_failing,
    bool_or(worked) over project as worked_before, max(failing_since) over project as newest_failing_since
  from (${seriesOn(day.text)}) as fails
  window project as (partition by project_id)
  order by project_id, is_main desc, worked desc, failing_since nulls last, version_slug, version_id, type, first_failed_build_id
) as failing_projects`;

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
  /** Ages count to it. */
  readonly now: Date;
  /** The span in words, such as "last 24 hours", and "in the last 24 hours"; and for a title, such as "last 24 h". */
  readonly words: string;
  readonly within: string;
  readonly short: string;
  readonly since: string;
  /** From when an age counts: "ago", or "before its end". */
  readonly ago: string;
  /** The moment of the failures: "now", "at 22 Nov 02:10", "at the end of 24 Nov". */
  readonly moment: string;
}

/** The 24 hours up to the last look; the last ones where it is new, or a day of the past. */
export function spanOf({ now, at, isNow, day }: PageMoment): NowSpan {
  const span = spanUntil(at, when(at.getTime(), now), now);
  const words = day?.name ?? "last 24 hours";
  if (isNow) return { ...span, words, within: `in the ${words}`, short: "last 24\u00a0h", moment: "now" };
  if (day === undefined) return span;
  const said = { within: `on ${words}`, ago: "before its end", moment: `at the end of ${words}` };
  return { ...span, ...said, words, short: words };
}

export function spanUntil(end: Date, endWords: string, now: Date): NowSpan {
  const words = `24 hours before ${endWords}`;
  return {
    now,
    words,
    within: `in the ${words}`,
    ago: "ago",
    short: "those 24\u00a0h",
    since: new Date(end.getTime() - DAY_MS).toISOString(),
    moment: `at ${endWords}`,
  };
}

/** Projects that broke on a day: so many times 24 hours ago. */
interface BrokeDay {
  readonly days_before: number;
  readonly broke: number;
  readonly had_worked: number;
  readonly still_failing: number;
}

/** The outcomes of the last 24 hours, or of the seven days before. */
interface RateRow {
  readonly is_last_day: boolean;
  readonly finished: number;
  readonly succeeded: number | null;
}

/** A day of `report.success_rate_daily`. */
export interface RateDay {
  readonly day: string;
  readonly finished: number | null;
  readonly succeeded: number | null;
  readonly success_rate: number | null;
}

/** The row of `report.arrivals`; its numbers are null where they are not known. */
export interface ArrivalsRow {
  readonly state: string;
  readonly reason: string | null;
  readonly looked_at: string | null;
  readonly last_build_id: string | null;
  readonly last_build_at: string | null;
  readonly gap_s: number | null;
  readonly longest_gap_s: number | null;
  readonly days_known: number | null;
  readonly usual_since: number | null;
  readonly fewest_since: number | null;
  readonly most_since: number | null;
  readonly builds_24h: number | null;
  readonly usual_24h: number | null;
  readonly fewest_24h: number | null;
}

/** The project that broke last. */
export interface NewestBreak {
  readonly project_slug: string;
  readonly newest_failing_since: string | null;
}

/** The questions of the verdict; blocks ask some of them too. */
export function askForVerdict(scope: NowScope) {
  const { now, today, ago, since } = momentsOf(scope);
  // Trouble of the platform is looked for in the last hours, or in all of a day.
  const hours = scope.day === undefined ? 3 : 23;
  const newest: Asks<NewestBreak> = ask`
select ${pick(failing, "project_slug", "newest_failing_since")}
from ${failingFrom(scope.day)}
order by ${failing.newest_failing_since} desc nulls last, ${pick(failing, "project_slug", "project_id")}
limit 1`;
  const broke: Asks<BrokeDay> = ask`
select floor(extract(epoch from ${now} - ${streak.broke_at}) / 86400)::int as days_before,
  count(distinct ${streak.project_id}) as broke,
  count(distinct ${streak.project_id}) filter (where ${streak.worked_before}) as had_worked,
  count(distinct ${streak.project_id}) filter (where ${streak.is_open} and not ${streak.is_deleted} or ${streak.recovered_at} > ${now}) as still_failing
from ${streak}
where ${since(streak.broke_at, "29 days")}
group by days_before
order by days_before`;
  const rates: Asks<RateRow> = ask`
select ${build.triggered_at} > ${ago("24 hours")} as is_last_day,
  count(${build.succeeded}) as finished, sum(${build.succeeded}) as succeeded
from ${build}
where ${build.triggered_on} >= (${ago("8 days")})::date
  and ${since(build.triggered_at, "8 days")}
group by is_last_day`;
  const days: Asks<RateDay> = ask`
select ${pick(daily, "day", "finished", "succeeded", "success_rate")}
from ${daily}
where ${daily.day} >= ${today} - ${inline(NINETY_DAYS)} and ${daily.day} < ${today}
order by ${daily.day}`;
  const arrivals: Asks<ArrivalsRow> | null = scope.day === undefined ? askFor("arrivals") : null;
  return {
    totals: askForTotals(),
    failing: askForFailing(scope),
    kinds: askForKinds(scope),
    openCounts: askForOpenCounts(scope),
    fixedCounts: askForFixedCounts(scope),
    rising: askForRising(scope.at),
    newest,
    broke,
    rates,
    days,
    before: askForFailingBefore(now),
    looked: askForHoursLookedAt(
      sql`${build.triggered_on} >= (${ago("24 hours")})::date and ${build.triggered_at} <= ${now}
    and ${build.triggered_at} >= date_trunc('hour', ${now}, 'UTC') - make_interval(hours => ${inline(hours)})`,
    ),
    trouble: askForTroubleAt(now, hours),
    arrivals,
  };
}

/** What is ordinary for a service is what it was in so many days. */
const NINETY_DAYS = 90;
/** The failing projects are counted at moments so many days apart. */
export const STEP_DAYS = 9;

/** Projects that had builds, and those of them that failed: now, and on average at ten moments of the ninety days before. */
export interface FailingBefore {
  readonly built: number;
  readonly failing: number;
  readonly moments: number;
  readonly built_now: number;
  readonly failing_now: number;
}

/** Projects that are gone are in none of the counts, and those without a build in none either. */
function askForFailingBefore(now: SQL): Asks<FailingBefore> {
  const total = relation("success_rate_by_project", "total");
  const isThere = sql`${project.project_id} <> '-1' and not ${project.is_deleted}`;
  return ask`
with built as materialized (
  select ${total.first_triggered_at} as since
  from ${total} join ${project} using (project_id)
  where ${isThere}
), failed as materialized (
  select ${streak.project_id}, ${streak.broke_at} as since, ${streak.recovered_at} as until
  from ${streak}
  where ${streak.project_id} in (select ${project.project_id} from ${project} where ${isThere})
    and (${streak.is_open} or ${streak.recovered_at} > ${now} - interval '90 days')
), counted as (
  select days, (select count(*) from built where coalesce(since <= at, true)) as built,
    (select count(distinct project_id) from failed where coalesce(since <= at, true) and coalesce(until > at, true)) as failing
  from generate_series(0, ${inline(NINETY_DAYS)}, ${inline(STEP_DAYS)}) as days
  cross join lateral (select ${now} - days * interval '1 day' as at) as moment
  where at > (select min(since) from built)
)
select avg(built) filter (where days > 0) as built, avg(failing) filter (where days > 0) as failing,
  count(*) filter (where days > 0) as moments, max(built) filter (where days = 0) as built_now,
  max(failing) filter (where days = 0) as failing_now
from counted`;
}

export type NowAnswers = Found<ReturnType<typeof askForVerdict>>;

/** The number of projects that fail of a kind, and of these in their main docs, after they had worked, and since 24 hours ago at most. */
export interface FailingKind {
  readonly error_class: string;
  readonly projects: number;
  readonly main: number;
  readonly worked: number;
  readonly lately: number;
}

/** The failing projects by kind of error; those of one maintainer where one is named. */
export function askForFailing(scope: NowScope, mine?: Mine): Asks<FailingKind> {
  const { ago } = momentsOf(scope);
  return ask`
select ${failing.error_class}, count(*) as projects,
  count(*) filter (where ${failing.is_main_failing}) as main,
  count(*) filter (where ${failing.worked_before}) as worked,
  count(*) filter (where ${failing.newest_failing_since} > ${ago("24 hours")}) as lately
from ${failingFrom(scope.day)}${where(isMine(failing.project_id, mine))}
group by ${failing.error_class}
order by projects desc, ${failing.error_class}`;
}

/** The failures of a kind in the 24 hours, and on a usual day. */
export interface KindCount {
  readonly error_class: string;
  readonly failures: number;
  readonly usual: number;
}

/** The failures of the 24 hours by kind, the most frequent first. */
export function askForKinds(scope: NowScope): Asks<KindCount> {
  const { ago, since } = momentsOf(scope);
  return ask`
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

/** The number of builds that are open, and of these stuck, and stuck since 24 hours ago at most; and the oldest stuck one. */
interface OpenCounts {
  readonly builds: number;
  readonly stuck: number;
  readonly lately: number;
  readonly oldest: string | null;
}

/** Null for a past day: nobody knows what was open then. */
export function askForOpenCounts(scope: NowScope): Asks<OpenCounts> | null {
  if (scope.day !== undefined) return null;
  const { ago } = momentsOf(scope);
  return ask`
select count(*) as builds,
  count(*) filter (where ${open.outcome} = 'stuck') as stuck,
  count(*) filter (where ${open.outcome} = 'stuck' and ${open.triggered_at} > ${ago("24 hours")}) as lately,
  min(${open.triggered_at}) filter (where ${open.outcome} = 'stuck') as oldest
from ${open}`;
}

/** The fixes of the 24 hours. */
interface FixedCounts {
  readonly series: number;
  readonly projects: number;
}

export function askForFixedCounts(scope: NowScope): Asks<FixedCounts> {
  const { since } = momentsOf(scope);
  return ask`
select count(*) as series, count(distinct ${streak.project_id}) as projects
from ${streak}
where ${since(streak.recovered_at, "24 hours")}`;
}

/** All that there is to judge: projects, finished builds of all time, the first day with a build. */
export interface Totals {
  readonly projects: number;
  readonly finished: number | null;
  readonly first_day: string | null;
}

export const askForTotals = (): Asks<Totals> => ask`
select (select count(*) from ${project} where not ${project.is_deleted} and ${project.project_id} <> '-1') as projects,
  (select sum(${byType.finished}) from ${byType}) as finished,
  (select min(${date.day}) from ${date}) as first_day`;
