import { momentMs } from "../parts/age.ts";
import type { PageMoment } from "../parts/page-moment.ts";
import { readRising } from "../parts/rising-lines.ts";
import type { Row } from "../parts/row.ts";
import { readArrivals } from "./arrivals-verdict.ts";
import type { nowQuestions } from "./now-questions.ts";
import type { NowVerdictFacts } from "./verdict.ts";

const DAY_MS = 86_400_000;
const DAYS = 28;

/** The answers of the page of now, by the names of their questions. */
export type NowAnswers = Readonly<Record<keyof ReturnType<typeof nowQuestions>, readonly Row[]>>;

/** The facts that the verdict is judged by, from the answers. */
export function readVerdictFacts(answers: NowAnswers, { now, at, freshness }: PageMoment): NowVerdictFacts {
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
