/**
 * A round: one walk of the whole list of builds that rests each night behind its part, and goes on the next night behind
 * the records that it has covered. So what the head and the counts cannot show is met within the days of a round. The
 * proof is that of any walk (`course.ts`): it does not ask that a walk be quick.
 */
import { ageMs, earlierOf } from "../../base/clock.ts";
import { type Sql, type TransactionSql, withTransaction } from "../../store/connection/sql.ts";
import { endRound, findRound, type NightMark, type Round, saveRound } from "../../store/ledger/rounds.ts";
import { type ServiceGap, saveProgress, type WalkCounts } from "../../store/ledger/run-ledger.ts";
import type { Course } from "../walk/course.ts";
import type { IdSet } from "../walk/id-set.ts";
import type { FetchedPage } from "../walk/page.ts";
import type { Walk } from "../walk/walk.ts";
import { closeWhole } from "./close-walk.ts";
import { gapOf, judgeEnd } from "./differences.ts";
import { openList, walkList } from "./read-list.ts";
import type { ListOptions, ListRun, Reading, RoundNight } from "./reading.ts";
import type { WalkProgress } from "./settle-pages.ts";

const DAY_MS = 86_400_000;
/** Nights begin a little earlier or later. */
const STEPS_A_DAY = 4;
/** After nights that were lost, a night has so many parts at most. */
const MOST_PARTS = 2;
/** The records of its first page by which a night is known. Some may be deleted. */
const MARKS = 20;
/** Pages of the walk before that may lie beyond the part of a night, where these were smaller. */
const SPARE_PAGES = 256;

/** The head of tonight, and the counts and the ids of this run so far. */
interface Tonight {
  /** The nights of a round. */
  days: number;
  counted: number;
  /** The size of pages that is likely, in records. */
  limit: number;
  counts: WalkCounts;
  seen: IdSet;
  /** Its first page: a round may begin with it. */
  head: FetchedPage | null;
}

interface RoundPart {
  /** Null where the round is far enough. */
  night: RoundNight | null;
  counts: WalkCounts;
  /** The records that the end of the round found missing. */
  missing: number;
  /** The gap of the service, as the last page of a whole round shows it. Null where it does not. */
  gap: ServiceGap | null;
}

/** Reads the next part of the round of the builds, and closes the round where it comes to its end. */
export async function readRound(run: ListRun, list: ListOptions, tonight: Tonight): Promise<RoundPart> {
  const { sql, patience, log, clock } = run;
  const { days, counted } = tonight;
  const found = await patience("find the round", () => findRound(sql, "build"));
  const { round, most, isTooLong } = beginNight(found.round, { days, counted, now: clock.now() });
  if (most === 0) return { night: null, counts: tonight.counts, missing: 0, gap: null };
  const part = await readPart(run, list, tonight, round, most);
  const { isOver, readSince, nights } = endNight(found.earlier, part);
  // What came back since the round passed its place may be on a page of this run.
  const seen = { size: part.seen.size, has: (id: string) => part.seen.has(id) || tonight.seen.has(id) };
  const { held, missing } = isOver
    ? await closeRound(run, list, { ...part, seen }, nights)
    : { held: null, missing: 0 };
  const records = part.read;
  const reason =
    part.outcome.reason ??
    held ??
    (records === 0 && !isOver ? "build list: the round read nothing" : null) ??
    (isTooLong ? `build list: the round did not come to its end within ${2 * days} days` : null);
  log.info(
    { records, round_began_run_id: part.start.beganRunId, is_over: isOver, reason },
    "read a part of the builds again",
  );
  const gap = isOver && part.outcome.walk === "whole" ? part.gap : null;
  return { night: { records, reason, readSince }, counts: part.counts, missing, gap };
}

/** The reading of a night of a round. */
interface NightReading extends Pick<Reading, "outcome" | "brokenBy" | "isAllRead" | "start"> {
  /** Those of the round, with this one. */
  nights: readonly NightMark[];
  /** See `Course`. */
  passes: number;
  covers: Course["covers"];
}

interface PartReading extends NightReading, Pick<Reading, "seen" | "counts">, Pick<RoundPart, "gap"> {
  /** In records. */
  read: number;
}

