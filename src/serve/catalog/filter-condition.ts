import { RECORD_TABLES } from "../../mirror/load/tables.ts";
import { LOG_FIELDS } from "../../mirror/normalize/build.ts";
import { cleanText } from "../../mirror/normalize/clean-text.ts";
import type { Resource } from "../../resources/resources.ts";
import type { Filter } from "../protocol/catalog.ts";
import { kindOf, relatedBy } from "../protocol/filters.ts";

/**
 * The SQL condition of a filter over the row `r` of its resource. Values are added to `params`. Names come
 * from the lists of documented fields alone.
 */
export function filterCondition(
  resource: Resource,
  { path, value }: Filter,
  params: unknown[],
  row = "r",
): string {
  const [field = "", ...rest] = path;
  const kind = kindOf(resource, field);
  const related = relatedBy(kind, field);
  const bind = (given: unknown) => `$${params.push(given)}`;
  const text = cleanText(String(value), { nul: 0 });
  if (related === undefined) {
    if (resource === "build" && (LOG_FIELDS as readonly string[]).includes(field)) {
      return `exists (select from mirror.build_logs as logs where logs.build_id = ${row}.id and logs.${field} = ${bind(text)})`;
    }
    if (kind === "boolean") return `${row}.${field} = ${bind(value)}`;
    if (kind === "datetime") return `${row}.${field} = ${bind(value)}::text::timestamp`;
    return `${row}.${field} = ${bind(text)}`;
  }
  if (rest.length > 0) {
    const target = `${row}${row.length}`;
    const inner = filterCondition(related, { path: rest, value }, params, target);
    // An array, so that the ids are found once and the index on the reference finds the rows.
    const ids = `array(select ${target}.id from ${RECORD_TABLES[related].name} as ${target} where ${inner})`;
    return kind === "uris"
      ? `${row}.id = any (array(select project_id from mirror.project_users where user_id = any (${ids})))`
      : `${row}.${field}_id = any (${ids})`;
  }
  // An embedded project always has its id.
  if (kind === "embedded") return `${row}.${field}_id = ${bind(text)}`;
  // A reference to a record that is not in the mirror has the key in its URI alone.
  const uri = bind(`%/api/v1/${related}/${encodeURIComponent(text).replace(/[%_\\]/g, "\\$&")}/`);
  if (kind === "uris") {
    return `${row}.id = any (array(select project_id from mirror.project_users
      where user_id = ${bind(text)} or (user_id is null and user_uri like ${uri})))`;
  }
  const known = bind(text);
  // So has a reference that names its project by the slug, though the project is there.
  const named =
    related === "project"
      ? ` or ${row}.${field}_id = any (array(select id from mirror.projects where slug = ${known}))`
      : "";
  return `(${row}.${field}_id = ${known} or ((${row}.${field}_id is null${named}) and ${row}.${field}_uri like ${uri}))`;
}
