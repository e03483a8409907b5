import type { Resource } from "../../resources/resources.ts";
import type { AnySql } from "../../store/connection/sql.ts";
import { NotReadyError } from "../protocol/refusal.ts";

/** Throws `NotReadyError` until a walk has read the list of a resource to its end. */
export type AssertReady = (sql: AnySql, resource: Resource) => Promise<void>;

/** A list that was ready stays ready, so that it is asked for once. */
export function createReadiness(): AssertReady {
  const ready = new Set<Resource>();
  return async (sql, resource) => {
    if (ready.has(resource)) return;
    // A walk that broke off keeps a checkpoint, or has no page.
    const found = await sql`
      select from sync.walks
      where resource = ${resource} and finished_at is not null and checkpoint is null and pages > 0 limit 1`;
    if (found.length === 0) throw new NotReadyError(`The ${resource} list has not been read to its end yet`);
    ready.add(resource);
  };
}
