import { noteService, serviceUrl } from "../db/mirrored-service.ts";
import type { OpenRun } from "./with-run.ts";

/**
 * Keeps of which service the mirror is, and what its root listing names. One that holds records already and did not say, as older versions
 * made it, is taken to be of this service, with a warning.
 */
export async function keepService(
  { sql, patience, runId, startedAt, client, warn }: OpenRun,
  resources: readonly string[],
): Promise<void> {
  const { baseUrl } = client;
  const at = startedAt.toISOString();
  const { isAdopted } = await patience("note the service", () =>
    noteService(sql, { baseUrl, resources, runId, at }),
  );
  if (isAdopted)
    warn(`this mirror did not say of which service it is; it is taken to be of ${serviceUrl(baseUrl)}`);
}
