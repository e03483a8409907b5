import type { TransactionSql } from "../../store/connection/sql.ts";
import type { DocumentFacts } from "./document.ts";
import type { PageMoment } from "./page-moment.ts";

/** What a reader asked for. */
export interface Address {
  readonly path: string;
  readonly query: URLSearchParams;
  /** The project's slug or the build's id; empty on the pages of all projects. */
  readonly name: string;
  /** The minute of the request. */
  readonly now: Date;
}

/** A page without the parts that are the same on all pages. */
export interface Draft {
  readonly status: 200 | 404;
  readonly facts: DocumentFacts;
}

/**
 * A page of figures that is not yet read or drawn. Every page is a function from an address to this: it parses
 * the query; `draw` then reads the figures and draws them.
 */
export interface Drawing {
  /** What the page depends on, apart from the figures: parsed, so that it has few values. */
  readonly key: unknown;
  /** Whether it says something before the first sync too. @default false */
  readonly isAlways?: boolean;
  /** Everything it asks is one snapshot. Throws ConfigError for an invalid filter. */
  draw(tx: TransactionSql, moment: PageMoment): Promise<Draft>;
}

export type PageFunction = (address: Address) => Drawing;
