import type { TransactionSql } from "../../../store/connection/sql.ts";

/** The usernames of those who maintain projects, by the project's id. */
export type Maintainers = ReadonlyMap<unknown, string>;

/** Null where the role that reads may not see people: Postgres decides that, by its rights on schema report_people. */
export async function findMaintainers(
  tx: TransactionSql,
  ids: readonly unknown[],
): Promise<Maintainers | null> {
  // The name of a relation in a schema that is hidden from the role would be an error.
  const [right] = await tx<{ mayRead: boolean | null }[]>`
    select case when has_schema_privilege(to_regnamespace('report_people')::oid, 'usage')
      then has_table_privilege(to_regclass('report_people.project_maintainers')::oid, 'select') end as "mayRead"`;
  if (!right?.mayRead) return null;
  const rows = await tx<{ project_id: string; maintainers: string }[]>`
    select project_id, maintainers from report_people.project_maintainers where project_id = any (${ids.map(String)})`;
  return new Map(rows.map(({ project_id, maintainers }) => [project_id, maintainers]));
}
