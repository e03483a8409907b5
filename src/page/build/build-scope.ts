import { sql } from "drizzle-orm";
import { type BoundedSpan, formatSpan } from "../../mirror/builds/format-span.ts";
import { askFor, type Question, relation } from "../../report/ask.ts";
import type { Row } from "../parts/block.ts";

const counted = relation("fact_builds");

/** What the blocks of a build are about. */
export interface BuildScope {
  readonly id: string;
  /** Its row in the reports; missing until they have been computed. */
  readonly fact: Row | undefined;
  readonly sourceTimezone: string;
  readonly now: Date;
}

/** What narrows the files of all blocks. */
export const OWN = { id: null };

/** The row of one build in `report.fact_builds`. */
export const askForBuild = (id: string): Question =>
  askFor("fact_builds", {}, [sql`${counted.build_id} = ${id}`]);

/** A length of time as far as it is known, in words. */
export function tookWords({ least_ms, most_ms }: BoundedSpan): string {
  if (most_ms === null) return least_ms === 0 ? "not known" : `at least ${formatSpan(least_ms)}`;
  return least_ms === 0
    ? `at most ${formatSpan(most_ms)}`
    : `${formatSpan(least_ms)} to ${formatSpan(most_ms)}`;
}
