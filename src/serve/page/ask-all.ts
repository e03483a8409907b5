import type { TransactionSql } from "../../db/connect.ts";
import type { Question } from "../../report/question.ts";
import type { Row } from "./cells.ts";

/**
 * The rows of each question, by the same names. All are sent at once and answered one after the other on the transaction's connection: no
 * round trip is waited for.
 */
export async function askAll<Name extends string>(
  tx: TransactionSql,
  questions: ReadonlyMap<Name, Pick<Question, "text" | "params">>,
): Promise<Map<Name, readonly Row[]>> {
  const answers = await Promise.all(
    [...questions].map(async ([name, { text, params }]) => {
      const rows = await tx.unsafe<Row[]>(text, [...params]);
      return [name, rows] as const;
    }),
  );
  return new Map(answers);
}
