import type { Resource } from "../../resources/resources.ts";
import { isPassing, sqlstateOf, toStoreError } from "../../store/connection/store-errors.ts";

/** Whether data caused a failure: bad values (22), constraints (23), limits (54), a failed COPY (25P02). */
export function isDataFault(error: unknown): boolean {
  if (isPassing(error)) return false;
  return /^(22|23|54|25P02)/.test(sqlstateOf(error) ?? "");
}

/** The reason for the quarantine of a record that Postgres refused. */
export function refusalOf(error: unknown, resource: Resource, id: string): string {
  const cause = toStoreError(error, `store ${resource} ${id}`);
  return cause instanceof Error ? cause.message : String(cause);
}
