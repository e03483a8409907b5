import type { Client } from "../../api/client.ts";
import { fetchDetail } from "../../api/fetch-detail.ts";
import { HttpStatusError } from "../../errors.ts";
import { probeBuilds } from "../../sync/probe-builds.ts";
import type { RootListing } from "../../wire/resources.ts";
import { ok, type Result, unknown, warning } from "./finding.ts";

/** Whether the newest build can be read from the list and by itself. A deviation costs no build: what no column holds goes to `extra`. */
export async function checkBuildList(client: Client, root: RootListing): Promise<Result> {
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
      "see whether the service shows it to you: some need a user and a password within DOCMIRROR_BASE_URL",
    );
  }
  if (!(await hasDetail(client, id))) {
    return warning(
      `the list shows build ${id}, but its detail answers that there is none`,
      "run doctor again; if it stays so, builds are followed by the list alone, and open ones seem to vanish",
    );
  }
  const held = totalCount === null ? "" : `; the list holds ${totalCount}`;
  if (drift.length > 0) {
    const told = drift.slice(0, 5).map(({ field, detail }) => `${field} (${detail})`);
    const more = drift.length > told.length ? ` and ${drift.length - told.length} more` : "";
    return warning(
      `a page and a build can be read${held}; not as documented: ${told.join(", ")}${more}`,
      "nothing is lost, `extra` has it; see sync.drift, and whether a newer docmirror knows these fields",
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
