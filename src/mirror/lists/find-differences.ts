import type { RunParts } from "../load/run-parts.ts";
import { type Bisection, type Border, bisect } from "../walk/bisection.ts";
import { type DatedPagesOptions, withDatedPages } from "./dated-pages.ts";

export interface SearchOptions extends DatedPagesOptions {
  /** The last border of the head. */
  top: Border;
  /** The most requests. */
  budget: number;
}

/**
 * Searches the list of builds below its head for what came and went there (`bisection.ts`). Stores the builds that are new
 * here, and notes those that are missing. Ends early when the service fails, or when too many are missing.
 */
export async function findDifferences(run: RunParts, { top, budget, ...options }: SearchOptions) {
  const { first, missing } = options;
  const { result, counts } = await withDatedPages(run, options, (pages) =>
    bisect(top, pages, { limit: first.limit, budget }),
  );
  const found: Bisection = result ?? { requests: budget, isDone: false };
  const facts = { requests: found.requests, is_done: found.isDone, missing: missing.noted };
  run.log.info(facts, "searched the builds for differences");
  return { ...found, counts };
}
