import type { Field, FieldKind } from "../../resources/declare.ts";
import { fieldsOf, type Resource, targetOf } from "../../resources/resources.ts";
import { filteringOf } from "./filters.ts";
import { DEFAULT_LIMIT } from "./paging.ts";

/**
 * The reply of `GET /api/v1/<resource>/schema/`. Its shape is not documented (`docs/interface.md`,
 * "Endpoints"). This is the shape of the recorded service, with the fields of `src/resources`.
 */
export function describeSchema(resource: Resource, apiPath: string): Record<string, unknown> {
  const fields = fieldsOf(resource).map(([name, field]) => [name, describeField(name, field, apiPath)]);
  const filtering = filteringOf(resource);
  return {
    allowed_detail_http_methods: ["get"],
    allowed_list_http_methods: ["get"],
    default_format: "application/json",
    default_limit: DEFAULT_LIMIT,
    fields: Object.fromEntries(fields),
    ...(Object.keys(filtering).length > 0 ? { filtering } : {}),
  };
}

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

function describeField(name: string, field: Field, apiPath: string): unknown {
  const { kind, to, filter, long, ...traits } = field;
  const related = targetOf(field);
  return {
    blank: false,
    default: traits.blank ? "" : "No default provided.",
    nullable: false,
    primary_key: name === "id",
    readonly: false,
    unique: false,
    verbose_name: name.replaceAll("_", " "),
    ...KINDS[kind],
    ...(related ? { related_schema: `${apiPath}/${related}/schema/` } : {}),
    ...traits,
  };
}
