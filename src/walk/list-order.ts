import { parseLocalTime } from "../wire/local-time.ts";
import type { Resource } from "../wire/resources.ts";

/**
 * Whether the records of a page prove that the list is sorted. Builds come newest first by `date`, which
 * never changes, so strictly falling dates prove the order. No other list has a sort key that can be compared
 * here: slugs and names are sorted by the rules of the service's database, users and files by no rule.
 */
export function showsItsOrder(resource: Resource, records: readonly unknown[]): boolean {
  if (resource !== "build") return false;
  let later: bigint | null = null;
  for (const record of records) {
    const value = (record as { date?: unknown } | null)?.date;
    const date = typeof value === "string" ? parseLocalTime(value) : null;
    if (date === null || (later !== null && date.microseconds >= later)) return false;
    later = date.microseconds;
  }
  return true;
}
