import { HttpStatusError } from "../../base/errors.ts";
import type { Client } from "../../mirror/api/client.ts";
import { fetchDetail } from "../../mirror/api/fetch-detail.ts";
import { probeBuilds } from "../../mirror/lists/probe-builds.ts";
import type { RootEndpoints } from "../../resources/resources.ts";
import { ok, type Result, unknown, warning } from "./finding.ts";

/**
 * Whether the newest build can be read from the list and as a detail. Unknown fields lose nothing: they are
 * stored in `extra`.
 */
export async function checkBuildList(client: Client, root: RootEndpoints): Promise<Result> {
  if (root.build === undefined) return unknown("the root listing has no build");
  const { totalCount, id, rejected, drift } = await probeBuilds(client, root.build.list_endpoint);
  if (rejected !== null) {
    return warning(
      `the newest build cannot be stored: ${rejected}`,
      "see it with `docmirror get build --limit 1`; a sync puts such records in quarantine and stores the others",
    );
  }
  if (id === null) {
    return warning(
      "the list of builds is empty",
      "check whether you may see it: some services need a user and a password in DOCMIRROR_BASE_URL",
    );
  }
  if (!(await hasDetail(client, id))) {
    return warning(
      `the list has build ${id}, but the service says that its detail does not exist`,
      "run doctor again; if this stays, builds are followed only by the list, and open ones look as if they had vanished",
    );
  }
  const held = totalCount === null ? "" : `; the list has ${totalCount}`;
  if (drift.length > 0) {
    const shown = drift.slice(0, 5).map(({ field, detail }) => `${field} (${detail})`);
    const more = drift.length > shown.length ? ` and ${drift.length - shown.length} more` : "";
    return warning(
      `a page and a build can be read${held}; not as documented: ${shown.join(", ")}${more}`,
      "nothing is lost: `extra` has these fields; see sync.drift, and check whether a newer docmirror knows them",
    );
  }
  return ok(`a page and a build can be read${held}`);
}

async function hasDetail(client: Client, id: string): Promise<boolean> {
  try {
    await fetchDetail(client, "build", id);
    return true;
  } catch (error) {
    if (error instanceof HttpStatusError && (error.status === 404 || error.status === 410)) return false;
    throw error;
  }
}
