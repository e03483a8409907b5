import type { Logger } from "../../base/log.ts";
import { describeSessions, findBlockers } from "./other-sessions.ts";
import type { Sql } from "./sql.ts";
import { LOCK_NOT_HAD, sqlstateOf } from "./store-errors.ts";

/** The statement took too long. It may have waited for a lock for most of that time. */
const TOO_LONG = "57014";
/** The server neither refuses nor answers. */
const SILENT: readonly (string | undefined)[] = ["CONNECT_TIMEOUT", "ETIMEDOUT"];
/** A server that does not even begin a session for so long is frozen, or out of reach. */
const FROZEN_AFTER_MS = 300_000;

export interface LookoutDeps {
  /** The server is silent for so long before this looks. */
  silentMs: number;
  log: Logger | undefined;
  /** Asks in a new session with the name of those that wait. */
  ask<T>(fn: (sql: Sql) => Promise<T>): Promise<T>;
  /** Drops the connections of the pool. */
  abandon(): void;
}

/** Finds out for whom the sessions of a pool wait, and says so in the log and in the error with which the wait ends. */
export function createLookout({ silentMs, log, ask, abandon }: LookoutDeps) {
  let seen = { pids: "", who: "", atMs: Number.NEGATIVE_INFINITY };
  let isLooking = false;
  let frozenSinceMs: number | null = null;

  const isRecent = () => performance.now() - seen.atMs < 3 * silentMs;

  async function look(): Promise<void> {
    const blockers = await ask(findBlockers);
    frozenSinceMs = null;
    if (blockers.length === 0) return;
    const pids = blockers.map(({ pid }) => pid).join();
    const isNews = !isRecent() || pids !== seen.pids;
    seen = { pids, who: describeSessions(blockers), atMs: performance.now() };
    if (isNews) log?.warn({ waits_for: seen.who }, "waiting for another session of the database");
  }

  return {
    /** Called whenever the server was silent for another while. Never throws. */
    silent(): void {
      if (isLooking) return;
      isLooking = true;
      const beganMs = performance.now();
      look()
        .catch((error: unknown) => {
          if (!SILENT.includes(sqlstateOf(error))) return;
          frozenSinceMs ??= beganMs;
          if (performance.now() - frozenSinceMs >= FROZEN_AFTER_MS) abandon();
        })
        .finally(() => {
          isLooking = false;
        });
    },
    /** Adds to an error of the driver who had the lock, where the statement waited for one. Returns the error. */
    explain<E>(error: E): E {
      const waited = [LOCK_NOT_HAD, TOO_LONG].includes(sqlstateOf(error) ?? "") && isRecent();
      if (waited && error instanceof Error) error.message = `it waited too long for ${seen.who}`;
      return error;
    },
  };
}
