import { ConfigError } from "../base/errors.ts";
import { ROOT_PATH } from "../mirror/api/api-url.ts";
import type { Fields, Filtering } from "../resources/declare.ts";
import { isStorableId } from "../resources/record-id.ts";
import {
  type DeclarationOf,
  fieldsOf,
  isResource,
  RESOURCES,
  type Resource,
} from "../resources/resources.ts";

/** Throws ConfigError for a name that is no resource, as programs in JavaScript may have. */
export function listPath(resource: Resource): string {
  if (isResource(resource)) return `${ROOT_PATH}${resource}/`;
  const hint = `the resources are ${RESOURCES.join(", ")}`;
  throw new ConfigError(`'${String(resource).slice(0, 100)}' is no resource of the service`, { hint });
}

/** The path of a detail. The closing slash saves a redirect. Throws ConfigError for a key that no record can have. */
export function recordPath(resource: Resource, key: string): string {
  return `${listPath(resource)}${keySegment(resource, key)}/`;
}

/** An id or a slug as a step of a path. Throws ConfigError for a key that would lead elsewhere, as `..` or none. */
export function keySegment(resource: Resource, key: string): string {
  if (!isStorableId(key) || key === "." || key === "..") {
    throw new ConfigError(`'${key.slice(0, 100)}' can be neither the id nor the slug of a ${resource}`, {
      hint: "an id or a slug is a text of 1 to 255 characters, and not a step of a path",
    });
  }
  return encodeURIComponent(key);
}

/** `page` counts from 1. A service that does not know it answers with its first hits. */
export const fileSearchPath = (q: string, page?: number) =>
  `${listPath("file")}search/?${queryText({ q, page })}`;

export const anchorSearchPath = (q: string) => `${listPath("file")}anchor/?${queryText({ q })}`;

export interface DocSearch {
  /** A project's slug. */
  project: string;
  /** A version's slug. @default "latest" */
  version?: string | undefined;
  q: string;
}

export const docSearchPath = ({ project, version = "latest", q }: DocSearch) =>
  `/api/v2/docsearch/?${queryText({ project, version, q })}`;

/** The values as a query. Undefined leaves a parameter out. */
export function queryText(parameters: OtherFilters): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query.append(name, String(value).toWellFormed());
  }
  return query.toString();
}

type Filtered<F extends Fields> = {
  [Name in keyof F]: F[Name] extends { filter: Filtering } ? Name : never;
}[keyof F];

type FiltersOn<F extends Fields, Name extends keyof F> = {
  readonly [N in Name]?: (F[N]["kind"] extends "boolean" ? boolean : string | number) | undefined;
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

/** The client sets them itself. */
const OWN = ["limit", "offset", "format"];

/** The filters as a query. Throws ConfigError for a name in `filters` that is none, as programs in JavaScript may have. */
export function filterText(
  resource: Resource,
  { filters = {}, otherFilters = {} }: { [K in "filters" | "otherFilters"]?: OtherFilters | undefined },
): string {
  const given = { ...filters, ...otherFilters };
  const own = OWN.filter((name) => Object.hasOwn(given, name));
  if (own.length > 0)
    throw new ConfigError(`${own.join(", ")} cannot be a filter: the client sets it itself`, {
      hint: "use the options limit, pageSize and offset",
    });
  const fields = fieldsOf(resource).flatMap(([name, { filter }]) => (filter === undefined ? [] : [name]));
  const known = fields.includes("project") ? [...fields, "project__slug"] : fields;
  const unknown = Object.keys(filters).filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new ConfigError(`a ${resource} has no documented filter ${unknown.join(", ")}`, {
      hint: `${known.length === 0 ? "it has none" : `it has ${known.join(", ")}`}; others go into otherFilters, unchecked`,
    });
  return queryText({ ...given, format: "json" });
}

export const wrongOption = (message: string): ConfigError =>
  new ConfigError(message, { hint: "docs/client.md and the types say what each option takes" });

export function assertCount(name: string, value: number, min: number, max = Number.MAX_SAFE_INTEGER): void {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return;
  const range = `from ${min}${max === Number.MAX_SAFE_INTEGER ? "" : ` to ${max}`}`;
  throw wrongOption(`${name} should be a whole number ${range}, and is ${value}`);
}
