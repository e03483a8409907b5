import type { TransactionSql } from "../db/connect.ts";
import type { Question } from "../report/question.ts";
import type { Row } from "./cells.ts";

/** Answers by the names of their questions, each as soon as it is there. */
export interface Answers {
  /** The rows of an answer; none for what was not asked. */
  of(name: string): Promise<readonly Row[]>;
}

/**
 * Sends all questions at once, to be answered one after the other on the transaction's connection: no round trip is waited for, and equal ones
 * are asked once. The transaction must not end before all that is needed has been awaited.
 */
export function askAll(
  tx: TransactionSql,
  questions: ReadonlyMap<string, Pick<Question, "text" | "params">>,
): Answers {
  const sent = new Map<string, Promise<readonly Row[]>>();
  const answers = new Map<string, Promise<readonly Row[]>>();
  for (const [name, { text, params }] of questions) {
    const key = JSON.stringify([text, params]);
    const answer = sent.get(key) ?? tx.unsafe<Row[]>(text, [...params]).then((rows): readonly Row[] => rows);
    // When one fails all that come after it do too, and nobody may be waiting for them.
    answer.catch(() => {});
    sent.set(key, answer);
    answers.set(name, answer);
  }
  return { of: async (name) => (await answers.get(name)) ?? [] };
}
