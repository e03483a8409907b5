import type { Sql } from "../../store/connection/connect.ts";
import { assertService, findService } from "../../store/ledger/mirrored-service.ts";
import { ok, type Result, unknown } from "./finding.ts";

/**
 * Whether the mirror is of the service that the settings name. Throws `ConfigError` where it is of another
 * one.
 */
export async function checkMirror(sql: Sql, baseUrl: URL | null): Promise<Result> {
  const service = await findService(sql);
  if (service === null)
    return unknown("the mirror does not say which service it is of", "the next sync stores it");
  if (baseUrl === null) return ok(`the mirror is of ${service.baseUrl}`);
  await assertService(sql, baseUrl);
  return ok(`the mirror is of ${service.baseUrl}, as the settings say`);
}
