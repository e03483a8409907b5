import type { Resource } from "../../resources/resources.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import type { DocumentFacts } from "./document.ts";
import type { PageFiles } from "./offers.ts";
import type { PageMoment } from "./page-moment.ts";

/** What a reader asked for. */
export interface Address {
  readonly path: string;
  readonly query: URLSearchParams;
  /** The project's slug or the build's id; empty on the pages of all projects. */
  readonly name: string;
  /** The scheme, host and port under which the reader asked. */
  readonly origin: string;
  /** The minute of the request. */
  readonly now: Date;
  /** Whether it may renew itself: the reader has not stopped that. */
  readonly renews: boolean;
}

/** A page without the parts that are the same on all pages. */
export interface Draft {
  readonly status: 200 | 404;
  readonly facts: DocumentFacts;
  /** After how many seconds the browser asks for it again, by itself. @default never */
  readonly renewSeconds?: number;
}

/**
 * A page of figures that is not yet read or drawn. Every page is a function from an address to this: it parses
 * the query; `draw` then reads the figures and draws them.
 */
export interface Drawing {
  /** What the page depends on, apart from the figures: parsed, so that it has few values. */
  readonly key: unknown;
  /** It has nothing to say until one of these lists was read; with none, it always has. @default builds */
  readonly needs?: readonly Resource[];
  /** Everything it asks is one snapshot. Throws ConfigError for an invalid filter. */
  draw(tx: TransactionSql, moment: PageMoment): Promise<Draft>;
  /** The rows of its blocks. */
  readonly files: PageFiles;
}

export type PageFunction = (address: Address) => Drawing;
