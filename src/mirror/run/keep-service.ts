import { noteService, serviceUrl } from "../../store/ledger/mirrored-service.ts";
import type { OpenRun } from "./with-run.ts";

/**
 * Stores the service of the mirror, and the names in its root listing. A mirror from an older version did not
 * store its service. It then becomes the mirror of this service, with a warning.
 */
export async function keepService(
  { sql, patience, runId, startedAt, client, warn }: OpenRun,
  resources: readonly string[],
): Promise<void> {
  const { baseUrl } = client;
  const at = startedAt.toISOString();
  const { isAdopted } = await patience("store the service", () =>
    noteService(sql, { baseUrl, resources, runId, at }),
  );
  if (isAdopted)
    warn(`this mirror had not stored its service; it is now the mirror of ${serviceUrl(baseUrl)}`);
}
