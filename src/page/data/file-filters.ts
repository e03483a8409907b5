/**
 * What narrows a file. A page says in words what it shows, and ignores what it does not know: chats and mail programs add
 * words of their own to a link. A program reads only rows, so a file refuses what does not narrow it.
 */
import { didYouMean, nearestNames } from "../../base/config/nearest-names.ts";
import { ConfigError } from "../../base/errors.ts";
import { type AnswerFilters, FILTER_NAMES, filtersOf } from "../../report/ask.ts";
import type { Relation } from "../../report/dictionary.ts";
import type { PageFiles } from "../parts/block.ts";

/** The filters of a relation's file, as `docmirror report` has them. An empty one is none, but a slug may be empty. */
export function readFilters(relation: Relation, query: URLSearchParams): AnswerFilters {
  assertKnown(relation, query, FILTER_NAMES, filtersOf(relation));
  const given = (name: string) => query.get(name) || undefined;
  const limit = given("limit");
  return {
    project: query.get("project") ?? undefined,
    version: given("version"),
    type: given("type"),
    since: given("since"),
    until: given("until"),
    limit: limit === undefined ? undefined : Number(/^\d+$/.test(limit) ? limit : Number.NaN),
  };
}

/** Throws ConfigError for a block that a page does not have, and for what does not narrow its rows. */
export function assertNarrows(
  page: string,
  block: string,
  query: URLSearchParams,
  { parameters }: Pick<PageFiles, "parameters">,
): void {
  const own = Object.hasOwn(parameters, block) ? parameters[block] : undefined;
  const blocks = Object.keys(parameters);
  if (own === undefined) {
    const nearest = didYouMean(nearestNames(block, blocks));
    throw new ConfigError(`the page ${page} has no rows of ${block}${nearest}`, {
      hint: `it has those of ${blocks.join(", ")}`,
    });
  }
  const all = Object.values(parameters).flatMap((one) => Object.keys(one));
  assertKnown(block, query, all, Object.keys(own));
  for (const [name, values] of Object.entries(own)) {
    const given = query.get(name);
    if (values === null || given === null || given === "" || values.includes(given)) continue;
    throw new ConfigError(`${name} cannot be ${given}${didYouMean(nearestNames(given, values))}`, {
      hint: `it can be ${values.join(", ")}`,
    });
  }
}

/** `known` are all names that something has, `possible` those that this has. */
function assertKnown(
  what: string,
  query: URLSearchParams,
  known: readonly string[],
  possible: readonly string[],
): void {
  const hint = possible.length === 0 ? "nothing narrows it" : `it can be narrowed by ${possible.join(", ")}`;
  for (const name of new Set(query.keys())) {
    if (!possible.includes(name)) {
      const nearest = known.includes(name) ? [] : nearestNames(name, possible);
      throw new ConfigError(`${what} cannot be narrowed by ${name}${didYouMean(nearest)}`, { hint });
    }
    if (query.getAll(name).length > 1) throw new ConfigError(`${name} is given twice`, { hint });
  }
}
