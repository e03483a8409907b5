import { setTimeout as wait } from "node:timers/promises";
import type { Clock } from "../../base/clock.ts";
import { StoppedError, StoreError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { ReaderGoneError } from "../../page/cache/single-flight.ts";
import { withSnapshot } from "../../report/read-answer.ts";
import { type ConnectOptions, connect, renewConnections } from "../../store/connection/connect.ts";
import { repeatAfterConflict, type Sql, type TransactionSql } from "../../store/connection/sql.ts";
import { isAway, isRecoveryConflict, toStoreError } from "../../store/connection/store-errors.ts";

/** The limit for each query of a page. A page has a few dozen. */
const STATEMENT_TIMEOUT = "10s";
/** Time to find out whom a statement waits for, before it ends. */
const SILENT_MS = 5000;
/** Three for replies that are streamed, three for pages (`page/bounds.ts`), and two that none of them takes. */
const CONNECTIONS = 8;
/** Who waits longer for a connection has got a 503 by then (`interface.ts`). */
const WAIT_MS = 15_000;

export interface ServedMirrorDeps {
  /** Resolves to the URL of the database once it answers and has our schema, however long that takes. */
  ready(signal: AbortSignal): Promise<string>;
  log: Logger;
  /** For so long after its creation reads wait for the database. @default 0 */
  startMs?: number;
}

/** The connections to a database that may move to another address. */
function createPool(options: Omit<ConnectOptions, "session">, timeout: string) {
  const session = { default_transaction_read_only: "on", statement_timeout: timeout };
  let pool: { url: string; sql: Sql } | null = null;

  /** May be called twice. */
  async function close(): Promise<void> {
    const left = pool;
    pool = null;
    await left?.sql.end({ timeout: 1 });
  }

  return {
    current: () => pool,
    at(url: string): Sql {
      if (pool?.url === url) return pool.sql;
      close().catch(() => {});
      const sql = connect(url, { ...options, session });
      pool = { url, sql };
      return sql;
    },
    close,
  };
}

export type ServedMirror = ReturnType<typeof createServedMirror>;

/** The database behind the HTTP server. It may be down for some time. Reads are refused at once then, but not while the process starts. */
export function createServedMirror({ ready, log, startMs = 0 }: ServedMirrorDeps) {
  const closing = new AbortController();
  const pool = createPool(
    { applicationName: "docmirror serve", max: CONNECTIONS, log, silentMs: SILENT_MS },
    STATEMENT_TIMEOUT,
  );
  let waiting: Promise<void> | null = null;
  const starting = wait(startMs, undefined, { ref: false });

  /** Waits for the database, which may be started again on another port. Rejects with an error that waiting cannot fix. */
  function open(): Promise<void> {
    waiting ??= ready(closing.signal)
      .then((url) => void pool.at(url))
      .finally(() => {
        waiting = null;
      });
    return waiting;
  }

  /** Looks for the database again, in the background, since it did not answer. */
  function reopen(): void {
    open().catch((error: unknown) => {
      if (!closing.signal.aborted && !(error instanceof StoppedError))
        log.error({ error: String(error) }, "could not open the database");
    });
  }

  async function read<T>(fn: (sql: Sql) => Promise<T>): Promise<T> {
    if (pool.current() === null && !closing.signal.aborted) {
      reopen();
      await Promise.race([waiting, starting]).catch(() => {});
    }
    // Every connection was closed before.
    if (closing.signal.aborted) throw new ReaderGoneError();
    const { sql } = pool.current() ?? {};
    if (sql === undefined)
      throw new StoreError("the database does not answer yet", {
        hint: "docmirror keeps trying to reach it; try again soon",
      });
    try {
      return await repeatAfterConflict(() => fn(sql));
    } catch (error) {
      if (closing.signal.aborted) throw new ReaderGoneError();
      // A replica that cancels queries answers well.
      if (!isRecoveryConflict(error) && isAway(error)) reopen();
      throw toStoreError(error, "read the mirror");
    }
  }

  /** Reads for those who are still there, so that a rush is over when it ends. */
  function snapshot<T>(fn: (tx: TransactionSql) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const askedAt = performance.now();
    const readInTime = async (tx: TransactionSql) => {
      if (performance.now() - askedAt > WAIT_MS)
        throw new StoreError("every connection was busy for too long");
      return fn(tx);
    };
    return read((sql) => withSnapshot(sql, readInTime, signal));
  }

  return {
    open,
    /** Where the database is. Null until it was opened. */
    url: () => pool.current()?.url ?? null,
    reopen,
    read,
    snapshot,
    /** May be called twice. */
    async close() {
      closing.abort();
      await pool.close();
    },
  };
}

export type BoundedReader = ReturnType<typeof createBoundedReader>;

/**
 * Reads the mirror over one connection of its own, so that it waits neither behind pages nor for ever. The first read
 * opens the connection. `withinMs` is how long a read may take, with its wait for a connection.
 */
export function createBoundedReader(
  mirror: Pick<ServedMirror, "url" | "reopen">,
  withinMs: number,
  clock: Clock,
) {
  const limits = { max: 1, connectTimeoutSeconds: withinMs / 1000 };
  const pool = createPool({ applicationName: "docmirror health", ...limits }, `${withinMs}ms`);

  return {
    close: pool.close,
    /** Throws StoreError, in time, where the database is down, silent or slow. */
    async read<T>(fn: (sql: Sql) => Promise<T>): Promise<T> {
      const url = mirror.url();
      if (url === null) {
        mirror.reopen();
        throw new StoreError("the database does not answer yet");
      }
      const sql = pool.at(url);
      const answered = new AbortController();
      const late = clock.sleep(withinMs, answered.signal).then(() => {
        // A silent connection would hold up the next read too.
        renewConnections(sql);
        throw new StoreError(`the database did not answer within ${withinMs} ms`);
      });
      try {
        return await Promise.race([repeatAfterConflict(() => fn(sql)), late]);
      } catch (error) {
        if (isAway(error)) mirror.reopen();
        throw toStoreError(error, "read the mirror");
      } finally {
        answered.abort();
      }
    },
  };
}
