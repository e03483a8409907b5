import { parseLocalTime } from "../../resources/local-time.ts";
import type { Resource } from "../../resources/resources.ts";

/** What the records of a page say about the order of their list. */
export interface ShownOrder {
  /** Whether they prove that the list is sorted. */
  showsOrder: boolean;
  /** The places of records that share the sort key of the record before. Absent when there are none. */
  ties?: readonly number[];
}

/**
 * Reads the order of a page. Builds come newest first by `date`, which never changes, so dates that never rise
 * prove the order. Builds with equal dates may come in any order. No other list has a sort key that can be
 * compared here: slugs and names are sorted by the rules of the service's database, users and files by no rule.
 */
export function readOrder(resource: Resource, records: readonly unknown[]): ShownOrder {
  if (resource !== "build") return { showsOrder: false };
  const ties: number[] = [];
  let later: bigint | null = null;
  for (const [at, record] of records.entries()) {
    const value = (record as { date?: unknown } | null)?.date;
    const date = typeof value === "string" ? parseLocalTime(value) : null;
    if (date === null || (later !== null && date.microseconds > later)) return { showsOrder: false };
    if (date.microseconds === later) ties.push(at);
    later = date.microseconds;
  }
  return { showsOrder: true, ...(ties.length > 0 && { ties }) };
}

/**
 * The dates of a page of builds, as texts of one length that sort as they do. Null where one has none, or the page does not
 * show its order.
 */
export function datesOf(records: readonly unknown[]): string[] | null {
  const dates: string[] = [];
  for (const record of records) {
    const value = (record as { date?: unknown } | null)?.date;
    const date = typeof value === "string" ? parseLocalTime(value) : null;
    if (date === null) return null;
    const text = date.text.includes(".") ? date.text : `${date.text}.000000`;
    if (text > (dates.at(-1) ?? text)) return null;
    dates.push(text);
  }
  return dates;
}

/** The number of records at the end of a page that share one sort key. 1 without ties, 0 on an empty page. */
export function tailOf(count: number, ties: readonly number[] = []): number {
  let tail = Math.min(1, count);
  for (let at = ties.length - 1; at >= 0 && ties[at] === count - tail; at--) tail += 1;
  return tail;
}
