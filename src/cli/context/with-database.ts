import { EXIT, StoreError } from "../../base/errors.ts";
import { type OpenDatabase, openDatabase } from "../../store/embedded/open-database.ts";
import type { CommandContext } from "./run-command.ts";

/** Opens the database of the settings, and always closes it. Errors of the embedded Postgres also name its log file. */
export async function withDatabase<T>(
  { config, log, signal }: Pick<CommandContext, "config" | "log" | "signal">,
  fn: (database: OpenDatabase) => Promise<T>,
): Promise<T> {
  const database = await openDatabase({ ...config, log, signal });
  try {
    return await fn(database);
  } catch (error) {
    throw withServerLog(error, database);
  } finally {
    await database.close();
  }
}

function withServerLog(error: unknown, { embedded }: OpenDatabase): unknown {
  if (embedded === null || !(error instanceof StoreError) || error.exitCode !== EXIT.database) return error;
  const log = `the embedded Postgres writes its log to ${embedded.logFile}`;
  const { message, sqlstate, cause, hint } = error;
  return new StoreError(message, { sqlstate, cause, hint: hint ? `${hint}; ${log}` : log });
}
