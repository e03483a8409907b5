import { StoreError } from "../../base/errors.ts";
import { withSql } from "../../store/connection/connect.ts";
import type { Sql } from "../../store/connection/sql.ts";
import { findAnswerState, refreshIfBehind } from "./refresh-if-behind.ts";
import { readSettings } from "./replica.ts";
import type { CommandContext } from "./run-command.ts";

/** A refresh reaches a replica within a second, unless its replay is held up. */
const PATIENCE_MS = 10_000;
const LOOK_EVERY_MS = 100;

/**
 * Has answers refreshed that a replica shows as older than the last run: at the primary, where DATABASE_URL
 * names it, since a standby cannot be written to. Then waits until the replica shows them, 10 s at most. Where
 * that fails, a warning is logged and the old answers are used: a replica must answer without its primary too.
 * Throws StoreError and SchemaVersionError of the replica, and the signal's reason.
 */
export async function refreshForReplica(context: CommandContext, replica: Sql): Promise<void> {
  const { config, log, clock, signal } = context;
  const isBehind = async () => (await findAnswerState(replica, readSettings(config))).isBehind;
  if (!(await isBehind())) return;
  const url = config.databaseUrl;
  if (url === null) {
    const hint = "set DATABASE_URL to the primary too, or wait for the next sync";
    log.warn(
      { hint },
      "the answers are older than the last run, or were never computed; a replica cannot be written to",
    );
    return;
  }
  try {
    const isCurrent = await withSql(url, { applicationName: "docmirror report", max: 1 }, (primary) =>
      refreshIfBehind(context, url, primary),
    );
    if (!isCurrent) return;
  } catch (error) {
    if (signal.aborted || !(error instanceof StoreError)) throw error;
    const facts = { error: error.message, hint: error.hint };
    log.warn(
      facts,
      "the answers are older than the last run, or were never computed; the primary did not refresh them",
    );
    return;
  }
  for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += LOOK_EVERY_MS) {
    if (!(await isBehind())) return;
    await clock.sleep(LOOK_EVERY_MS, signal);
  }
  const hint = "`docmirror report freshness` shows how far it is behind";
  log.warn(
    { hint },
    "the answers are older than the last run, or were never computed; the primary has newer ones, which the replica has not replayed yet",
  );
}
