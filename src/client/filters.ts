import { ConfigError } from "../base/errors.ts";
import type { FieldKind, Fields, Filtering } from "../resources/declare.ts";
import { type DeclarationOf, fieldsOf, type Resource } from "../resources/resources.ts";
import { queryText } from "./endpoint-path.ts";

type Filtered<F extends Fields> = {
  [Name in keyof F]: F[Name] extends { filter: Filtering } ? Name : never;
}[keyof F];

type ValueOf<K extends FieldKind> = K extends "boolean" ? boolean : string | number;

type FiltersOn<F extends Fields, Name extends keyof F> = {
  readonly [N in Name]?: ValueOf<F[N]["kind"]> | undefined;
} & ("project" extends Name ? { readonly project__slug?: string | undefined } : unknown);

/**
 * Conditions on a list, by field: those that the schema of the service has as filters (`docs/interface.md`, "Lists").
 * All of them apply. A project is given by its id, or by its slug as `project__slug`. Files have no such filter.
 */
export type Filters<R extends Resource> = [Filtered<DeclarationOf<R>["fields"]>] extends [never]
  ? Readonly<Record<string, never>>
  : FiltersOn<DeclarationOf<R>["fields"], Filtered<DeclarationOf<R>["fields"]>>;

/**
 * Any other parameters of a list. Nothing checks their names: a service ignores a name that it does not know, and then
 * gives the whole list. It answers 400 for a field that is no filter.
 */
export type OtherFilters = Readonly<Record<string, string | number | boolean | undefined>>;

interface GivenFilters {
  filters?: OtherFilters | undefined;
  otherFilters?: OtherFilters | undefined;
}

/** The client sets them itself. */
const OWN = ["limit", "offset", "format"];

/** The filters as a query. Throws ConfigError for a name in `filters` that is none, as programs in JavaScript may have. */
export function filterText(resource: Resource, { filters = {}, otherFilters = {} }: GivenFilters): string {
  const given = { ...filters, ...otherFilters };
  const own = OWN.filter((name) => Object.hasOwn(given, name));
  if (own.length > 0)
    throw new ConfigError(`${own.join(", ")} cannot be a filter: the client sets it itself`);
  const known = filterNames(resource);
  const unknown = Object.keys(filters).filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new ConfigError(`a ${resource} has no documented filter ${unknown.join(", ")}`, {
      hint: `${known.length === 0 ? "it has none" : `it has ${known.join(", ")}`}; others go into otherFilters, unchecked`,
    });
  return queryText({ ...given, format: "json" });
}

function filterNames(resource: Resource): string[] {
  const names = fieldsOf(resource).flatMap(([name, { filter }]) => (filter === undefined ? [] : [name]));
  return names.includes("project") ? [...names, "project__slug"] : names;
}
