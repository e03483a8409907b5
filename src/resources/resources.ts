/** The resources of v1, each declared once, and what derives from their declarations. */
import { type Declaration, declare, type Field, type RecordFrom } from "./declare.ts";

export const user = declare({
  name: "user",
  foundBy: "username",
  summary: ["id", "username", "first_name", "last_name", "last_login"],
  fields: {
    resource_uri: { kind: "string", readonly: true },
    username: { kind: "string", unique: true, filter: "exact" },
    first_name: { kind: "string", blank: true },
    last_name: { kind: "string", blank: true },
    last_login: { kind: "datetime", nullable: true },
  },
});

export type UserRecord = RecordFrom<typeof user>;

export const project = declare({
  name: "project",
  order: { by: "slug" },
  foundBy: "slug",
  summary: ["id", "slug", "name", "modified_date", "repo", "documentation_type", "default_version"],
  fields: {
    resource_uri: { kind: "string", readonly: true },
    absolute_url: { kind: "string", readonly: true },
    name: { kind: "string" },
    slug: { kind: "string", unique: true, filter: 2 },
    description: { kind: "string", blank: true },
    analytics_code: { kind: "string", nullable: true },
    copyright: { kind: "string", blank: true },
    pkgindex_url: { kind: "string", blank: true },
    pkgdirectory_url: { kind: "string", blank: true },
    default_branch: { kind: "string", nullable: true, default: null },
    default_version: { kind: "string", default: "latest" },
    documentation_type: { kind: "string", default: "docgen" },
    project_url: { kind: "string", blank: true },
    repo: { kind: "string", blank: true },
    repo_type: { kind: "string", default: "git" },
    requirements_file: { kind: "string", nullable: true, default: null },
    subdomain: { kind: "string", readonly: true },
    suffix: { kind: "string", default: ".rst" },
    theme: { kind: "string", default: "default" },
    use_virtualenv: { kind: "boolean", default: false },
    users: { kind: "uris", to: user, filter: 2 },
    modified_date: { kind: "datetime" },
    pub_date: { kind: "datetime" },
    version: { kind: "string", blank: true },
  },
});

export type ProjectRecord = RecordFrom<typeof project>;

export const version = declare({
  name: "version",
  order: { by: "verbose_name", isDescending: true },
  listedBy: "project",
  summary: ["id", "project", "slug", "active", "built", "uploaded", "identifier"],
  fields: {
    resource_uri: { kind: "string", readonly: true },
    slug: { kind: "string", filter: 2 },
    verbose_name: { kind: "string" },
    identifier: { kind: "string" },
    active: { kind: "boolean", default: false, filter: 1 },
    built: { kind: "boolean", default: false },
    uploaded: { kind: "boolean", default: false },
    project: { kind: "embedded", to: project, filter: 2 },
  },
});

export type VersionRecord = RecordFrom<typeof version>;

export const file = declare({
  name: "file",
  summary: ["id", "project", "path", "absolute_url"],
  fields: {
    resource_uri: { kind: "string", readonly: true },
    absolute_url: { kind: "string", readonly: true },
    name: { kind: "string" },
    path: { kind: "string" },
    project: { kind: "embedded", to: project },
  },
});

export type FileRecord = RecordFrom<typeof file>;

/** One hit of the file search: a file record with a snippet (`docs/interface.md`, "Searches"). */
export interface FileHitRecord extends FileRecord {
  text: string;
}

export const build = declare({
  name: "build",
  order: { by: "date", isDescending: true },
  listedBy: "project",
  // The schema of the service names it. A build has no slug, so a filter by it is an unknown parameter.
  otherFilters: { slug: 2 },
  summary: ["id", "date", "state", "success", "type", "project", "version", "error"],
  fields: {
    resource_uri: { kind: "string", readonly: true },
    date: { kind: "datetime" },
    project: { kind: "uri", to: project, filter: 2 },
    version: { kind: "uri", to: version, nullable: true },
    state: { kind: "string", default: "finished", filter: 2 },
    success: { kind: "boolean", default: true },
    type: { kind: "string", default: "html", filter: 2 },
    output: { kind: "string", blank: true, long: true },
    error: { kind: "string", blank: true, long: true },
    setup: { kind: "string", nullable: true, default: "", long: true },
    setup_error: { kind: "string", nullable: true, default: "", long: true },
  },
});

export type BuildRecord = RecordFrom<typeof build>;

/** One hit of the doc search (`docs/interface.md`, "Searches"). */
export interface FoundDoc {
  link: string;
  path: string;
  project: string;
  title: string;
  version: string;
  /** Snippets in which an HTML em element surrounds each matched word. */
  content: readonly string[];
}

export interface FoundDocs {
  total: number;
  /** Null when nothing was found. */
  maxScore: number | null;
  hits: readonly FoundDoc[];
}

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

/** Every field that refers to other records, with the resource that it refers to, in the order of the resources. */
export const REFERENCE_FIELDS = RESOURCES.flatMap((resource) =>
  fieldsOf(resource).flatMap(([name, field]) => {
    const target = targetOf(field);
    return target ? [{ resource, field: name, kind: field.kind, target }] : [];
  }),
);

/** The reply of `GET /api/v1/` (`docs/interface.md`, "Root listing"). */
export type RootEndpoints = Partial<Record<Resource, { list_endpoint: string; schema: string }>>;
