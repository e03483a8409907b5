import { html } from "hono/html";
import type { TransactionSql } from "../db/connect.ts";
import { askFor } from "../report/question.ts";
import { askEach } from "./ask-all.ts";
import { renderHead } from "./block.ts";
import type { Address, Draft, Drawing, PageMoment } from "./drawing.ts";
import { renderPlainAnswer } from "./plain-answer.ts";

/** The page of the mirror: how fresh each list is, and how the runs ended. */
export function mirrorPage(_address: Address): Drawing {
  return { key: ["mirror"], isAlways: true, draw };
}

async function draw(tx: TransactionSql, { now }: PageMoment): Promise<Draft> {
  const asked = {
    freshness: askFor("freshness"),
    runs: askFor("runs", { limit: 30 }, () => ["kind <> 'watch'"]),
    round: askFor("runs", { limit: 1 }, () => ["kind = 'watch'"]),
  };
  const { freshness, runs, round } = await askEach(tx, asked);
  const main = html`${renderHead("Mirror")}
${renderPlainAnswer({
  id: "freshness",
  title: "How fresh each list is",
  question: asked.freshness,
  columns: [
    "resource",
    "current_through",
    "last_walk",
    "last_whole_at",
    "records",
    "deleted_records",
    "quarantined",
  ],
  rows: freshness,
  now,
})}
${renderPlainAnswer({
  id: "runs",
  title: "Last syncs",
  question: asked.runs,
  columns: ["run_id", "status", "kind", "started_at", "requests", "records", "error"],
  rows: runs,
  now,
})}
${renderPlainAnswer({
  id: "round",
  title: "Last round of the watch",
  question: asked.round,
  columns: ["run_id", "status", "started_at", "requests", "error"],
  rows: round,
  now,
})}`;
  return { status: 200, facts: { title: "Mirror", tab: "/mirror", main } };
}
