import { counted, grouped } from "../../base/text.ts";
import { ask, askFor, pick, relation } from "../../report/ask.ts";
import { DAY_MS, dayWords, momentMs } from "../parts/age.ts";
import { part, type Row } from "../parts/block.ts";
import { differenceOf, renderPoints } from "../parts/changes.ts";
import { foreign, html, type Markup, percent, slugWords, wholePercent } from "../parts/html.ts";
import { buildHref, projectHref, withQuery } from "../parts/links.ts";
import { askForRising, linesHref, readRising } from "../parts/rising.ts";
import { renderFigures, renderVerdict, type VerdictLook } from "../parts/verdict.ts";
import { longSpan, readArrivals, sinceWords } from "./arrivals-verdict.ts";
import {
  askForFailing,
  askForFixedCounts,
  askForKinds,
  askForOpenCounts,
  askForTotals,
  momentsOf,
  type NowScope,
  type NowSpan,
  spanOf,
  spanUntil,
} from "./now-scope.ts";
import { judge, type NowVerdict, type NowVerdictFacts, type VerdictKind } from "./verdict.ts";

const build = relation("fact_builds");
const daily = relation("success_rate_daily");
const incident = relation("incident_hours");
const streak = relation("recoveries");

const PATH = "/";

/** What the verdict says to the blocks. */
export interface NowSaid {
  readonly verdict: NowVerdict;
  readonly facts: NowVerdictFacts;
  readonly bar: Markup;
  /** Whether nothing was built since the end of `of`. */
  readonly isQuiet: boolean;
  readonly of: NowSpan;
}

/** What is broken, and whether that is usual, with the figures of the page. */
export const nowVerdict = part({
  asks: askForVerdict,
  draw(answers, scope): NowSaid {
    const facts = readVerdictFacts(answers, scope);
    const verdict = judge(facts);
    const { arrivals } = facts;
    const isQuiet = verdict.kind === "quiet";
    const last = () => spanUntil(new Date(arrivals.lastBuildAt), sinceWords(arrivals, scope.now), scope.now);
    const bar = renderNowVerdict(verdict, facts, answers, scope);
    return { verdict, facts, bar, isQuiet, of: isQuiet ? last() : spanOf(scope) };
  },
});

