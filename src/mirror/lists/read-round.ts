/**
 * A round: one walk of the whole list of builds that rests each night behind its part, and goes on the next night behind
 * the records that it has covered. So what the head and the counts cannot show is met within the days of a round. The
 * proof is that of any walk (`course.ts`): it does not ask that a walk be quick.
 */
import { ageMs } from "../../base/clock.ts";
import { withTransaction } from "../../store/connection/sql.ts";
import { endRound, findRound, type NightMark, type Round } from "../../store/ledger/rounds.ts";
import type { WalkCounts } from "../../store/ledger/run-ledger.ts";
import { setLive } from "../load/live-count.ts";
import { resolveHoles } from "../load/quarantine.ts";
import type { RunParts } from "../load/run-parts.ts";
import type { IdSet } from "../walk/id-set.ts";
import type { FetchedPage } from "../walk/page.ts";
import { recordMissing } from "./missing-records.ts";
import { readList } from "./read-list.ts";
import type { WalkOptions } from "./settle-pages.ts";

const DAY_MS = 86_400_000;
/** Nights begin a little earlier or later. */
const STEPS_A_DAY = 4;
/** After nights that were lost, a night has so many parts at most. */
const MOST_PARTS = 2;

/** What the head of tonight says, and what the run has counted and seen so far. */
interface Tonight {
  /** The nights of a round. */
  days: number;
  counted: number;
  /** The size of pages that is likely, in records. */
  limit: number;
  counts: WalkCounts;
  seen: IdSet;
  /** Its first page. */
  head: FetchedPage | null;
}

/** Reads the next part of the round of the builds, and closes the round where it comes to its end. */
export async function readRound(run: RunParts, options: WalkOptions, tonight: Tonight) {
  const { sql, patience, log, clock } = run;
  const { days, counted } = tonight;
  const found = await patience("find the round", () => findRound(sql, "build"));
  const { earlier } = found;
  const { round, most, isTooLong } = beginNight(found.round, { days, counted, now: clock.now() });
  if (most === 0) return { night: null, counts: tonight.counts, missing: 0 };
  const reading = await readList(run, options, tonight.counts, {
    ...{ round, most, seen: tonight.seen, head: tonight.head },
    pages: Math.ceil(most / tonight.limit),
    shift: round ? counted - round.totalCount : 0,
  });
  const { outcome, read: records, start, counts } = reading;
  const { isOver, readSince, nights } = endNight(earlier, reading);
  const { held, missing } = isOver
    ? await closeRound(run, options, reading, nights)
    : { held: null, missing: 0 };
  const why =
    outcome.reason ??
    held ??
    (records === 0 && !isOver ? "build list: the round read nothing" : null) ??
    (isTooLong ? `build list: the round did not come to its end within ${2 * days} days` : null);
  log.info(
    { records, round_began_run_id: start.beganRunId, is_over: isOver, reason: why },
    "read a part of the builds again",
  );
  return { night: { records, reason: why, readSince }, counts, missing };
}

/** Which round a night goes on with, null for a new one, and with how many records. */
export function beginNight(round: Round | null, facts: { days: number; counted: number; now: Date }) {
  // It is begun anew, so that a list which never comes to its end is read from its start again.
  const isTooLong = round !== null && ageMs(round.startedAt, facts.now) > 2 * facts.days * DAY_MS;
  const goesOn = isTooLong ? null : round;
  return { round: goesOn, most: partOf(goesOn, facts), isTooLong };
}

/** The records of tonight's part: as many as bring the round to where it should be by now, and 0 where it is there. */
function partOf(round: Round | null, facts: { days: number; counted: number; now: Date }): number {
  const { days, counted, now } = facts;
  const part = Math.max(1, Math.ceil(counted / days));
  if (!round) return part;
  const night = Math.round((ageMs(round.startedAt, now) / DAY_MS) * STEPS_A_DAY) / STEPS_A_DAY + 1;
  // The last night goes on to the end, wherever that is by now.
  const left = night >= days ? Number.POSITIVE_INFINITY : Math.ceil((night / days) * counted) - round.records;
  return Math.max(0, Math.min(MOST_PARTS * part, left));
}

type RoundReading = Awaited<ReturnType<typeof readList>>;
type NightReading = Pick<
  RoundReading,
  "outcome" | "brokenBy" | "isAllRead" | "start" | "nights" | "passes" | "covers"
>;

/** Whether the round is over, since when every record was read, and the nights by which the next round knows that. */
export function endNight(earlier: readonly NightMark[], reading: NightReading) {
  const { outcome, brokenBy, isAllRead, passes, start } = reading;
  const isOver = outcome.walk !== "head" && brokenBy === null;
  if (!isOver) return { isOver, readSince: sinceOf(earlier, reading), nights: earlier };
  if (!isAllRead) return { isOver, readSince: null, nights: earlier };
  // A second pass reads in other places than the nights of the first one say.
  const nights = passes === 1 ? reading.nights : [{ startedAt: start.startedAt, ids: [] }];
  return { isOver, readSince: start.startedAt, nights };
}

/**
 * Since when every record was read: what this round has not come to lies behind some record of an earlier night, so that
 * night or a later one of the round before has read it. Null where nothing is known.
 */
function sinceOf(earlier: readonly NightMark[], { covers, passes }: NightReading): string | null {
  const [first] = earlier;
  // Of the last date that is covered a record may be left. With two dates of a night covered, the first is not the last.
  const isMet = ({ ids }: NightMark) => ids.filter(covers).length > 1;
  const met = passes === 1 ? earlier.findLast(isMet) : undefined;
  return met?.startedAt ?? first?.startedAt ?? null;
}

/** Notes what a whole round did not show, as after any whole walk. */
async function closeRound(
  { sql, clock, patience, runId }: RunParts,
  options: WalkOptions,
  { outcome, start, seen }: RoundReading,
  nights: readonly NightMark[],
): Promise<{ held: string | null; missing: number }> {
  const resource = "build" as const;
  return patience("close a round", () =>
    withTransaction(sql, async (tx) => {
      await endRound(tx, resource, nights);
      if (outcome.walk !== "whole") return { held: null, missing: 0 };
      const noticedAt = clock.now().toISOString();
      await resolveHoles(tx, resource, noticedAt);
      const facts = { resource, runId, beganRunId: start.beganRunId, noticedAt, seen };
      const { live, held, missing } = await recordMissing(tx, { ...options, ...facts });
      await setLive(tx, resource, live);
      return { held, missing };
    }),
  );
}
