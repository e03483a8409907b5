import { BUILD_RELATIONS } from "./relations/builds.ts";
import { DIMENSIONS } from "./relations/dimensions.ts";
import { ERROR_RELATIONS } from "./relations/errors.ts";
import { FAILURE_RELATIONS } from "./relations/failures.ts";
import { MIRROR_RELATIONS } from "./relations/mirror.ts";
import { RATE_RELATIONS } from "./relations/rates.ts";

/** All relations of schema `report`, in the order in which people read of them. */
export const DICTIONARY = {
  ...DIMENSIONS,
  ...RATE_RELATIONS,
  ...BUILD_RELATIONS,
  ...FAILURE_RELATIONS,
  ...ERROR_RELATIONS,
  ...MIRROR_RELATIONS,
};

export type Relation = keyof typeof DICTIONARY;

/** The names of the columns of a relation. */
export type ColumnOf<R extends Relation> = R extends Relation
  ? keyof (typeof DICTIONARY)[R]["columns"] & string
  : never;

/** All relations of schema `report`, in the order of the dictionary. */
export const RELATIONS = Object.keys(DICTIONARY) as Relation[];

/** A statement with these words may read what may be older than the other answers. */
const EXPENSIVE = new RegExp(
  `\\b(?:platform_trouble|${RELATIONS.filter((name) => DICTIONARY[name].isExpensive).join("|")})\\b`,
  "i",
);

/** Whether a statement, or the name of a relation, is of an answer that may be older than the others (`expensive_refreshed_at`). */
export const readsExpensive = (statement: string): boolean => EXPENSIVE.test(statement);

/** The columns of a relation, in the order in which it has them. */
export function columnsOf<R extends Relation>(relation: R): ColumnOf<R>[] {
  return Object.keys(DICTIONARY[relation].columns) as ColumnOf<R>[];
}
