import type { Resource } from "../../resources/resources.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import type { RunParts } from "../load/run-parts.ts";
import { BASE_SIZE, createPageSize, type PageSize, type RememberedSize } from "../walk/page-size.ts";
import type { ListFacts, SyncSettings } from "./plan.ts";
import type { ListOptions, PageSizes } from "./reading.ts";

type Setting = SyncSettings["pageSize"];

/** The records in the first request for a list of which nothing is known, and in those that are narrowed. */
export const firstPageSize = (setting: Setting) => (setting === "auto" ? BASE_SIZE : setting);

type SizeRow = Pick<ListFacts, "resource" | "size" | "shrunkAt">;

export function pageSizesOf(lists: readonly SizeRow[]): ReadonlyMap<Resource, RememberedSize> {
  const toDate = (at: string | null) => (at === null ? null : new Date(at));
  return new Map(
    lists.flatMap(({ resource, size, shrunkAt }) =>
      size === null ? [] : [[resource, { size, shrunkAt: toDate(shrunkAt) }]],
    ),
  );
}

/** Asks when it is called first. */
export function createPageSizes({ sql, patience }: Pick<RunParts, "sql" | "patience">): PageSizes {
  let found: ReturnType<PageSizes> | undefined;
  const find = async () =>
    pageSizesOf(
      await sql<SizeRow[]>`
        select resource, page_size as size, shrunk_at as "shrunkAt" from sync.page_sizes`,
    );
  return () => {
    found ??= patience("find the page sizes", find);
    return found;
  };
}

/** The records in one request for a list: the setting, and for `auto` what was found for this list, or 100. */
export async function findPageSize(sizes: PageSizes, setting: Setting, resource: Resource): Promise<number> {
  return setting === "auto" ? ((await sizes()).get(resource)?.size ?? BASE_SIZE) : setting;
}

/** Finds the size of a list's pages. Null for a size that is set. */
export async function findSizing(
  { pageSize, startSize, sizes }: Pick<ListOptions, "pageSize" | "startSize" | "sizes">,
  resource: Resource,
) {
  if (pageSize !== "auto") return null;
  const remembered = (await sizes()).get(resource) ?? null;
  return createPageSize(remembered, remembered ? undefined : await startSize);
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
