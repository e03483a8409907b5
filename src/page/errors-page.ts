import { html } from "hono/html";
import type { TransactionSql } from "../db/connect.ts";
import { askFor } from "../report/question.ts";
import { askEach } from "./ask-all.ts";
import { renderHead } from "./block.ts";
import type { Address, Draft, Drawing, PageMoment } from "./drawing.ts";
import { renderPlainAnswer } from "./plain-answer.ts";

/** The page of errors: what builds fail of. */
export function errorsPage({ query }: Address): Drawing {
  const kind = query.get("kind")?.replaceAll("\0", "").slice(0, 200) || undefined;
  return { key: ["errors", kind], draw: (tx, moment) => draw(tx, kind, moment) };
}

async function draw(tx: TransactionSql, kind: string | undefined, { now }: PageMoment): Promise<Draft> {
  const question = askFor("error_classes", { limit: 50 }, (hold) =>
    kind === undefined ? [] : [`error_class = ${hold(kind)}`],
  );
  const { rows } = await askEach(tx, { rows: question });
  const main = html`${renderHead("Errors")}
${renderPlainAnswer({
  id: "classes",
  title: "Why builds fail",
  question,
  columns: ["error_class", "example", "projects", "failures", "last_triggered_at", "last_build_id"],
  rows,
  now,
})}`;
  return { status: 200, facts: { title: "Errors", tab: "/errors", main } };
}
