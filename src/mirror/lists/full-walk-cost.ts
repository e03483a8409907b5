import { RESOURCES, type Resource } from "../../resources/resources.ts";
import type { Sql } from "../../store/connection/sql.ts";
import { BASE_SIZE } from "../walk/page-size.ts";
import type { SyncSettings } from "./sync-settings.ts";

/**
 * Estimates the seconds of full walks at the rate that is set, from the newest count of each list and the
 * page size. The page size is the smaller one of the setting and what the service allowed; with `auto` it is
 * the one that was found for the list, or 100. 0 without a rate, and for a list that was never walked.
 */
export async function estimateFullWalks(
  sql: Sql,
  { pageSize, ratePerSecond }: Pick<SyncSettings, "pageSize" | "ratePerSecond">,
): Promise<{ all: number; build: number }> {
  const lists = await sql<
    { resource: Resource; records: number; size: number | null; limit: number | null }[]
  >`
    select of.resource, counted.total_count as records,
      (select page_size from sync.page_sizes where page_sizes.resource = of.resource) as size,
      (select (meta ->> 'limit')::bigint from sync.pages where pages.resource = of.resource order by seq limit 1) as limit
    from unnest(${[...RESOURCES]}::text[]) as of (resource)
    cross join lateral (
      select total_count from sync.walks
      where walks.resource = of.resource and total_count is not null order by run_id desc limit 1
    ) as counted`;
  const seconds = (some: typeof lists) => {
    const pages = some.map(({ records, size, limit }) => {
      const asked = pageSize === "auto" ? (size ?? BASE_SIZE) : pageSize;
      return Math.ceil(records / Math.min(asked, limit || asked));
    });
    return ratePerSecond === 0 ? 0 : pages.reduce((sum, count) => sum + count, 0) / ratePerSecond;
  };
  return {
    all: seconds(lists),
    build: seconds(lists.filter(({ resource }) => resource === "build") as typeof lists),
  };
}
