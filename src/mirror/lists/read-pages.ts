import { UpstreamError } from "../../base/errors.ts";
import type { WalkOutcome } from "../walk/course.ts";
import type { Page } from "../walk/page.ts";
import type { Walk } from "../walk/walk.ts";
import type { ListOptions, ListRun, Reading } from "./reading.ts";
import { type SettlePagesOptions, settlePages, type WalkProgress } from "./settle-pages.ts";

/** The end of a walk and its pages. The checkpoint is the place behind those that are stored. */
export interface PagesEnd
  extends Pick<Reading, "outcome" | "brokenBy" | "moved" | "counts" | "checkpoint">,
    Pick<WalkProgress, "oldestAt"> {
  /** The newest count of the service; null where it has none. */
  counted: number | null;
}

interface ReadPagesOptions extends SettlePagesOptions {
  /** Looks at a page before it is stored. False ends the walk without it. */
  accept(page: Page): Promise<boolean>;
}

/** Stores all pages of a walk. A failure of upstream ends it as `not_whole`; any other is thrown. Then nothing more is written. */
export async function readPages(
  run: ListRun,
  list: ListOptions,
  walk: Walk,
  { accept, ...settling }: ReadPagesOptions,
): Promise<PagesEnd> {
  const settled = settlePages(run, list, settling);
  const pages = walk.pages();
  const moved = { up: 0, down: 0 };
  let counted: number | null = null;
  const end = (outcome: WalkOutcome, brokenBy: UpstreamError | null): PagesEnd => {
    const { counts, checkpoint, oldestAt } = settled;
    return { outcome, brokenBy, moved, counts, checkpoint, oldestAt, counted };
  };
  const notWhole = (reason: string | null, totalCount: number | null): WalkOutcome => ({
    walk: "not_whole",
    reason,
    totalCount,
    records: walk.seen.size,
  });

  async function storeAll(): Promise<WalkOutcome> {
    for (;;) {
      const step = await pages.next();
      if (step.done) return step.value;
      const { totalCount } = step.value.meta;
      if (totalCount !== null && counted !== null) {
        moved.up += Math.max(0, totalCount - counted);
        moved.down += Math.max(0, counted - totalCount);
      }
      counted = totalCount ?? counted;
      if (!(await accept(step.value))) {
        const outcome = notWhole(null, totalCount);
        await pages.return(outcome);
        return outcome;
      }
      await settled.add(step.value);
    }
  }

  try {
    const outcome = await storeAll();
    await settled.end();
    return end(outcome, null);
  } catch (error) {
    const [ended] = await Promise.allSettled([settled.end()]);
    if (!(error instanceof UpstreamError)) throw error;
    if (ended.status === "rejected") throw ended.reason;
    return end(notWhole(error.message, null), error);
  }
}
