import type { TransactionSql } from "../db/connect.ts";
import type { Question } from "./question.ts";

/** How many rows an answer has. */
export async function countAnswers(
  tx: TransactionSql,
  { text, params }: Pick<Question, "text" | "params">,
): Promise<number> {
  const [row] = await tx.unsafe<{ rows: number }[]>(
    `select count(*) as rows from (${text}) as answer`,
    params,
  );
  return row?.rows ?? 0;
}
