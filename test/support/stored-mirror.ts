import type { Sql } from "../../src/db/connect.ts";
import type { NormalizedRecord } from "../../src/normalize/normalized.ts";
import type { Columns } from "../../src/normalize/record.ts";
import { parseLocalTime } from "../../src/wire/local-time.ts";
import { RESOURCE_FIELDS, type Resource } from "../../src/wire/resources.ts";
import { restoreRecord } from "./restore-record.ts";

const TABLES = [
  "users",
  "projects",
  "project_users",
  "versions",
  "files",
  "builds",
  "build_logs",
  "build_transitions",
  "changes",
  "unresolved_references",
];

/** Every row of the mirror with its physical place, which a write would move even where it changes nothing. */
export async function fingerprint(sql: Sql): Promise<Record<string, string[]>> {
  const prints: Record<string, string[]> = {};
  for (const table of TABLES) {
    const rows = await sql.unsafe<{ print: string }[]>(
      `select ctid::text || md5(row::text) as print from mirror.${table} as row order by ctid`,
    );
    prints[table] = rows.map(({ print }) => print);
  }
  return prints;
}

/** The stored records of a resource in their wire form, by id, all unless `ids` names some; embedded projects are those of `mirror.projects`. */
export async function restoreStored(
  sql: Sql,
  resource: Resource,
  ids: readonly string[] | null = null,
): Promise<Map<string, Record<string, unknown>>> {
  const projects = new Map<string, Record<string, unknown>>();
  for (const row of await normalizedRows(sql, "project"))
    projects.set(
      row.id,
      restoreRecord("project", row, () => null),
    );
  if (resource === "project") return projects;
  const rows = await normalizedRows(sql, resource, ids);
  return new Map(rows.map((row) => [row.id, restoreRecord(resource, row, (id) => projects.get(id) ?? null)]));
}

async function normalizedRows(
  sql: Sql,
  resource: Resource,
  ids: readonly string[] | null = null,
): Promise<NormalizedRecord[]> {
  const from = resource === "build" ? "builds join mirror.build_logs on build_id = id" : `${resource}s`;
  const rows = await sql.unsafe<(Columns & { id: string; extra: NormalizedRecord["extra"] })[]>(
    `select * from mirror.${from} where $1::text[] is null or id = any ($1::text[])`,
    [ids as string[] | null],
  );
  const users =
    resource === "project"
      ? await sql<{ project_id: string; position: number; user_uri: string }[]>`
          select project_id, position, user_uri from mirror.project_users`
      : [];
  const dates = Object.entries(RESOURCE_FIELDS[resource]).flatMap(([field, kind]) =>
    kind === "datetime" ? [field] : [],
  );
  return rows.map(({ id, extra, ...columns }) => {
    for (const date of dates) {
      const value = columns[date];
      if (typeof value === "string") columns[date] = parseLocalTime(value)?.text ?? value;
    }
    return {
      id,
      hash: "",
      columns,
      extra,
      projectId: typeof columns.project_id === "string" ? columns.project_id : null,
      logs: null,
      references: users
        .filter(({ project_id }) => project_id === id)
        .map(({ position, user_uri }) => ({
          field: "users" as const,
          position,
          uri: user_uri,
          target: { kind: "malformed" as const },
        })),
    };
  });
}
