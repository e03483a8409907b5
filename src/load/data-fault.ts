import { isPassing, sqlstateOf, toStoreError } from "../db/store-errors.ts";
import type { Resource } from "../wire/resources.ts";

/** Whether a failure lies in what was to be stored: bad values (22), constraints (23), limits (54), or a COPY's failure hidden behind 25P02. */
export function isDataFault(error: unknown): boolean {
  if (isPassing(error)) return false;
  return /^(22|23|54|25P02)/.test(sqlstateOf(error) ?? "");
}

/** Why a record is in quarantine, when Postgres refused it. */
export function refusalOf(error: unknown, resource: Resource, id: string): string {
  const cause = toStoreError(error, `store ${resource} ${id}`);
  return cause instanceof Error ? cause.message : String(cause);
}
