/** Notices of what is so now: lists that are stale, builds that do not come, trouble of the platform, jobs that fail. */
import { createSource, cut, cutOrNull, inWords } from "./source.ts";

interface StaleList {
  resource: string;
  /** When its last good walk began; "never" without one. */
  since: string;
  last_good_at: string | null;
  is_ahead: boolean;
}

export const staleLists = createSource<StaleList>(
  "lists",
  "stale_lists",
  ({ resource, since, last_good_at, is_ahead }, { staleAfterMs }) => {
    const read =
      last_good_at === null ? "was never read well" : `was last read well at ${inWords(last_good_at)}`;
    const doubt = is_ahead ? ", which is in the future: a clock is or was wrong" : "";
    return {
      subject: `list/${resource}/${since}`,
      type: "list.stale",
      data: {
        summary: `The ${resource} list ${read}${doubt}.`,
        resource,
        last_good_at,
        stale_after_s: staleAfterMs / 1000,
      },
    };
  },
);

/** The columns of `report.arrivals`; "resumed" has those of the silence that is over. */
type ArrivalTurn = { last_build_id: string; gap_s: number } & (
  | { turn: "resumed"; quiet_since: string; resumed_at: string }
  | { turn: "quiet"; last_build_at: string; usual: number }
);

export const arrivals = createSource<ArrivalTurn>("arrivals", "arrival_turns", ({ turn, ...fact }) => ({
  subject: `builds/${turn}/${fact.last_build_id}`,
  type: `builds.${turn}`,
  data: { ...fact, summary: describeArrivals({ turn, ...fact } as ArrivalTurn) },
}));

function describeArrivals(fact: ArrivalTurn): string {
  if (fact.turn === "resumed")
    return `Builds come again: none came from ${inWords(fact.quiet_since)} to ${inWords(fact.resumed_at)}.`;
  const ofDay = fact.gap_s > 86_400 ? " of a day" : "";
  return (
    `No build came since ${inWords(fact.last_build_at)}; usually ${fact.usual} come in that time${ofDay}. ` +
    "The service answers, and lists no newer one."
  );
}

/** A row of `report.platform_trouble`. */
interface PlatformTrouble {
  /** The first hour of the trouble, and the last look at the builds. */
  since: string;
  looked_at: string;
  /** The newest hour of it. */
  hour: string;
  /** Its end, or that look where it is not over. */
  until: string;
  projects: number;
  projects_failing: number;
  projects_expected: number;
  /** The same, rounded for a sentence. */
  usual: number;
  builds: number;
  failed: number;
}

export const platformTrouble = createSource<PlatformTrouble>(
  "platform",
  "platform_trouble",
  ({ until, usual, ...fact }) => {
    const { since, looked_at, hour, projects, projects_failing } = fact;
    const between = [hour, until].map((moment) => moment.slice(11, 16)).join(" and ");
    return {
      subject: `platform/${hour.slice(0, 13)}`,
      type: "platform.trouble",
      data: {
        ...fact,
        summary:
          `The platform has been in trouble since ${inWords(since)}, up to the last look at ${inWords(looked_at)}: ` +
          `${projects_failing} of ${projects} projects failed between ${between}; ${usual} would be usual.`,
      },
    };
  },
);

interface FailedJob {
  job: string;
  since: string;
  failed_at: string;
  error: string | null;
  good_at: string | null;
  what: string | null;
}

export const failedJobs = createSource<FailedJob>("jobs", "failed_jobs", (fact) => {
  const { job, since, failed_at, error, good_at, what } = fact;
  const why = cut(error, 300).replace(/\.+$/, "");
  const before = good_at === null ? "None was good yet." : `The last good one began at ${inWords(good_at)}.`;
  return {
    subject: `job/${job}/${since}`,
    type: "job.failed",
    data: {
      summary: `The ${job} failed: ${why}. ${before}`,
      job,
      failed_at,
      error: cutOrNull(error, 1000),
      last_good_at: good_at,
      last_good: what,
    },
  };
});
