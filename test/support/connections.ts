import { silentLog } from "../../src/base/log.ts";
import { type Connections, createConnections } from "../../src/store/ledger/connections.ts";

/** The name of their sessions begins so. They outlive the emptying of their database. */
export const KEPT = "docmirror kept";

const kept = new Map<string, Connections>();

/** The connections of the runs of a database, as those of one process. They are opened once, and end with the database. */
export function connectionsOf(databaseUrl: string): Connections {
  const known = kept.get(databaseUrl) ?? createConnections(databaseUrl, { program: KEPT, log: silentLog });
  kept.set(databaseUrl, known);
  return known;
}

/** A database that is always ready. */
export const keptDatabase = (databaseUrl: string) => ({
  ready: async () => connectionsOf(databaseUrl),
  close: async () => {},
});

export async function endConnections(databaseUrl: string): Promise<void> {
  const known = kept.get(databaseUrl);
  kept.delete(databaseUrl);
  await known?.end();
}
