import { closeWalk } from "./close-walk.ts";
import { readHead } from "./read-head.ts";
import { readList } from "./read-list.ts";
import { emptyCounts } from "./summary.ts";
import type { WalkEnding, WalkResourceOptions } from "./walk-options.ts";

/**
 * Walks one list as planned and loads it page by page. When the count of a head does not agree, a full walk
 * follows if the plan allows it. When upstream fails, the walk ends as `not_whole` and keeps its checkpoint.
 * A failure of the database, a stop or a bug is thrown.
 */
export async function walkResource(options: WalkResourceOptions): Promise<WalkEnding> {
  const { plan, log } = options;
  if (plan.kind === "full") return closeWalk(options, await readList(options, emptyCounts()), true);
  const head = await readHead(options);
  const { outcome, deficit, explained } = head;
  if (outcome.walk !== "head" || deficit === explained || !plan.mayWalkInFull) {
    return closeWalk(options, head, false);
  }
  log.info({ deficit, explained }, "the count of the head does not agree; reading the list in full");
  return closeWalk(options, await readList(options, head.counts), true);
}
