import { buildFields } from "./build.ts";
import type { FieldKind, FieldKinds } from "./fields.ts";
import { fileFields } from "./file.ts";
import { projectFields } from "./project.ts";
import { userFields } from "./user.ts";
import { versionFields } from "./version.ts";

/** The five resources of v1. Each one follows those that it refers to (`docs/interface.md`, "Endpoints"). */
export const RESOURCES = ["user", "project", "version", "file", "build"] as const;
export type Resource = (typeof RESOURCES)[number];

export function isResource(name: string): name is Resource {
  return (RESOURCES as readonly string[]).includes(name);
}

/** Every documented field of a resource except `id`, with its kind of value. */
export const RESOURCE_FIELDS: Record<Resource, FieldKinds> = {
  user: userFields,
  project: projectFields,
  version: versionFields,
  file: fileFields,
  build: buildFields,
};

/** The resource that a related field points to. */
export const RELATED: Record<string, Resource> = { project: "project", version: "version", users: "user" };

export interface ReferenceField {
  resource: Resource;
  field: string;
  kind: FieldKind;
  /** The resource that the field refers to. */
  target: Resource;
}

/** Every field that refers to other records, in the order of the resources. */
export const REFERENCE_FIELDS: readonly ReferenceField[] = RESOURCES.flatMap((resource) =>
  Object.entries(RESOURCE_FIELDS[resource]).flatMap(([field, kind]) => {
    const target = ["uri", "uris", "embedded"].includes(kind) ? RELATED[field] : undefined;
    return target ? [{ resource, field, kind, target }] : [];
  }),
);

/** The reply of `GET /api/v1/` (`docs/interface.md`, "Root listing"). */
export type RootEndpoints = Partial<Record<Resource, { list_endpoint: string; schema: string }>>;
