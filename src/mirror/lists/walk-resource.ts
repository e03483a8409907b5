import type { RunParts } from "../load/run-parts.ts";
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
export async function walkResource(run: RunParts, options: WalkResourceOptions): Promise<WalkEnding> {
  const { plan } = options;
  if (plan.kind === "full") return closeWalk(run, options, await readList(run, options, emptyCounts()), true);
  const head = await readHead(run, options);
  const { outcome, deficit, explained } = head;
  if (outcome.walk !== "head" || deficit === explained || !plan.mayWalkInFull) {
    return closeWalk(run, options, head, false);
  }
  run.log.info({ deficit, explained }, "the count of the head does not agree; reading the list in full");
  return closeWalk(run, options, await readList(run, options, head.counts), true);
}
