import { sqlstateOf } from "../db/store-errors.ts";
import { ConfigError, StoreError } from "../errors.ts";
import { shorten } from "./words.ts";

export interface ExplainedFailure {
  readonly status: 400 | 500 | 503;
  readonly title: string;
  readonly words: string;
  /** A bug of ours, not a fault of what was asked or of the database. */
  readonly isOurs: boolean;
}

const QUERY_CANCELED = "57014";

/** What a page says of what went wrong. Of the database no more than that it is away: its address is nobody's business. */
export function explainFailure(error: unknown): ExplainedFailure {
  if (error instanceof ConfigError) {
    return {
      status: 400,
      title: "That cannot be answered",
      words: shorten(`${error.message}${error.hint ? `: ${error.hint}` : ""}`, 500),
      isOurs: false,
    };
  }
  if (sqlstateOf(error) === QUERY_CANCELED) {
    return {
      status: 503,
      title: "That took too long",
      words: "The database did not answer in time. Ask for fewer days, or try again in a minute.",
      isOurs: false,
    };
  }
  if (error instanceof StoreError) {
    return {
      status: 503,
      title: "The database does not answer",
      words: "It is looked for, and this page comes back by itself. Try again in a minute.",
      isOurs: false,
    };
  }
  return {
    status: 500,
    title: "Something is broken here",
    words: "This is a fault of docmirror. Its log has the details.",
    isOurs: true,
  };
}
