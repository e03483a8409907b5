import { isJsonObject } from "../resources/json-object.ts";
import { RESOURCES } from "../resources/resources.ts";
import { unexpectedShape } from "./unexpected-shape.ts";

/** The two endpoints of a resource, as paths. */
export interface ResourceEndpoints {
  readonly list_endpoint: string;
  /** Null when the service does not name it. */
  readonly schema: string | null;
}

/** The resources of a service by name, those that are not documented too. */
export type RootListing = Readonly<Partial<Record<string, ResourceEndpoints>>>;

/** Reads the root listing. Throws `UnexpectedShapeError` when it names none of the documented resources. */
export function parseRoot(value: unknown, url: string): RootListing {
  const entries = isJsonObject(value) ? Object.entries(value) : [];
  const found = entries.flatMap(([name, endpoints]): [string, ResourceEndpoints][] => {
    if (!isJsonObject(endpoints) || typeof endpoints.list_endpoint !== "string") return [];
    const { list_endpoint, schema } = endpoints;
    return [[name, { list_endpoint, schema: typeof schema === "string" ? schema : null }]];
  });
  if (!found.some(([name]) => (RESOURCES as readonly string[]).includes(name))) {
    throw unexpectedShape(
      url,
      `it lists none of the resources ${RESOURCES.join(", ")}`,
      "the base URL is the part before /api/v1/",
    );
  }
  return Object.fromEntries(found);
}
