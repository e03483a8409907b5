import { noteService, serviceUrl } from "../../store/ledger/mirrored-service.ts";
import type { OpenRun } from "./with-run.ts";

/** Stores the service and the names in its root listing. A mirror of an older version adopts it. */
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
