import { build } from "./build.ts";
import type { Declaration, Field, RecordFrom } from "./declare.ts";
import { file } from "./file.ts";
import { project } from "./project.ts";
import { user } from "./user.ts";
import { version } from "./version.ts";

/** The resources of v1. Each one follows those that it refers to (`docs/interface.md`, "Endpoints"). */
const ALL = [user, project, version, file, build] as const;

type NamesOf<D extends readonly Declaration[]> = { readonly [At in keyof D]: D[At]["name"] };
export const RESOURCES = ALL.map(({ name }) => name) as unknown as NamesOf<typeof ALL>;
export type Resource = (typeof RESOURCES)[number];

export const DECLARATIONS = Object.fromEntries(
  ALL.map((one): [string, Declaration] => [one.name, one]),
) as Readonly<Record<Resource, Declaration>>;

export type DeclarationOf<R extends Resource> = Extract<(typeof ALL)[number], { name: R }>;
/** The record of each resource on the wire. */
export type RecordTypes = { [D in (typeof ALL)[number] as D["name"]]: RecordFrom<D> };

export function isResource(name: string): name is Resource {
  return (RESOURCES as readonly string[]).includes(name);
}

const ID: Field = { kind: "string", readonly: true, unique: true };

/** A field of a resource by its name, `id` too. Undefined for a name that is none. */
export function fieldOf(resource: Resource, name: string): Field | undefined {
  if (name === "id") return ID;
  const { fields } = DECLARATIONS[resource];
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

/** Every documented field of a resource with its name, `id` first. */
export function fieldsOf(resource: Resource): [string, Field][] {
  return [["id", ID], ...Object.entries(DECLARATIONS[resource].fields)];
}

/** The resource that a field refers to. Undefined when it is no reference. */
export function targetOf(field: Field | undefined): Resource | undefined {
  return field?.to?.name as Resource | undefined;
}

export interface ReferenceField {
  resource: Resource;
  field: string;
  kind: Field["kind"];
  /** The resource that the field refers to. */
  target: Resource;
}

/** Every field that refers to other records, in the order of the resources. */
export const REFERENCE_FIELDS: readonly ReferenceField[] = RESOURCES.flatMap((resource) =>
  fieldsOf(resource).flatMap(([name, field]) => {
    const target = targetOf(field);
    return target ? [{ resource, field: name, kind: field.kind, target }] : [];
  }),
);

/** The reply of `GET /api/v1/` (`docs/interface.md`, "Root listing"). */
export type RootEndpoints = Partial<Record<Resource, { list_endpoint: string; schema: string }>>;
