/** Compares the count of a list with the records that it shows and those that are here, and says what explains a difference. */
import type { Resource } from "../../resources/resources.ts";
import type { Sql } from "../../store/connection/sql.ts";
import {
  type CountGap,
  describeCountGap,
  findLastWholeWalk,
  findUnexplainedDeficit,
} from "../../store/ledger/run-ledger.ts";
import type { Course, WalkOutcome } from "../walk/course.ts";
import { ALWAYS_ALLOWED } from "./missing-records.ts";
import type { CountMoves, Reading } from "./reading.ts";

/** The share of its count that a list may leave out of its pages. */
const MOST_UNSHOWN = 0.05;

/** The differences that earlier walks of a list have found, in records. */
export interface KnownDifferences {
  /** The newest whole walk saw them and could not store them. */
  unstored: number;
  /** The service counted them, and the newest whole walk saw them on no page. */
  unshown: number;
  /** Both. */
  explained: number;
  /** These, and the difference that the newest comparison could not resolve. */
  known: number;
}

export async function findKnownDifferences(sql: Sql, resource: Resource): Promise<KnownDifferences> {
  const { unstored, unshown } = (await findLastWholeWalk(sql, resource)) ?? { unstored: 0, unshown: 0 };
  const explained = unstored + unshown;
  return { unstored, unshown, explained, known: explained + (await findUnexplainedDeficit(sql, resource)) };
}

/** The part of a difference that cannot come from records that came or went behind the reader during the walk. */
export function beyondMoves(difference: number, { up, down }: CountMoves): number {
  return difference > 0 ? Math.max(0, difference - up) : Math.min(0, difference + down);
}

/** The gap between the count of a list and what a reading of it has seen; `cut` says that it is too large. */
interface Shown {
  gap: CountGap | null;
  cut: string | null;
}

export const AS_COUNTED: Shown = { gap: null, cut: null };

/** Compares the count of a whole walk with what it has seen. What one page shows twice is counted twice. */
export function compareShown(
  resource: Resource,
  counted: number,
  { seen, repeated, moved }: Pick<Reading, "seen" | "repeated" | "moved">,
): Shown {
  const unshown = beyondMoves(counted - seen.size, moved);
  if (unshown === 0) return AS_COUNTED;
  const gap = { resource, counted, shown: seen.size };
  return { gap, cut: describeCut(gap, unshown - repeated.size) };
}

/** Says that a walk has read all, but for records of which nothing but their place is known. A list that is cut is not whole. */
export function judgeEnd(
  resource: Resource,
  outcome: WalkOutcome,
  { verdict, beyond }: Pick<Course, "verdict" | "beyond">,
): Pick<Reading, "outcome" | "isAllRead"> {
  const isRead = outcome.walk === "whole" || verdict === "holes" || verdict === "records without an id";
  const counted = outcome.totalCount ?? 0;
  const cut = isRead ? describeCut({ resource, counted, shown: counted - beyond }, beyond) : null;
  return cut === null
    ? { outcome, isAllRead: isRead }
    : { outcome: { ...outcome, walk: "not_whole", reason: cut }, isAllRead: false };
}

/** Why a list that shows so many records fewer than it counts is not read well. Null where they are few. */
function describeCut(gap: CountGap, unshown: number): string | null {
  if (unshown <= Math.max(ALWAYS_ALLOWED, gap.counted * MOST_UNSHOWN)) return null;
  return `${gap.resource} list: ${describeCountGap(gap)}: ask its owner why`;
}
