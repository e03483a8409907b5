import { oneRow, type Sql, statement } from "../../store/connection/sql.ts";

const FIND_DUE_BUILDS = statement<{ id: string; isStuck: boolean }>("find_due_builds", import.meta.url);
const COUNT_DUE_BUILDS = statement<{ due: number }>("count_due_builds", import.meta.url);
const DUE_STATES = statement<{ state: string; due: number; open: number; listedAt: string | null }>(
  "due_states",
  import.meta.url,
);

/** A build is polled again after this share of the time that it has been in its state. */
const AGE_SHARE = 0.1;
/** Once a day, with some room for a nightly run that starts earlier than on the day before. */
const LONGEST_HOURS = 22;
/** The share of places that stuck builds keep even when enough other builds are due. */
const STUCK_SHARE = 0.1;
/** A build that is due within these seconds is due now, because a round may start a little early. */
const SLACK_SECONDS = 30;

interface WaitFacts {
  now: Date;
  /** Builds seen since then are not due: this run has read them in the list. */
  notSeenSince: Date;
  stuckAfterMs: number;
}

/** The values of `due_builds.sql`, which each of the statements holds. */
const waitOf = ({ now, notSeenSince, stuckAfterMs }: WaitFacts) => ({
  now: now.toISOString(),
  notSeenSince: notSeenSince.toISOString(),
  stuckAfterMs,
  longestHours: LONGEST_HOURS,
  ageShare: AGE_SHARE,
  slackSeconds: SLACK_SECONDS,
});

/** The open builds to poll now, the longest overdue first, stuck ones last (`docs/internals/builds.md`). */
export async function findDueBuilds(
  sql: Sql,
  /** `maxDetails` includes stuck builds. When more are due, stuck ones keep a tenth of the places. */
  { maxDetails, maxStuck, ...facts }: WaitFacts & { maxDetails: number; maxStuck: number },
) {
  const stuckPlaces = Math.min(maxStuck, Math.floor(maxDetails * STUCK_SHARE));
  return FIND_DUE_BUILDS(sql, { ...waitOf(facts), maxDetails, maxStuck, stuckPlaces });
}

/** Only those that this run has not asked for. */
export async function countDueBuilds(sql: Sql, facts: WaitFacts): Promise<number> {
  return (await oneRow(COUNT_DUE_BUILDS(sql, waitOf(facts)))).due;
}

/** The states of stuck builds that are due, and when the list of the state was last requested, if it showed any of them. */
export async function findDueStates(sql: Sql, facts: WaitFacts) {
  return DUE_STATES(sql, waitOf(facts));
}

/** Postpones builds that were polled without a usable result and were not seen since. */
export async function postponeBuilds(
  sql: Sql,
  ids: readonly string[],
  { at, notSeenSince }: { at: Date; notSeenSince: Date },
): Promise<void> {
  await sql`
    update sync.open_builds set asked_at = ${at.toISOString()}::timestamptz
    where build_id = any (${ids as string[]}::text[]) and seen_at < ${notSeenSince.toISOString()}::timestamptz`;
}
