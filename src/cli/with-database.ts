import { type OpenDatabase, openDatabase } from "../db/open.ts";
import type { CommandContext } from "./run-command.ts";

/** Opens the database that the settings name, the embedded one by default, and leaves it whatever happens. */
export async function withDatabase<T>(
  { config, log, signal }: Pick<CommandContext, "config" | "log" | "signal">,
  fn: (database: OpenDatabase) => Promise<T>,
): Promise<T> {
  const { databaseUrl, dataDir } = config;
  const database = await openDatabase({ databaseUrl, dataDir, log, signal });
  try {
    return await fn(database);
  } finally {
    await database.close();
  }
}
