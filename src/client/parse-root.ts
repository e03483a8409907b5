import { isJsonObject } from "../resources/json-object.ts";
import { isResource, RESOURCES, type Resource } from "../resources/resources.ts";
import { unexpectedShape } from "./unexpected-shape.ts";

/** The two endpoints of a resource, as paths. */
export interface ResourceEndpoints {
  readonly list_endpoint: string;
  /** Null when the service does not name it. */
  readonly schema: string | null;
}

/** The resources of a service by name. In `extra` are those that are not documented. */
export type RootListing = { readonly [R in Resource]?: ResourceEndpoints } & {
  readonly extra: Readonly<Partial<Record<string, ResourceEndpoints>>>;
};

/** Reads the root listing. Throws `UnexpectedShapeError` when it names none of the documented resources. */
export function parseRoot(value: unknown, url: string): RootListing {
  const entries = isJsonObject(value) ? Object.entries(value) : [];
  const found = entries.flatMap(([name, endpoints]): [string, ResourceEndpoints][] => {
    if (!isJsonObject(endpoints) || typeof endpoints.list_endpoint !== "string") return [];
    const { list_endpoint, schema } = endpoints;
    return [[name, { list_endpoint, schema: typeof schema === "string" ? schema : null }]];
  });
  const documented = found.filter(([name]) => isResource(name));
  if (documented.length === 0) {
    throw unexpectedShape(
      url,
      `it lists none of the resources ${RESOURCES.join(", ")}`,
      "the base URL is the part before /api/v1/",
    );
  }
  const others = found.filter(([name]) => !isResource(name));
  return { ...Object.fromEntries(documented), extra: Object.fromEntries(others) };
}
