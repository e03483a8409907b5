import type { SQL } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { columnOf, RECORD_TABLES, recordsAs } from "../../mirror/load/tables.ts";
import { cleanText } from "../../mirror/normalize/clean-text.ts";
import { fieldOf, type Resource, targetOf } from "../../resources/resources.ts";
import { compose } from "../../store/connection/run-statement.ts";
import { buildLogs, projects, projectUsers } from "../../store/schema/index.ts";
import type { Filter } from "../protocol/catalog.ts";

/**
 * The SQL condition of a filter over the rows of its resource, which are called `name`. Names of fields come from the
 * lists of documented fields alone.
 */
export function filterCondition(resource: Resource, { path, value }: Filter, name: string): SQL {
  const [field = "", ...rest] = path;
  const declared = fieldOf(resource, field);
  const kind = declared?.kind;
  const related = targetOf(declared);
  const text = cleanText(String(value), { nul: 0 });
  const row = recordsAs(resource, name);
  if (related === undefined) {
    if (declared?.long) {
      const logs = alias(buildLogs, "logs");
      return compose`exists (
        select from ${buildLogs} as ${logs} where ${logs.build_id} = ${row.id} and ${columnOf(logs, field)} = ${text})`;
    }
    const column = columnOf(row, field);
    if (kind === "boolean") return compose`${column} = ${value}`;
    if (kind === "datetime") return compose`${column} = ${value}::text::timestamp`;
    return compose`${column} = ${text}`;
  }
  const isAdministeredBy = (users: SQL) => compose`${row.id} = any (array(
    select ${projectUsers.project_id} from ${projectUsers} where ${users}))`;
  if (rest.length > 0) {
    const target = recordsAs(related, `${name}${name.length}`);
    const inner = filterCondition(related, { path: rest, value }, `${name}${name.length}`);
    // An array, so that the ids are found once and the index on the reference finds the rows.
    const ids = compose`array(select ${target.id} from ${RECORD_TABLES[related].table} as ${target} where ${inner})`;
    return kind === "uris"
      ? isAdministeredBy(compose`${projectUsers.user_id} = any (${ids})`)
      : compose`${columnOf(row, `${field}_id`)} = any (${ids})`;
  }
  // A reference to a record that is not in the mirror has the key in its URI alone.
  const uri = `%/api/v1/${related}/${encodeURIComponent(text).replace(/[%_\\]/g, "\\$&")}/`;
  if (kind === "uris") {
    const { user_id, user_uri } = projectUsers;
    return isAdministeredBy(
      compose`${user_id} = ${text} or (${user_id} is null and ${user_uri} like ${uri})`,
    );
  }
  const key = columnOf(row, `${field}_id`);
  // An embedded project always has its id.
  if (kind === "embedded") return compose`${key} = ${text}`;
  // So has a reference that names its project by the slug, though the project is there.
  const named =
    related === "project"
      ? compose` or ${key} = any (array(select ${projects.id} from ${projects} where ${projects.slug} = ${text}))`
      : undefined;
  return compose`(${key} = ${text}
    or ((${key} is null${named}) and ${columnOf(row, `${field}_uri`)} like ${uri}))`;
}