/** Goes on with a round, or begins one, and keeps the place behind each page. */
async function readPart(
  run: ListRun,
  list: ListOptions,
  { counted, limit, counts, seen, head }: Tonight,
  round: Round | null,
  most: number,
): Promise<PartReading> {
  const { sql, patience, runId } = run;
  const mostPages = 4 * Math.ceil(most / limit) + SPARE_PAGES;
  const opened = await openList(run, list, round, { recent: head, mostPages });
  const { course, from, start, beganAt } = opened;
  type Place = Pick<WalkProgress, "checkpoint" | "totalCount" | "oldestAt">;
  const nightsUntil = (walk: Walk, oldestAt: string | null): NightMark[] => [
    ...(from?.nights ?? []),
    { startedAt: earlierOf(beganAt, oldestAt), ids: walk.first.slice(0, MARKS) },
  ];
  const keep = async (tx: Sql | TransactionSql, walk: Walk, { checkpoint, totalCount, oldestAt }: Place) => {
    if (!checkpoint || totalCount === null) return;
    const nights = nightsUntil(walk, oldestAt);
    const place = { ...start, records: course.seen.size, nights, checkpoint, totalCount };
    await saveRound(tx, "build", place);
  };
  const { outcome, brokenBy, walk, ...read } = await walkList(run, list, opened, {
    counts: { ...counts },
    seen,
    most,
    ...(from && { shift: counted - from.totalCount }),
    async save(tx, { counts: soFar, ...progress }, walk) {
      await saveProgress(tx, runId, "build", soFar, { ...progress, checkpoint: null });
      await keep(tx, walk, progress);
    },
  });
  // The last pages may have been skipped, with nothing to commit.
  if (outcome.walk === "head")
    await patience("save the round", () => keep(sql, walk, { ...read, totalCount: outcome.totalCount }));
  return {
    ...judgeEnd("build", outcome, from ? course : { verdict: course.verdict, beyond: 0 }),
    brokenBy,
    start,
    nights: nightsUntil(walk, read.oldestAt),
    passes: course.passes,
    covers: course.covers,
    seen: course.seen,
    counts: read.counts,
    read: walk.read,
    // The records of a round are of many nights. Only its last page and the count on it are of one moment.
    gap: course.hasShortPages ? null : gapOf(course.beyond + course.repeated, course.repeated),
  };
}

/** The round with which a night goes on, null for a new one, and how many records it reads. */
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

/** Says whether the round is over, since when every record was read, and by which nights the next round knows that. */
export function endNight(earlier: readonly NightMark[], reading: NightReading) {
  const { outcome, brokenBy, isAllRead, passes } = reading;
  const isOver = outcome.walk !== "head" && brokenBy === null;
  if (!isOver) return { isOver, readSince: sinceOf(earlier, reading), nights: earlier };
  if (!isAllRead) return { isOver, readSince: null, nights: earlier };
  // A second pass reads in other places than the nights of the first one say.
  const readSince = oldestOf(reading.nights);
  const nights = passes === 1 || readSince === null ? reading.nights : [{ startedAt: readSince, ids: [] }];
  return { isOver, readSince, nights };
}

/**
 * Since when every record was read: what this round has not come to lies behind some record of an earlier night, so that
 * night or a later one of the round before has read it. Null where nothing is known.
 */
function sinceOf(earlier: readonly NightMark[], { covers, passes }: NightReading): string | null {
  // The last date that is covered may have another record. With two dates of a night covered, the first is not the last.
  const isMet = ({ ids }: NightMark) => ids.filter(covers).length > 1;
  const met = passes === 1 ? earlier.findLastIndex(isMet) : 0;
  return oldestOf(earlier.slice(Math.max(0, met)));
}

/** The earliest begin: a later night may have had older replies, from a cache. Null without nights. */
const oldestOf = (nights: readonly NightMark[]): string | null =>
  nights.reduce<string | null>((oldest, { startedAt }) => earlierOf(startedAt, oldest), null);

/** Notes what a whole round did not show, as after any whole walk. */
async function closeRound(
  run: ListRun,
  list: ListOptions,
  part: Pick<PartReading, "outcome" | "start"> & { seen: Pick<IdSet, "has" | "size"> },
  nights: readonly NightMark[],
): Promise<{ held: string | null; missing: number }> {
  const { sql, clock, patience } = run;
  return patience("close a round", () =>
    withTransaction(sql, async (tx) => {
      await endRound(tx, "build", nights);
      if (part.outcome.walk !== "whole") return { held: null, missing: 0 };
      return closeWhole(tx, run, list, part, clock.now().toISOString());
    }),
  );
}
