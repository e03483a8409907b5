import { readFileSync } from "node:fs";
import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";
import { sql as compose, type Name, type SQL } from "drizzle-orm";
import { CasingCache } from "drizzle-orm/casing";
import type { AnyPgColumn } from "drizzle-orm/pg-core";
import type postgres from "postgres";
import { intercept } from "./intercept.ts";
import { isRecoveryConflict } from "./store-errors.ts";

/** A pool of connections. Dates, times and intervals are read as the text of Postgres, never as a JavaScript Date. */
export type Sql = postgres.Sql;
/** One connection inside `sql.begin`. */
export type TransactionSql = postgres.TransactionSql;
/** A pool or a transaction, for statements that need one connection only. */
export type AnySql = postgres.ISql;

/**
 * Reads the mirror for the HTTP server, over connections that cannot write. Both functions throw StoreError,
 * and do so at once while the database is down.
 */
export interface MirrorReader {
  read<T>(fn: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * Reads one snapshot: `fn` does not see what a run commits in the meantime. A signal that is aborted cancels
   * the running statement at the server, and its reason is thrown.
   */
  snapshot<T>(fn: (tx: TransactionSql) => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/** A statement as the driver returns it. `canceller` is what its `cancel` calls, and says when it is done. */
export interface Statement<T> extends PromiseLike<T> {
  readonly canceller: (statement: Statement<T>) => Promise<void>;
}

/** Several statements may be sent over a connection. The server runs the active one. */
type Sent = Statement<unknown> & { readonly active: boolean };

/** A server that does not answer a request to cancel is not waited for any longer. */
const CANCEL_WITHIN_MS = 5000;
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 500;

/**
 * Asks the server to cancel the running statement until there is none: a request that arrives between two messages of a
 * statement is lost. Resolves when no request is under way any more: one that arrived later would hit the next statement of
 * the same connection, which may be another reader's. Never rejects.
 */
export async function cancelUntilEnded(running: () => Statement<unknown> | undefined): Promise<void> {
  // A statement that was begun in this turn is sent at its end.
  await nextTurn();
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    const statement = running();
    if (statement === undefined) return;
    const answered = new AbortController();
    const late = wait(CANCEL_WITHIN_MS, undefined, { signal: answered.signal });
    // The server answers by closing the connection, which may count as a failure here.
    await Promise.race([statement.canceller(statement), late]).catch(() => {});
    answered.abort();
    late.catch(() => {});
    if (running() === statement) await wait(pauseMs);
  }
}

/**
 * Waits for a statement, or for what it gives before its end, such as the stream of a COPY. When `signal` is aborted, the server cancels
 * the statement, and the signal's reason is thrown.
 */
export async function abortable<T>(
  awaited: PromiseLike<T>,
  signal: AbortSignal | undefined,
  statement: PromiseLike<unknown> = awaited,
): Promise<T> {
  signal?.throwIfAborted();
  let isRunning = true;
  let cancelled: Promise<void> | undefined;
  const cancel = () => {
    cancelled = cancelUntilEnded(() => (isRunning ? (statement as Statement<unknown>) : undefined));
  };
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    return await awaited;
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  } finally {
    isRunning = false;
    signal?.removeEventListener("abort", cancel);
    await cancelled;
  }
}

/**
 * Follows the statements of one transaction. When `signal` is aborted, the server cancels the running one; those behind it
 * then fail by themselves.
 */
function cancelRunning(signal: AbortSignal) {
  const statements = new Set<Sent>();
  let cancelled: Promise<void> | undefined;
  const abort = () => {
    cancelled = cancelUntilEnded(() => [...statements].find(({ active }) => active));
  };
  signal.addEventListener("abort", abort, { once: true });

  return {
    /** Takes what the driver returned, and returns it. Anything but a statement is only returned. */
    follow<T>(returned: T): T {
      if (!(returned instanceof Promise) || !("canceller" in returned)) return returned;
      const statement = returned as unknown as Sent;
      const end = () => statements.delete(statement);
      statements.add(statement);
      // The `then` of a statement would send it.
      Promise.prototype.then.call(statement, end, end);
      return returned;
    },
    /** Stops listening. Resolves when no request to cancel is under way any more. */
    async release(): Promise<void> {
      signal.removeEventListener("abort", abort);
      await cancelled;
    },
  };
}

/**
 * Drizzle's `sql`, under a name of its own because a connection is called `sql`. Fixed statements are tags of the
 * connection. This is for statements that depend on a table, on conditions or on other pieces: with the tables of
 * `src/store/schema`, so that a renamed column does not compile. An array that is one value is `compose.param(array)`.
 */
export { compose };

/** The bare name of a column, as `set` and the list of `insert into` take it. */
export const nameOf = (column: AnyPgColumn): Name => compose.identifier(column.name);

/** Names in quotes are hard to read, so a plain name that is no reserved word stands bare. */
const BARE_NAME = /^[a-z_][a-z0-9_]*$/;
/** The reserved words of Postgres that our tables have as names of columns. */
const RESERVED = new Set(["user", "order", "group", "table", "column", "end", "desc", "asc", "all"]);

const WRITING = {
  casing: new CasingCache(),
  escapeName: (name: string) =>
    BARE_NAME.test(name) && !RESERVED.has(name) ? name : `"${name.replaceAll('"', '""')}"`,
  escapeParam: (index: number) => `$${index + 1}`,
  escapeString: (text: string) => `'${text.replaceAll("'", "''")}'`,
};

/** A statement as the server takes it: text with `$1`, `$2` and so on, and the values for them. */
export type WrittenStatement = Readonly<{ text: string; params: readonly unknown[] }>;

export function writeStatement(statement: SQL): WrittenStatement {
  const { sql: text, params } = statement.toQuery(WRITING);
  return { text, params };
}

interface StatementOptions {
  /**
   * Keeps the plan in the session, for a statement that runs often with one text. @default planned each time, for its values
   */
  prepare?: boolean;
  /** Postgres refuses more than one statement in the text. @default so only where there are params */
  isSingle?: boolean;
}

const KEEPING = new WeakSet<AnySql>();

/** Lets the session keep the plan of each text that runs in this transaction, for one that asks the same for many records. */
export function keepPlans(tx: TransactionSql): void {
  KEEPING.add(tx);
}

/** Runs a statement that was composed with drizzle's `sql`, for example of a table and some conditions. */
export function runStatement<Row extends postgres.MaybeRow = postgres.Row>(
  sql: AnySql,
  statement: SQL,
  options?: StatementOptions,
): postgres.PendingQuery<Row[]> {
  const { text, params } = writeStatement(statement);
  return runText<Row>(sql, text, params, options);
}

/** The tag of a connection for composed statements: `composed(sql)<Row>` in the place of `sql<Row[]>`. */
export const composed =
  (sql: AnySql) =>
  <Row extends postgres.MaybeRow = postgres.Row>(strings: TemplateStringsArray, ...values: unknown[]) =>
    runStatement<Row>(sql, compose(strings, ...values));

/**
 * Runs a statement that is already text: one that was read from a file or from Postgres's own catalogs, or
 * written by `writeStatement`. The only place that gives the driver text, so each caller says where the
 * text is from. Several statements in one text take no params.
 */
export function runText<Row extends postgres.MaybeRow = postgres.Row>(
  sql: AnySql,
  text: string,
  params: readonly unknown[] = [],
  { isSingle, ...options }: StatementOptions = {},
): postgres.PendingQuery<Row[]> {
  // The driver knows `simple`, its types do not: without it several statements run where there are no params.
  const kept = KEEPING.has(sql) ? { prepare: true, ...options } : options;
  const protocol = isSingle ? { ...kept, simple: false } : kept;
  return sql.unsafe<Row[]>(text, params as postgres.ParameterOrJSON<never>[], protocol);
}

/** The row of a statement that always gives one, as a count does. */
export async function oneRow<Row>(rows: PromiseLike<readonly Row[]>): Promise<Row> {
  const [row] = await rows;
  if (row === undefined) throw new Error("a statement that always gives a row gave none");
  return row;
}

/** Reads a file of the program. A checkout may have given it the line ends of Windows, which must change neither a text nor its hash. */
export function readSqlFile(place: string | URL): string {
  return readFileSync(place, "utf8").replaceAll("\r\n", "\n");
}

interface FileOptions {
  /** Planned anew for the values of each call, where no transaction keeps plans. @default false: the session keeps the plan, as of a tag */
  isPlannedEachTime?: boolean;
  /** Words of the file that stand for others, such as the name of a table. */
  words?: Readonly<Record<string, string>>;
}

/**
 * The statement of a file in the folder `sql` beside the code at `url`, with `:name` for each value; a name begins with a small
 * letter. What several statements share, a query or a condition, is a file too: `with due as (due_builds.sql)`. The files are read once:
 * an upgrade may replace the program's files meanwhile.
 */
export function statement<Row extends postgres.MaybeRow = postgres.Row>(
  name: string,
  url: string,
  { isPlannedEachTime = false, words = {} }: FileOptions = {},
) {
  const names: string[] = [];
  let text = readWithParts(new URL(`sql/${name}.sql`, url));
  for (const [word, meant] of Object.entries(words)) text = text.replaceAll(word, meant);
  text = text.replace(/(?<!:):([a-z]\w*)/g, (_, value: string) => {
    if (!names.includes(value)) names.push(value);
    return `$${names.indexOf(value) + 1}`;
  });
  const options = isPlannedEachTime ? { isSingle: true } : { isSingle: true, prepare: true };
  return (sql: AnySql, values: Readonly<Record<string, unknown>> = {}) => {
    const params = names.map((one) => values[one]);
    return runText<Row>(sql, text, params, options);
  };
}

/** Stands in the place of a `:name`: a value, or a piece of SQL; undefined or false for nothing. */
export type Places = Readonly<Record<string, unknown>>;

/**
 * A text with `:name` for each place, as SQL that is composed anew for the places of each call. Throws where a place is not named: a
 * filter that is misspelt would be none.
 */
export function template(text: string): (places?: Places) => SQL {
  const parts = text.split(/(?<!:):([a-z]\w*)/);
  return (places = {}) =>
    compose.join(
      parts.map((part, at) => {
        if (at % 2 === 0) return compose.raw(part);
        if (!(part in places)) throw new Error(`nothing stands for :${part}`);
        return compose`${places[part] === false ? undefined : places[part]}`;
      }),
    );
}

/** The file of a statement, as `statement` finds it, for one that has other tables or conditions from call to call. */
export function piece(name: string, url: string): (places?: Places) => SQL {
  return template(readWithParts(new URL(`sql/${name}.sql`, url)));
}

function readWithParts(place: URL): string {
  return readSqlFile(place).replace(
    /\((\w+\.sql)\)/g,
    (_, part: string) => `(\n${readWithParts(new URL(part, place))})`,
  );
}

/** The driver rejects a transaction whose connection is lost. If it ever fails to, the transaction ends after this time. */
const LOSS_REPORTED_MS = 10_000;

/** True where the server closes the connection after this error. The transaction is rejected when it does. */
function endsSession(error: unknown): boolean {
  return error instanceof Error && "severity" in error && /^(FATAL|PANIC)$/.test(String(error.severity));
}

/**
 * Runs `fn` in a transaction, like `sql.begin`, and survives the loss of its connection. postgres.js then
 * rejects the transaction but `fn` continues in the background. Its next statement, or the driver's rollback,
 * is written to a closed socket, which throws where nothing can catch it and ends the process. So a body that
 * continues after the loss waits here for ever.
 *
 * When `signal` is aborted, the server cancels the running statement, the transaction is rolled back, and the
 * signal's reason is thrown. Who still waits for a connection then gets the reason at once.
 */
export async function withTransaction<T>(
  sql: Sql,
  fn: (tx: TransactionSql) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  signal?.throwIfAborted();
  const statements = signal && cancelRunning(signal);
  let isBegun = false;
  let isLost = false;
  let timer: NodeJS.Timeout | undefined;
  let giveUp: (reason: unknown) => void = () => {};
  const unreported = new Promise<never>((_, reject) => {
    giveUp = reject;
  });

  async function hold<R>(tx: TransactionSql, body: (tx: TransactionSql) => Promise<R>): Promise<R> {
    try {
      const result = await body(guard(tx));
      // A body that ignored the loss must not reach its commit.
      assertConnected();
      return result;
    } catch (error) {
      // Is it a failure of the body, or the first sign of a lost connection? By the second turn the loss has been reported.
      await nextTurn();
      await nextTurn();
      if (isLost || endsSession(error)) {
        timer ??= setTimeout(() => giveUp(error), LOSS_REPORTED_MS);
        await new Promise<never>(() => {});
      }
      throw error;
    }
  }

  function assertConnected(): void {
    signal?.throwIfAborted();
    if (isLost) throw new Error("the connection of this transaction was lost");
  }

  function through<R>(make: () => R): R {
    assertConnected();
    const made = make();
    return statements?.follow(made) ?? made;
  }

  function guard(tx: TransactionSql): TransactionSql {
    return intercept(tx, () => tx, through, {
      savepoint(body: (savepoint: TransactionSql) => Promise<unknown>) {
        assertConnected();
        return tx.savepoint((savepoint) => hold(savepoint, body));
      },
    });
  }

  const transaction = sql.begin(async (tx) => {
    // Its caller is gone. The driver rolls back, and the connection serves the next one.
    signal?.throwIfAborted();
    isBegun = true;
    return hold(tx, fn).finally(() => statements?.release());
  });
  transaction.catch(() => {
    isLost = true;
  });
  const leave = () => {
    if (!isBegun) giveUp(signal?.reason);
  };
  signal?.addEventListener("abort", leave, { once: true });
  try {
    return (await Promise.race([transaction, unreported])) as T;
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  } finally {
    signal?.removeEventListener("abort", leave);
    void statements?.release();
    clearTimeout(timer);
    // A body that stops from now on needs no timer: the caller has its answer.
    timer = undefined;
    isLost = true;
  }
}

/**
 * Runs a read, and once more where a standby cancelled it. `mayRepeat` says whether that does no harm, such
 * as sending rows twice. @default it never does
 */
export async function repeatAfterConflict<T>(read: () => Promise<T>, mayRepeat: () => boolean = () => true) {
  try {
    return await read();
  } catch (error) {
    if (!isRecoveryConflict(error) || !mayRepeat()) throw error;
    return read();
  }
}