function askForVerdict(scope: NowScope) {
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

type NowAnswers = Readonly<Record<keyof ReturnType<typeof askForVerdict>, readonly Row[]>>;

/** Red is for more than usual. A day like the others is amber or plain, however much fails. */
const LOOKS: Readonly<Record<VerdictKind, VerdictLook>> = {
  unknown: "idle",
  stale: "warn",
  quiet: "bad",
  platform: "bad",
  rising: "some",
  nothing: "idle",
  many: "bad",
  few: "warn",
  some: "known",
  failing: "flat",
  none: "good",
};

function renderNowVerdict(
  { kind, sentence, evidence }: NowVerdict,
  facts: NowVerdictFacts,
  answers: NowAnswers,
  moment: NowScope,
): Markup {
  return renderVerdict({
    look: LOOKS[kind],
    sentence: withNewest(sentence, facts),
    evidence: withNewest(evidence, facts),
    ...(kind === "quiet" && {
      mark: { kind: "alarm", word: "Builds stopped arriving" } as const,
      acts: renderQuietActs(facts),
    }),
    ...(kind === "rising" && {
      mark: { kind: "rises", word: "An error rises" } as const,
      acts: renderRisingActs(facts),
    }),
    figures: kind === "quiet" ? renderQuietFigures(facts, answers) : renderNowFigures(facts, answers, moment),
  });
}

function renderRisingActs({ rising: [first], at }: NowVerdictFacts): Markup {
  if (first === undefined) return html``;
  return html`<a href="${linesHref({ line: first.id }, at)}">The ${counted(first.projects, "project")}</a>
    <a href="${buildHref(first.firstBuild)}">The first of them, build ${foreign(first.firstBuild, 24)}</a>
    <a href="/errors">All that rises</a>`;
}

function withNewest(text: string, { newest }: NowVerdictFacts): Markup {
  const [before = "", after] = text.split("{newest}");
  if (after === undefined || newest === null) return html`${before}`;
  return html`${before}<a href="${projectHref(newest.slug)}">${slugWords(newest.slug)}</a>${after}`;
}

function renderNowFigures(facts: NowVerdictFacts, answers: NowAnswers, moment: NowScope): Markup {
  const countOf = (isLastDay: boolean) => {
    const row = answers.rates.find(({ is_last_day }) => is_last_day === isLastDay);
    return { succeeded: Number(row?.succeeded ?? 0), finished: Number(row?.finished ?? 0) };
  };
  const [last, before] = [countOf(true), countOf(false)];
  const difference = differenceOf(last, before);
  const days = answers.days.map(({ day, success_rate }) => ({
    day: String(day),
    rate: success_rate === null ? null : Number(success_rate),
  }));
  const finished = answers.days.reduce((sum, day) => sum + Number(day.finished ?? 0), 0);
  const succeeded = answers.days.reduce((sum, day) => sum + Number(day.succeeded ?? 0), 0);
  const open = answers.openCounts[0];
  const [fixed] = answers.fixedCounts;
  const main = answers.failing.reduce((sum, row) => sum + Number(row.main), 0);
  const isNow = moment.at.getTime() === moment.now.getTime();
  const span = isNow ? "last 24 hours" : "those 24 hours";
  return renderFigures([
    {
      label: "Succeeded",
      labelRest: `, ${span}`,
      value: last.finished === 0 ? "–" : percent(last.succeeded / last.finished),
      unit: last.finished === 0 ? "none finished" : `of ${counted(last.finished, "build")}`,
      note:
        difference === null
          ? "nothing to compare it with"
          : html`${renderPoints(difference)} <span class="gone">on the 7 days before${difference.isChance ? ":\u00a0" : ""}</span>
            ${difference.isChance ? "within chance" : ""}`,
      spark: drawSpark(days, finished === 0 ? null : succeeded / finished, moment.now),
    },
    {
      label: "Failing",
      labelRest: isNow ? " now" : " then",
      value: grouped(facts.failing),
      unit: `of ${counted(facts.projects, "project")}`,
      note: html`<a href="${withQuery(PATH, { show: "main" })}#failing">${grouped(main)} in their main docs</a>`,
    },
    {
      label: "Fixed",
      labelRest: `, ${span}`,
      value: grouped(Number(fixed?.projects ?? 0)),
      unit: Number(fixed?.projects ?? 0) === 1 ? "project" : "projects",
      note: html`<a href="#failing">against ${grouped(facts.broke)} that broke</a>`,
    },
    {
      label: "Stuck",
      value: grouped(Number(open?.stuck ?? 0)),
      unit: Number(open?.stuck ?? 0) === 1 ? "build" : "builds",
      note: html`<a href="/projects?state=stuck">${grouped(Number(open?.lately ?? 0))} since yesterday</a>`,
    },
  ]);
}

const [HEIGHT, TOP, BOTTOM] = [58, 6, 40];

interface SparkDay {
  /** 2026-11-22 */
  readonly day: string;
  /** 0 to 1; null where nothing finished. */
  readonly rate: number | null;
}

/**
 * A rate by day as one line, the oldest first, with the usual rate dashed and the lowest day named. Nothing with
 * fewer than three days. `usual` is null where it is not known.
 */
function drawSpark(days: readonly SparkDay[], usual: number | null, now: Date): Markup | null {
  const known = days.flatMap(({ day, rate }, place) => (rate === null ? [] : [{ day, rate, place }]));
  const [first, last] = [known[0], known.at(-1)];
  if (known.length < 3 || first === undefined || last === undefined) return null;
  const lowest = known.reduce((least, one) => (one.rate < least.rate ? one : least));
  const rates = [...known.map(({ rate }) => rate), ...(usual === null ? [] : [usual])];
  const [least, most] = [Math.min(...rates), Math.max(...rates)];
  const x = (place: number) => `${((100 * (place + 0.5)) / days.length).toFixed(2)}%`;
  const y = (rate: number) =>
    (most === least
      ? (TOP + BOTTOM) / 2
      : BOTTOM - ((rate - least) / (most - least)) * (BOTTOM - TOP)
    ).toFixed(1);
  const dayOf = (day: string) => dayWords(Date.parse(day), now);
  const ends = `from ${wholePercent(first.rate)} to ${wholePercent(last.rate)}`;
  const lowestWords = `${wholePercent(lowest.rate)} on ${dayOf(lowest.day)}`;
  const told = `Success rate by day, ${dayOf(first.day)} to ${dayOf(last.day)}: ${ends}, lowest ${lowestWords}`;
  const isLate = lowest.place > days.length * 0.6;
  const lines = known.slice(1).map((to, place) => {
    const from = known[place] ?? to;
    return html`<line class="trace" x1="${x(from.place)}" y1="${y(from.rate)}" x2="${x(to.place)}" y2="${y(to.rate)}"/>`;
  });
  return html`<svg class="spark" role="img" height="${HEIGHT}" aria-label="${told}">
    ${usual === null ? "" : html`<line class="usual" x1="0" x2="100%" y1="${y(usual)}" y2="${y(usual)}"/>`}
    ${lines}<circle class="dot low" cx="${x(lowest.place)}" cy="${y(lowest.rate)}" r="3.5"/>
    <text class="${isLate ? "end" : ""}" x="${x(lowest.place)}" y="${Number(y(lowest.rate)) + 15}"
    dx="${isLate ? 4 : -4}">${lowestWords}</text>
    ${last === lowest ? "" : html`<circle class="dot" cx="${x(last.place)}" cy="${y(last.rate)}" r="3.5"/>`}</svg>`;
}

const DAYS = 28;

function readVerdictFacts(answers: NowAnswers, { now, at, freshness }: NowScope): NowVerdictFacts {
  const today = answers.broke.find(({ days_before }) => Number(days_before) === 0);
  const [totals] = answers.totals;
  const [incident] = answers.incidents;
  const [newest] = answers.newest;
  const broke = Number(today?.broke ?? 0);
  return {
    now,
    at,
    asOf: freshness.asOf,
    isStale: freshness.isStale,
    trouble: freshness.trouble,
    platformHour:
      incident === undefined
        ? null
        : {
            from: momentMs(incident.hour),
            projects: Number(incident.projects),
            failing: Number(incident.projects_failing),
            expected: Number(incident.projects_expected),
          },
    hoursLookedAt: Number(answers.hours[0]?.looked_at ?? 0),
    broke,
    brokeAndFixed: broke - Number(today?.still_failing ?? 0),
    usualDays: daysBefore(answers.broke, knownDays(totals?.first_day, at)),
    newest:
      newest === undefined || newest.failing_since === null
        ? null
        : { slug: String(newest.project_slug), brokeAt: String(newest.failing_since) },
    failing: answers.failing.reduce((sum, { projects }) => sum + Number(projects), 0),
    projects: Number(totals?.projects ?? 0),
    finished: Number(totals?.finished ?? 0),
    rising: readRising(answers.rising),
    finishedLately: Number(answers.rates.find(({ is_last_day }) => is_last_day === true)?.finished ?? 0),
    arrivals: readArrivals(answers.arrivals[0], now),
    kinds: answers.kinds
      .map(({ error_class, failures }) => ({ kind: String(error_class), failures: Number(failures) }))
      .filter(({ failures }) => failures > 0),
  };
}

/** The whole days before the last 24 hours in which builds are known, at most 28. */
export function knownDays(firstDay: unknown, at: Date): number {
  const since = Date.parse(String(firstDay));
  if (Number.isNaN(since)) return 0;
  return Math.min(DAYS, Math.max(0, Math.floor((at.getTime() - since) / DAY_MS) - 1));
}

/** How many broke on each of those days. A day without a row had none. */
function daysBefore(rows: readonly Row[], known: number): number[] {
  const counts = new Map(rows.map(({ days_before, broke }) => [Number(days_before), Number(broke)]));
  return Array.from({ length: known }, (_, place) => counts.get(place + 1) ?? 0);
}

/** What is worth a look when nothing arrives. */
function renderQuietActs({ arrivals }: NowVerdictFacts): Markup {
  return html`<a href="${buildHref(arrivals.lastBuildId)}">The last build, ${foreign(arrivals.lastBuildId, 24)}</a>
    <a href="#checked">What was checked</a>
    <a href="#rules">When this is red</a>`;
}

/** Figures of a silence. Nothing says what fails now, so that is as of the last build. */
function renderQuietFigures(facts: NowVerdictFacts, { openCounts }: NowAnswers): Markup {
  const { arrivals, now, failing, projects } = facts;
  const last = sinceWords(arrivals, now);
  const [open] = openCounts;
  const gapMs = Math.max(arrivals.gapMs, now.getTime() - arrivals.lastBuildAt);
  return renderFigures(
    [
      {
        label: "Arrived",
        labelRest: ` since ${last}`,
        value: "0",
        unit: `of usually ${grouped(arrivals.usual)}`,
        note: `at least ${grouped(arrivals.fewest)} on each of ${arrivals.daysKnown} days`,
      },
      {
        label: "Failing",
        labelRest: ` at ${last}`,
        value: grouped(failing),
        unit: `of ${counted(projects, "project")}`,
        note: html`<a href="#failing">as the last builds left it</a>`,
      },
      {
        label: "In progress",
        value: grouped(Number(open?.builds ?? 0)),
        unit: Number(open?.builds ?? 0) === 1 ? "build" : "builds",
        note: html`<a href="#checked">${grouped(Number(open?.stuck ?? 0))} of them stuck</a>`,
      },
      {
        label: "Gap",
        value: longSpan(gapMs),
        note: `longest of ${arrivals.daysKnown} days: ${longSpan(arrivals.longestGapMs)}`,
      },
    ],
    true,
  );
}
