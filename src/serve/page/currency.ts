import type { TransactionSql } from "../../db/connect.ts";
import { askFor } from "../../report/question.ts";
import { askAll } from "./ask-all.ts";
import { type Currency, readCurrency } from "./banner.ts";

const QUESTIONS = new Map([
  ["freshness", askFor("freshness")],
  ["run", askFor("runs", { limit: 1 }, () => ["finished_at is not null"])],
  ["newest", askFor("runs", { limit: 1 })],
]);

/** How current the figures are, and a text that is another one as soon as a page would show something else. */
export async function findCurrency(
  tx: TransactionSql,
  now: Date,
): Promise<{ currency: Currency; revision: string; today: string }> {
  const answers = await askAll(tx, QUESTIONS);
  const freshness = answers.get("freshness") ?? [];
  const builds = freshness.find(({ resource }) => resource === "build");
  const currency = readCurrency(builds, answers.get("run")?.[0], now);
  const today = now.toISOString().slice(0, 10);
  // The lag grows by itself, and what it says changes with `isStale` alone.
  const still = freshness.map((row) => ({ ...row, lag_s: null }));
  const { isStale, isBehind } = currency;
  const staleHours = isStale ? Math.floor(currency.lagS / 3600) : 0;
  const revision = JSON.stringify([today, still, answers.get("newest"), staleHours, isBehind]);
  return { currency, revision, today };
}
