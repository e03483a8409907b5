import { EXIT } from "../../base/errors.ts";
import type { Sql } from "../../store/connection/connect.ts";
import { findLackingRights } from "../../store/migrate/lacking-rights.ts";
import { fault, ok, type Result, warning } from "./finding.ts";

/** The first rights of a long list show what is wrong. */
const MAX_SHOWN = 3;

/** Whether the role may do what docmirror does. */
export async function checkRights(sql: Sql): Promise<Result> {
  const lacking = await findLackingRights(sql);
  if (lacking.sync.length > 0) {
    return fault(
      `the role may not ${listed(lacking.sync)}`,
      "grant the role what it lacks, or use the role that owns the schemas mirror and sync",
      EXIT.database,
    );
  }
  if (lacking.migrate.length > 0) {
    return warning(
      `enough for a sync, but the role may not ${listed(lacking.migrate)}`,
      "run `docmirror migrate` as the role that owns the schemas when an upgrade asks for it",
    );
  }
  return ok("the role may read, write and change all that docmirror keeps");
}

function listed(rights: readonly string[]): string {
  const shown = rights.slice(0, MAX_SHOWN).join(", ");
  return rights.length > MAX_SHOWN ? `${shown} and ${rights.length - MAX_SHOWN} more` : shown;
}
