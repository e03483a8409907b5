import { connect, type Sql } from "../db/connect.ts";
import type { MirrorReader } from "../db/mirror-reader.ts";
import { isPassing, sqlstateOf, toStoreError } from "../db/store-errors.ts";
import { StoreError } from "../errors.ts";
import type { Logger } from "../log.ts";
import { withSnapshot } from "../report/read-answer.ts";

/** No question of a page may take longer; a page has a few dozen. */
const STATEMENT_TIMEOUT = "10s";
const CONNECTIONS = 6;

export interface ServedMirrorDeps {
  /** Resolves to the database's URL once it answers and has our schema, however long that takes. */
  ready(signal: AbortSignal): Promise<string>;
  log: Logger;
}

/**
 * The database behind what is served: it may be down for some of the time, and then whoever asks is told so
 * at once.
 */
export interface ServedMirror extends MirrorReader {
  /** Looks for the database, and resolves when it has answered. Rejects with what waiting cannot mend. */
  open(): Promise<void>;
  /** May be called twice. */
  close(): Promise<void>;
}

export function createServedMirror({ ready, log }: ServedMirrorDeps): ServedMirror {
  const closing = new AbortController();
  let pool: { url: string; sql: Sql } | null = null;
  let looking: Promise<void> | null = null;

  /** Looks for the database until it is there: the embedded one may be started again, on another port. */
  async function look(): Promise<void> {
    const url = await ready(closing.signal);
    if (pool?.url === url) return;
    const left = pool;
    pool = {
      url,
      sql: connect(url, {
        applicationName: "docmirror serve",
        max: CONNECTIONS,
        session: { default_transaction_read_only: "on", statement_timeout: STATEMENT_TIMEOUT },
      }),
    };
    await left?.sql.end({ timeout: 1 });
  }

  function lookOnce(): Promise<void> {
    looking ??= look().finally(() => {
      looking = null;
    });
    return looking;
  }

  function lookAgain(): void {
    lookOnce().catch((error: unknown) => {
      if (!closing.signal.aborted) log.error({ error: String(error) }, "the database cannot be served");
    });
  }

  async function read<T>(fn: (sql: Sql) => Promise<T>): Promise<T> {
    if (pool === null) {
      lookAgain();
      throw new StoreError("the database is not there yet", { hint: "it is looked for; try again soon" });
    }
    try {
      return await fn(pool.sql);
    } catch (error) {
      if (isPassing(error) || sqlstateOf(error) === "ENOTFOUND") lookAgain();
      throw toStoreError(error, "read the mirror");
    }
  }

  return {
    open: lookOnce,
    read,
    snapshot: (fn) => read((sql) => withSnapshot(sql, fn)),
    async close() {
      closing.abort();
      const left = pool;
      pool = null;
      await left?.sql.end({ timeout: 1 });
    },
  };
}
