import type { TransactionSql } from "../db/connect.ts";
import { askFor } from "../report/question.ts";
import { askAll } from "./ask-all.ts";
import { type Freshness, readFreshness } from "./banner.ts";

const QUESTIONS = new Map([
  ["freshness", askFor("freshness")],
  ["run that ended", askFor("runs", { limit: 1 }, () => ["finished_at is not null"])],
  ["newest run", askFor("runs", { limit: 1 })],
]);

/** How fresh the figures are, and a text that changes as soon as a page would show something else. */
export async function findFreshness(
  tx: TransactionSql,
  now: Date,
): Promise<{ freshness: Freshness; revision: string }> {
  const answers = askAll(tx, QUESTIONS);
  const [lists, [run], [newest]] = await Promise.all([
    answers.of("freshness"),
    answers.of("run that ended"),
    answers.of("newest run"),
  ]);
  const freshness = readFreshness(lists, run, now);
  // The lag and the counts of a run under way grow all the time. They are no reason to render a page again.
  const still = lists.map((row) => ({ ...row, lag_s: null, replica_lag_s: null }));
  const { isStale, isBehind, lagS, replicaLagS } = freshness;
  const staleHours = isStale && Number.isFinite(lagS) ? Math.floor(lagS / 3600) : isStale;
  const today = now.toISOString().slice(0, 10);
  return {
    freshness,
    revision: JSON.stringify([
      today,
      still,
      newest?.run_id,
      newest?.status,
      staleHours,
      isBehind,
      replicaLagS,
    ]),
  };
}
