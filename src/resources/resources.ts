/** The resources of v1, each declared once, and what derives from their declarations. */
import {
  type Declaration,
  datetime,
  declare,
  embedded,
  type Field,
  flag,
  type RecordFrom,
  reference,
  references,
  text,
} from "./declare.ts";

export const user = declare({
  name: "user",
  foundBy: "username",
  summary: ["id", "username", "first_name", "last_name", "last_login"],
  fields: {
    resource_uri: text({ readonly: true }),
    username: text({ unique: true, filter: "exact" }),
    first_name: text({ blank: true }),
    last_name: text({ blank: true }),
    last_login: datetime({ nullable: true }),
  },
});

export type UserRecord = RecordFrom<typeof user>;

export const project = declare({
  name: "project",
  order: { by: "slug" },
  foundBy: "slug",
  summary: ["id", "slug", "name", "modified_date", "repo", "documentation_type", "default_version"],
  fields: {
    resource_uri: text({ readonly: true }),
    absolute_url: text({ readonly: true }),
    name: text(),
    slug: text({ unique: true, filter: 2 }),
    description: text({ blank: true }),
    analytics_code: text({ nullable: true }),
    copyright: text({ blank: true }),
    pkgindex_url: text({ blank: true }),
    pkgdirectory_url: text({ blank: true }),
    default_branch: text({ nullable: true, default: null }),
    default_version: text({ default: "latest" }),
    documentation_type: text({ default: "docgen" }),
    project_url: text({ blank: true }),
    repo: text({ blank: true }),
    repo_type: text({ default: "git" }),
    requirements_file: text({ nullable: true, default: null }),
    subdomain: text({ readonly: true }),
    suffix: text({ default: ".rst" }),
    theme: text({ default: "default" }),
    use_virtualenv: flag({ default: false }),
    users: references(user, { filter: 2 }),
    modified_date: datetime(),
    pub_date: datetime(),
    version: text({ blank: true }),
  },
});

export type ProjectRecord = RecordFrom<typeof project>;

export const version = declare({
  name: "version",
  order: { by: "verbose_name", isDescending: true },
  listedBy: "project",
  summary: ["id", "project", "slug", "active", "built", "uploaded", "identifier"],
  fields: {
    resource_uri: text({ readonly: true }),
    slug: text({ filter: 2 }),
    verbose_name: text(),
    identifier: text(),
    active: flag({ default: false, filter: 1 }),
    built: flag({ default: false }),
    uploaded: flag({ default: false }),
    project: embedded(project, { filter: 2 }),
  },
});

export type VersionRecord = RecordFrom<typeof version>;

export const file = declare({
  name: "file",
  summary: ["id", "project", "path", "absolute_url"],
  fields: {
    resource_uri: text({ readonly: true }),
    absolute_url: text({ readonly: true }),
    name: text(),
    path: text(),
    project: embedded(project),
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
    resource_uri: text({ readonly: true }),
    date: datetime(),
    project: reference(project, { filter: 2 }),
    version: reference(version, { nullable: true }),
    state: text({ default: "finished", filter: 2 }),
    success: flag({ default: true }),
    type: text({ default: "html", filter: 2 }),
    output: text({ blank: true, long: true }),
    error: text({ blank: true, long: true }),
    setup: text({ nullable: true, default: "", long: true }),
    setup_error: text({ nullable: true, default: "", long: true }),
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
