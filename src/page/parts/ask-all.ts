import { runText, type WrittenStatement } from "../../store/connection/run-statement.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import type { Row } from "./row.ts";

/** Answers by the names of their questions. Each is available as soon as it arrives. */
export interface Answers {
  /** The rows of an answer. No rows for a question that was not asked. */
  of(name: string): Promise<readonly Row[]>;
}

/**
 * Sends all questions at once over the transaction's connection, so that no round trip is waited for. Equal
 * questions are sent once. The transaction must not end before all needed answers have been awaited.
 */
export function askAll(tx: TransactionSql, questions: ReadonlyMap<string, WrittenStatement>): Answers {
  const sent = new Map<string, Promise<readonly Row[]>>();
  const answers = new Map<string, Promise<readonly Row[]>>();
  for (const [name, { text, params }] of questions) {
    const key = JSON.stringify([text, params]);
    const answer = sent.get(key) ?? runText<Row>(tx, text, params).then((rows): readonly Row[] => rows);
    // When one question fails, all later ones fail too, and nothing may be waiting for them.
    answer.catch(() => {});
    sent.set(key, answer);
    answers.set(name, answer);
  }
  return { of: async (name) => (await answers.get(name)) ?? [] };
}

/** The rows of each of the questions, which are all sent at once. */
export async function askEach<Name extends string>(
  tx: TransactionSql,
  questions: Readonly<Record<Name, WrittenStatement>>,
): Promise<Record<Name, readonly Row[]>> {
  const names = Object.keys(questions) as Name[];
  const answers = askAll(tx, new Map(Object.entries<WrittenStatement>(questions)));
  const rows = await Promise.all(names.map(async (name) => [name, await answers.of(name)] as const));
  return Object.fromEntries(rows) as Record<Name, readonly Row[]>;
}
