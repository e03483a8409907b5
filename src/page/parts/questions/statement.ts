import type { Relation } from "../../../report/dictionary.ts";
import { asQuestion, type Question } from "../../../report/question.ts";

/**
 * A question of a page that no relation answers alone: SQL over relations of schema `report`. `hold` takes a
 * value and returns the parameter for it. `relation` is the one whose rows the block offers as files.
 */
export function statement(
  relation: Relation,
  write: (hold: (value: string | number) => string) => string,
): Question {
  const params: (string | number)[] = [];
  const text = write((value) => `$${params.push(value)}`);
  return asQuestion(relation, [], text, params);
}
