import type { FieldKind } from "../../resources/fields.ts";
import { RELATED, RESOURCE_FIELDS, type Resource } from "../../resources/resources.ts";
import { FILTERING } from "./filters.ts";
import { DEFAULT_LIMIT } from "./paging.ts";

/**
 * The reply of `GET /api/v1/<resource>/schema/`. Its shape is not documented (`docs/interface.md`,
 * "Endpoints"). This is the shape of the recorded service, with the kinds of `src/resources`.
 */
export function describeSchema(resource: Resource, apiPath: string): Record<string, unknown> {
  const fields: Record<string, unknown> = { id: describeField(resource, "id", "string", apiPath) };
  for (const [name, kind] of Object.entries(RESOURCE_FIELDS[resource])) {
    fields[name] = describeField(resource, name, kind, apiPath);
  }
  const filtering = FILTERING[resource];
  return {
    allowed_detail_http_methods: ["get"],
    allowed_list_http_methods: ["get"],
    default_format: "application/json",
    default_limit: DEFAULT_LIMIT,
    fields,
    ...(filtering ? { filtering } : {}),
  };
}

interface Traits {
  blank?: true;
  nullable?: true;
  readonly?: true;
  unique?: true;
  primary_key?: true;
  default?: string | boolean | null;
}

const MAY_BE_EMPTY: Traits = { blank: true, default: "" };

/** The properties of single fields in the recorded schemas, apart from their kind. */
const TRAITS: Record<Resource, Record<string, Traits>> = {
  build: {
    error: MAY_BE_EMPTY,
    output: MAY_BE_EMPTY,
    setup: { nullable: true, default: "" },
    setup_error: { nullable: true, default: "" },
    state: { default: "finished" },
    success: { default: true },
    type: { default: "html" },
    version: { nullable: true },
  },
  file: {},
  project: {
    analytics_code: { nullable: true },
    copyright: MAY_BE_EMPTY,
    default_branch: { nullable: true, default: null },
    default_version: { default: "latest" },
    description: MAY_BE_EMPTY,
    documentation_type: { default: "docgen" },
    pkgdirectory_url: MAY_BE_EMPTY,
    pkgindex_url: MAY_BE_EMPTY,
    project_url: MAY_BE_EMPTY,
    repo: MAY_BE_EMPTY,
    repo_type: { default: "git" },
    requirements_file: { nullable: true, default: null },
    slug: { unique: true },
    subdomain: { readonly: true },
    suffix: { default: ".rst" },
    theme: { default: "default" },
    use_virtualenv: { default: false },
    version: MAY_BE_EMPTY,
  },
  user: {
    first_name: MAY_BE_EMPTY,
    last_name: MAY_BE_EMPTY,
    last_login: { nullable: true },
    username: { unique: true },
  },
  version: { active: { default: false }, built: { default: false }, uploaded: { default: false } },
};

const COMMON_TRAITS: Record<string, Traits> = {
  id: { primary_key: true, readonly: true, unique: true },
  resource_uri: { readonly: true },
  absolute_url: { readonly: true },
};

const ONE_RELATED = "A single related resource. Can be either a URI or set of nested resource data.";

const KINDS: Record<FieldKind, { type: string; help_text: string; related_type?: string }> = {
  string: { type: "string", help_text: 'Unicode string data. Ex: "Hello World"' },
  boolean: { type: "boolean", help_text: "Boolean data. Ex: True" },
  datetime: { type: "datetime", help_text: 'A date & time as a string. Ex: "2010-11-10T03:07:43"' },
  uri: { type: "related", help_text: ONE_RELATED, related_type: "to_one" },
  embedded: { type: "related", help_text: ONE_RELATED, related_type: "to_one" },
  uris: {
    type: "related",
    help_text:
      "Many related resources. Can be either a list of URIs or list of individually nested resource data.",
    related_type: "to_many",
  },
};

function describeField(resource: Resource, name: string, kind: FieldKind, apiPath: string): unknown {
  const related = KINDS[kind].related_type ? RELATED[name] : undefined;
  return {
    blank: false,
    default: "No default provided.",
    nullable: false,
    primary_key: false,
    readonly: false,
    unique: false,
    verbose_name: name.replaceAll("_", " "),
    ...KINDS[kind],
    ...(related ? { related_schema: `${apiPath}/${related}/schema/` } : {}),
    ...COMMON_TRAITS[name],
    ...TRAITS[resource][name],
  };
}
