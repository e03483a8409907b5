import { html } from "hono/html";
import type { TransactionSql } from "../db/connect.ts";
import { askFor } from "../report/question.ts";
import { askEach } from "./ask-all.ts";
import { renderHead } from "./block.ts";
import type { Address, Draft, Drawing, PageMoment } from "./drawing.ts";
import { renderPlainAnswer } from "./plain-answer.ts";

/** The page of trends: how often builds succeed, day by day. */
export function trendsPage(_address: Address): Drawing {
  return { key: ["trends"], draw };
}

async function draw(tx: TransactionSql, { now }: PageMoment): Promise<Draft> {
  const question = askFor("success_rate_daily", { limit: 30 });
  const { days } = await askEach(tx, { days: question });
  const main = html`${renderHead("Trends")}
${renderPlainAnswer({
  id: "days",
  title: "Success rate by day",
  question,
  columns: ["day", "finished", "succeeded", "success_rate", "success_rate_low", "success_rate_high"],
  rows: days,
  now,
})}`;
  return { status: 200, facts: { title: "Trends", tab: "/trends", main } };
}
