import type { Resource } from "../../resources/resources.ts";
import type { Sql, TransactionSql } from "../../store/connection/sql.ts";
import { BASE_SIZE, createPageSize, type PageSize, type RememberedSize } from "../walk/page-size.ts";
import type { SyncSettings } from "./plan.ts";
import type { ListOptions } from "./reading.ts";

type Setting = SyncSettings["pageSize"];

/** The records in the first request for a list of which nothing is known, and in those that are narrowed. */
export const firstPageSize = (setting: Setting) => (setting === "auto" ? BASE_SIZE : setting);

/** The records in one request for a list: the setting, and for `auto` what was found for this list, or 100. */
export async function findPageSize(sql: Sql, setting: Setting, resource: Resource): Promise<number> {
  return setting === "auto" ? ((await recall(sql, resource))?.size ?? BASE_SIZE) : setting;
}

/** Finds the size of a list's pages. Null for a size that is set. */
export async function findSizing(
  sql: Sql,
  { pageSize, startSize }: Pick<ListOptions, "pageSize" | "startSize">,
  resource: Resource,
) {
  if (pageSize !== "auto") return null;
  const remembered = await recall(sql, resource);
  return createPageSize(remembered, remembered ? undefined : await startSize);
}

async function recall(sql: Sql, resource: Resource): Promise<RememberedSize | null> {
  const [row] = await sql<{ size: number; shrunkAt: string | null }[]>`
    select page_size as size, shrunk_at as "shrunkAt" from sync.page_sizes where resource = ${resource}`;
  return row ? { size: row.size, shrunkAt: row.shrunkAt === null ? null : new Date(row.shrunkAt) } : null;
}

/** Returns what stores the size for the next walk with the pages, when it has changed. */
export function keepPageSize(resource: Resource, sizing: PageSize | null) {
  const textOf = ({ size, shrunkAt }: RememberedSize) => `${size} ${shrunkAt?.toISOString()}`;
  let kept = textOf(sizing?.remembered ?? { size: BASE_SIZE, shrunkAt: null });
  return async (tx: TransactionSql): Promise<void> => {
    if (!sizing || textOf(sizing) === kept) return;
    const { size, shrunkAt } = sizing;
    await tx`
      insert into sync.page_sizes (resource, page_size, shrunk_at, service)
      select ${resource}, ${Math.max(BASE_SIZE, size)}, ${shrunkAt?.toISOString() ?? null}::timestamptz, id from sync.service
      on conflict (resource) do update set page_size = excluded.page_size, shrunk_at = excluded.shrunk_at`;
    kept = textOf(sizing);
  };
}
