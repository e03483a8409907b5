import { type SQL, sql } from "drizzle-orm";
import { askFor, inline, relation, where } from "../../report/ask.ts";
import { type Asks, type Found, piece, questionsOf } from "../parts/answers.ts";
import { askForRising } from "../parts/changes.ts";
import type { PageMoment } from "../parts/freshness.ts";
import { askForHoursLookedAt, askForTroubleAt } from "../parts/incidents.ts";
import { DAY_MS, when } from "../parts/marks.ts";
import { isMine, type Mine } from "../parts/projects.ts";

const failing = relation("failing_projects");

/** The choices among the projects of `report.failing_projects`. */
export const SHOWN = {
  main: { label: "Main docs", condition: failing.is_main_failing },
  worked: { label: "Worked before", condition: failing.worked_before },
  never: { label: "Failing versions never worked", condition: sql`not ${failing.worked_before}` },
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

const SERIES_ON = piece("failing_series_on", import.meta.url);
const PROJECTS_ON = piece("failing_projects_on", import.meta.url);

/** The series that failed at the end of a day, with the build that broke each. */
export const seriesOn = (day: string): SQL => SERIES_ON({ day });

/** `report.failing_projects`; of a past day the rows that it would have had at its end, in its order of what is worst. */
export const failingFrom = (day: NowScope["day"] | undefined): SQL =>
  day === undefined ? failing : PROJECTS_ON({ series: seriesOn(day.text) });

export const nowQuestion = questionsOf(import.meta.url, ({ now, at, day }: NowScope) => ({
  now: at.toISOString(),
  today: at.toISOString().slice(0, 10),
  failing: failingFrom(day),
  // What is deleted by then fails no more. Of the present nothing deleted does.
  existsUntil: day ? now.toISOString() : "infinity",
  stepDays: inline(STEP_DAYS),
}));

/** The 24 hours that the page is about. */
export interface NowSpan {
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
  const span = spanUntil(at, when(at, now));
  const words = day?.name ?? "last 24 hours";
  if (isNow) return { ...span, words, within: `in the ${words}`, short: "last 24\u00a0h", moment: "now" };
  if (day === undefined) return span;
  const said = { within: `on ${words}`, ago: "before its end", moment: `at the end of ${words}` };
  return { ...span, ...said, words, short: words };
}

export function spanUntil(end: Date, endWords: string): NowSpan {
  const words = `24 hours before ${endWords}`;
  return {
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

/** What was known at moments of the ninety days before, ten at most, on average over these. */
export interface FailingBefore {
  readonly moments: number;
  /** Projects that had builds. */
  readonly built: number;
  /** Those of them that failed. */
  readonly failing: number;
  /** Those of them that fail now, by the series that had builds then. */
  readonly failing_known: number;
  /** The same two of now, by all that is known. */
  readonly built_now: number;
  readonly failing_now: number;
  /** The number that failed 24 hours before, of what existed at the moment of the page. */
  readonly failing_day_ago: number;
}

/** The failing projects are counted at moments so many days apart. */
export const STEP_DAYS = 9;

const askForNewest = nowQuestion<NewestBreak>("newest_break");
const askForBreaks = nowQuestion<BrokeDay>("breaks_by_day");
const askForRates = nowQuestion<RateRow>("rates_of_week");
/** What is ordinary for a service is what it was in so many days. */
const askForDays = nowQuestion<RateDay>("rates_of_ninety_days");
/** Projects that are gone are in none of the counts, and those without a build in none either. */
const askForBefore = nowQuestion<FailingBefore>("failing_before");

/** The questions of the verdict; blocks ask some of them too. */
export function askForVerdict(scope: NowScope) {
  const now = scope.at.toISOString();
  // Trouble of the platform is looked for in the last hours, or in all of a day.
  const hours = scope.day === undefined ? 3 : 23;
  const arrivals: Asks<ArrivalsRow> | null = scope.day === undefined ? askFor("arrivals") : null;
  return {
    totals: askForTotals(scope),
    failing: askForFailing(scope),
    kinds: askForKinds(scope),
    openCounts: askForOpenCounts(scope),
    fixedCounts: askForFixedCounts(scope),
    rising: askForRising(scope.at),
    newest: askForNewest(scope),
    broke: askForBreaks(scope),
    rates: askForRates(scope),
    days: askForDays(scope),
    before: askForBefore(scope),
    looked: askForHoursLookedAt(
      sql`triggered_on >= (${now}::timestamptz - interval '24 hours')::date and triggered_at <= ${now}::timestamptz
    and triggered_at >= date_trunc('hour', ${now}::timestamptz, 'UTC') - make_interval(hours => ${inline(hours)})`,
    ),
    trouble: askForTroubleAt(now, hours),
    arrivals,
  };
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

const FAILING_KINDS = nowQuestion<FailingKind>("failing_by_kind");

/** The failing projects by kind of error; those of one maintainer where one is named. */
export const askForFailing = (scope: NowScope, mine?: Mine): Asks<FailingKind> =>
  FAILING_KINDS(scope, { isMine: where(isMine(failing.project_id, mine)) });

/** The failures of a kind in the 24 hours, and on a usual day; and their share of the failures of the days before, null where these were fewer than five. */
export interface KindCount {
  readonly error_class: string;
  readonly failures: number;
  readonly usual: number;
  readonly usual_share: number | null;
}

/** The failures of the 24 hours by kind, the most frequent first. */
export const askForKinds = nowQuestion<KindCount>("failures_by_kind");

/** The number of builds that are open, and of these stuck, and stuck since 24 hours ago at most; and the oldest stuck one. */
interface OpenCounts {
  readonly builds: number;
  readonly stuck: number;
  readonly lately: number;
  readonly oldest: string | null;
}

const OPEN_COUNTS = nowQuestion<OpenCounts>("open_counts");

/** Null for a past day: nobody knows what was open then. */
export const askForOpenCounts = (scope: NowScope): Asks<OpenCounts> | null =>
  scope.day === undefined ? OPEN_COUNTS(scope) : null;

/** The fixes of the 24 hours. */
interface FixedCounts {
  readonly series: number;
  readonly projects: number;
}

export const askForFixedCounts = nowQuestion<FixedCounts>("fix_counts");

/** All that there is to judge: projects, finished builds of all time, the first day with a build. */
export interface Totals {
  readonly projects: number;
  readonly finished: number | null;
  readonly first_day: string | null;
}

export const askForTotals = nowQuestion<Totals>("service_totals");
