/**
 * Compares the count of a list with the records that are here, and says what explains a difference. All of it is of one
 * moment: that of the reply which gave the count, with its pages stored.
 */
import { counted as countedAs, grouped } from "../../base/text.ts";
import type { Resource } from "../../resources/resources.ts";
import type { AnySql } from "../../store/connection/sql.ts";
import { type CountGap, describeCountGap, type ServiceGap } from "../../store/ledger/run-ledger.ts";
import { countListed } from "../load/live-count.ts";
import type { Course, WalkOutcome } from "../walk/course.ts";
import { ALWAYS_ALLOWED } from "./missing-records.ts";
import type { CountCauses, CountMoves, Reading } from "./reading.ts";

/** The share of its count that a list may leave out of its pages. */
const MOST_UNSHOWN = 0.05;

/**
 * Counts the causes by what is stored now. `gap`: the service's own, as it is known. Call it when the pages of the reply are stored.
 *
 * @param counted that of the reply. Null for a reply that is behind: what was unexplained before still is, and nothing else
 */
export async function countCauses(
  sql: AnySql,
  resource: Resource,
  counted: number | null,
  gap: ServiceGap & { unexplained: number },
): Promise<CountCauses> {
  const { unshown, repeated } = gap;
  const { shown: here, held, named: unstored } = await countListed(sql, resource);
  const expected = here - held + unstored + unshown + repeated;
  const count = counted ?? expected + gap.unexplained;
  return { counted: count, here, held, unstored, unshown, repeated, unexplained: count - expected };
}

/** For people, such as "of 603 builds, 600 are here and 1 could not be stored: upstream counts 2 builds more than are here". */
export function describeCauses(
  resource: Resource,
  { counted, here, held, unstored, unshown, repeated, unexplained }: CountCauses,
): string {
  const causes = [
    [here - held, "are here"],
    [unstored, "could not be stored"],
    [repeated, "are counted twice"],
    [unshown, "are on no page of it"],
    [-unshown, "are on its pages and not counted"],
  ] as const;
  const known = causes.flatMap(([many, what]) => (many > 0 ? [`${grouped(many)} ${what}`] : []));
  const kept = held > 0 ? [`${grouped(held)} more are kept, because their deletion is held back`] : [];
  const explained = known.length + kept.length > 1 || here === 0 ? [...known, ...kept] : [];
  const parts = explained.length > 0 ? `of ${countedAs(counted, resource)}, ${explained.join(", ")}: ` : "";
  return `${parts}upstream counts ${countedAs(unexplained, resource)} more than are here`;
}

/** The gap of a service that counts so many more records than it shows, of which so many stand twice on a page. */
export function gapOf(more: number, twice: number): ServiceGap {
  const repeated = Math.max(0, Math.min(more, twice));
  return { unshown: more - repeated, repeated };
}

/** The part of a difference that cannot come from records that came or went behind the reader during the walk. */
export function beyondMoves(difference: number, { up, down }: CountMoves): number {
  return difference > 0 ? Math.max(0, difference - up) : Math.min(0, difference + down);
}

/** Compares the count of a whole walk with what it has seen; `cut` says that the list leaves too much out. */
export function compareShown(
  resource: Resource,
  counted: number,
  { seen, repeated, moved }: Pick<Reading, "seen" | "repeated" | "moved">,
): { gap: ServiceGap; cut: string | null } {
  const gap = gapOf(beyondMoves(counted - seen.size, moved), repeated);
  return { gap, cut: describeCut({ resource, counted, shown: seen.size }, gap.unshown) };
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
