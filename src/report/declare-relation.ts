import type { Resource } from "../resources/resources.ts";
import type { StoredAnswer } from "./declare-stored.ts";
import type { TimeGrain } from "./time-bounds.ts";

type Order<C extends string> =
  `${C}${"" | " is not null"}${"" | " desc"}${"" | " nulls first" | " nulls last"}`;

/** A relation of schema `report` in words, beside the SQL of its view: all that is known of it but its rows. */
export interface DeclaredRelation<C extends string = string> {
  /** The question that it answers, and what one row is. */
  readonly answers: string;
  /** A sentence for each column, in the view's order. */
  readonly columns: Readonly<Record<C, string>>;
  /** No two rows have the same values there. */
  readonly key: readonly NoInfer<C>[];
  /** The columns of the key in which null is one of the values. */
  readonly nullable?: readonly NoInfer<C>[];
  /** The column that `since` and `until` are compared with. Without one, each row counts builds of all times. */
  readonly time?: {
    readonly column: NoInfer<C>;
    readonly span: TimeGrain;
    /** The UTC day of that column, which has an index. */
    readonly day?: NoInfer<C>;
  };
  /** Newest first for events, worst first for problems. Ends in a key, so that pages do not overlap. */
  readonly order: readonly NoInfer<Order<C>>[];
  /**
   * The columns that answer its question, for a terminal 80 columns wide. On a narrower one the last of them
   * are left out. A new column of the relation is not shown until it is added here.
   */
  readonly answer: readonly NoInfer<C>[];
  /** Where it is stored, what no other relation reads. Without parts it is expensive: it is computed now and then. */
  readonly stored?: StoredAnswer;
  /** The resource of the service that it is as fresh as. */
  readonly resource?: Resource;
  /** False where it explains or serves other relations, and nobody draws it. */
  readonly isDrawn?: boolean;
}

/** The name of a relation is that of its file. */
export const declareRelation = <C extends string>(declared: DeclaredRelation<C>): DeclaredRelation<C> =>
  declared;
