import { isUpstreamLost, UpstreamError } from "../../base/errors.ts";
import type { Client } from "../../mirror/api/client.ts";
import { compareUpstreamSchema } from "../../mirror/run/upstream-schemas.ts";
import type { RootEndpoints } from "../../resources/resources.ts";
import { ok, type Result, unknown, warning } from "./finding.ts";

/**
 * Whether the schema that the service gives for builds names the documented fields. A service without schemas
 * is not a fault.
 */
export async function checkBuildSchema(client: Client, root: RootEndpoints): Promise<Result> {
  if (root.build === undefined) return unknown("the root listing has no build");
  try {
    const difference = await compareUpstreamSchema(client, "build", root.build.schema);
    if (difference === null)
      return unknown("the service's schema of builds names no fields; a sync does not need it");
    const { unknown: appeared, missing } = difference;
    const parts = [
      ...(appeared.length > 0 ? [`also has ${listed(appeared)}`] : []),
      ...(missing.length > 0 ? [`lacks ${listed(missing)}`] : []),
    ];
    if (parts.length === 0) return ok("builds have the documented fields");
    return warning(
      `the service's schema of builds ${parts.join(" and ")}`,
      "nothing is lost: `extra` has the new fields; see sync.drift, and check whether a newer docmirror knows them",
    );
  } catch (error) {
    if (!(error instanceof UpstreamError) || isUpstreamLost(error)) throw error;
    return unknown(`the service gives no schema of builds: ${error.message}; a sync does not need it`);
  }
}

function listed(fields: readonly string[]): string {
  return fields.length > 8
    ? `${fields.slice(0, 8).join(", ")} and ${fields.length - 8} more`
    : fields.join(", ");
}
