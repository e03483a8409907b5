import { type Query, withQuery } from "../parts/links.ts";
import type { PeriodChoice } from "../parts/period.ts";
import type { ErrorsChoice } from "./errors-questions.ts";

export const ERRORS_PATH = "/errors";

/** The address of the list with another choice; what is not named is kept, but the list begins anew. */
export type ErrorsHref = (changed: Query) => string;

/** A choice as it stands in an address, without its page. */
export const keptQuery = ({ since, until, kind, line, print, sort }: ErrorsChoice & PeriodChoice): Query => ({
  since,
  until,
  kind,
  line,
  print,
  sort: sort === "rise" ? undefined : sort,
});

export const hrefsOf =
  (choice: ErrorsChoice & PeriodChoice): ErrorsHref =>
  (changed) => {
    const { sort, ...others } = { ...keptQuery(choice), ...changed };
    return `${withQuery(ERRORS_PATH, { ...others, sort: sort === "rise" ? undefined : sort })}#lines`;
  };
