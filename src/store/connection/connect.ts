/**
 * The door to Postgres: all other rooms import this folder and never the driver. Errors of the driver become sentences in
 * `store-errors.ts`. When a connection dies, or a server ends its session:
 *
 * - **query**: its statements are rejected with a passing error (`isPassing`), and the next one opens a new connection.
 *   A commit whose answer was lost may have been made. `patience.ts` repeats what is safe to repeat, for a minute.
 * - **transaction** (`sql.ts`): is rejected and rolled back. A body that goes on meanwhile waits and never returns.
 * - **copy**: is one statement of a transaction, so none of its rows stay.
 * - **cursor**: is rejected at its next batch. The batches before came from one snapshot.
 * - **listen**: nobody uses it. The driver would reopen its connection unseen; a worker looks at the tables by the clock.
 *
 * The faults of postgres.js 3.4 that make this so, each with the file that answers it. `test/store/connection` shows each of them:
 *
 * | the driver | answered in |
 * | --- | --- |
 * | reopens a lost connection with old state: a write never made, an error for the wrong statement | `connect.ts` retires the pool |
 * | lets go of a closed socket under a statement that is about to be written, which then throws where nothing catches it | `driver/driver-socket.ts` |
 * | waits for more behind the error with which a server ends a session, and says only that it was closed | `driver/driver-socket.ts` |
 * | loses a connection for good when opening it throws, hides why no host of several answers, takes a standby for one that writes | `driver/open-socket.ts` |
 * | tries for ever when a server hangs up without a word, and never sets TCP_NODELAY, so each COPY waits 40 ms | `driver/open-socket.ts` |
 * | sends settings with the login, which poolers refuse, and has no first statement of a session | `driver/session-start.ts` |
 * | prepares statements in sessions that a pooler lends | `connect.ts` |
 * | pauses while the reader of a COPY lags, and for good where that COPY ends meanwhile | `driver/driver-socket.ts` |
 * | goes on with the body of a transaction whose connection is lost, and writes its statements to a closed socket | `sql.ts` |
 * | asks once to cancel a statement, which is lost between two messages, or hits the next statement | `sql.ts` |
 * | takes options from the environment of other programs | `connect.ts` hides it |
 * | reads times as dates, in milliseconds, and asks the server for its types of arrays | `driver/value-types.ts` |
 * | passes no name to TLS for a host that is an address | `database-url.ts` |
 */
import postgres from "postgres";
import { withoutDriverVariables } from "../../base/config/environment.ts";
import type { Logger } from "../../base/log.ts";
import { parseDatabaseUrl } from "./database-url.ts";
import type { DriverSocket, SocketEvents } from "./driver/driver-socket.ts";
import { createSocketOpener } from "./driver/open-socket.ts";
import { type ServerKind, sessionSettings } from "./driver/session-start.ts";
import { VALUE_TYPES } from "./driver/value-types.ts";
import { intercept } from "./intercept.ts";
import { createLookout } from "./lookout.ts";
import { runText, type Sql, type TransactionSql } from "./sql.ts";

export { describeDatabase, nameInstance } from "./database-url.ts";

const RETIRED_END_SECONDS = 5;
const SILENT_MS = 10_000;
const MAX_NAME_LENGTH = 63;

export interface ConnectOptions {
  /** Shown in pg_stat_activity and in the log of the server. */
  applicationName: string;
  /** The maximum number of connections. @default 4 */
  max?: number;
  onNotice?: (notice: postgres.Notice) => void;
  /** The longest wait for a new connection, in seconds. A `connect_timeout` in the URL wins. @default 10 */
  connectTimeoutSeconds?: number;
  /** Settings of each session, such as `{ statement_timeout: "30s" }`. They win over the settings in the URL. */
  session?: Record<string, string>;
  /** Says for which session ours wait, 10 s after they began to. Without it only the error with which a wait ends says so. */
  log?: Logger | undefined;
  /** After so many milliseconds without a word of the server somebody looks why; 0: never. @default 10000 */
  silentMs?: number | undefined;
}

/** One pool of the driver. It is retired as soon as it loses a connection, or the pool has another URL. */
interface Generation {
  sql: Sql;
  url: string;
  instance: string | undefined;
  isRetired: boolean;
  sockets: Set<DriverSocket>;
  /** The settings of each transaction, where a pooler lends its sessions; null where they are those of the session. */
  local: string | null;
}

interface Pool {
  instance(): string | undefined;
  renew(): void;
  certificateEnd(): Date | null;
}

const pools = new Map<Sql, Pool>();

/** When the certificate ends by which the server of a pool proved who it is. Null without TLS, without a proof, and while nothing is open. */
export function findCertificateEnd(sql: Sql): Date | null {
  return pools.get(sql)?.certificateEnd() ?? null;
}

/**
 * Drops every connection of a pool, as if all were lost. Needed when a server still answers but takes no writes any more,
 * because another server has taken its place.
 */
export function renewConnections(sql: Sql): void {
  pools.get(sql)?.renew();
}

/**
 * The same for every other pool of this process whose URL has the same name (`nameInstance`) as that of `sql`. Needed when the
 * server behind them fell silent and another one has taken its place: the old connections could be silent for hours.
 */
export function renewOtherConnections(sql: Sql): void {
  const instance = pools.get(sql)?.instance();
  for (const [other, pool] of pools) if (other !== sql && pool.instance() === instance) pool.renew();
}

/**
 * Creates a pool. Values are read like this: int8 as a number while it is exact, else as text; json and jsonb parsed; arrays of
 * texts, times and integers as arrays; dates and times as text, with a zone in UTC. Close it with `sql.end({ timeout: 5 })` or use
 * `withSql`: `end` without a timeout waits for every running statement. `url` may be a function: where it gives another URL than
 * before, because a password was rotated, the next statement uses that one, and those that run come to their end. Throws
 * ConfigError for a URL that cannot be read.
 */
export function connect(url: string | (() => string), options: ConnectOptions): Sql {
  const urlNow = typeof url === "string" ? () => url : url;
  const { silentMs = SILENT_MS, log, applicationName } = options;
  const renew = () => {
    current.isRetired = true;
    for (const { sockets } of [...retired, current]) for (const socket of sockets) socket.abandon();
  };
  const lookout = createLookout({
    silentMs,
    log,
    ask: (fn) => withSql(urlNow(), { applicationName, max: 1, silentMs: 0 }, fn),
    abandon: renew,
  });
  const watch = silentMs > 0 ? { silentMs, onSilent: lookout.silent } : {};
  let isEnded = false;
  let current = createGeneration(urlNow(), options, watch);
  let retired: Generation[] = [];

  // No connection is opened twice. A pool that lost one is retired, and a new pool takes over. Its other connections are closed,
  // each when its statement or transaction is over.
  const generation = (): Sql => {
    const wanted = urlNow();
    if ((current.isRetired || current.url !== wanted) && !isEnded) {
      retired = retired.filter(({ sockets }) => sockets.size > 0);
      if (current.sockets.size > 0) retired.push(current);
      current.sql.end().catch(() => {});
      current = createGeneration(wanted, options, watch);
    }
    return current.sql;
  };
  const end: Sql["end"] = async (endOptions) => {
    isEnded = true;
    // A retired pool may have a statement that never ends.
    const timeout = endOptions?.timeout ?? RETIRED_END_SECONDS;
    const timer = setTimeout(() => {
      for (const { sockets } of retired) for (const socket of sockets) socket.abandon();
    }, timeout * 1000);
    await Promise.all([
      current.sql.end(current.isRetired ? { timeout } : endOptions),
      ...retired.flatMap(({ sockets }) => [...sockets].map(closed)),
    ]);
    clearTimeout(timer);
    pools.delete(pool);
  };
  /** Makes the settings within the transaction, where the session keeps none. It is known by then, since the transaction has begun. */
  const begin = (...args: unknown[]): unknown => {
    const own = generation();
    const of = current;
    const body = args.pop() as (tx: TransactionSql) => Promise<unknown>;
    const withSettings = async (tx: TransactionSql) => {
      if (of.local) await runText(tx, of.local);
      return body(tx);
    };
    return Reflect.apply(own.begin, own, [...args, withSettings]);
  };
  const explained = <R>(make: () => R): R => onRejected(make(), lookout.explain);
  const pool = intercept(current.sql, generation, explained, {
    end,
    begin: (...args: unknown[]) => explained(() => begin(...args)),
  });
  pools.set(pool, {
    instance: () => current.instance,
    renew,
    certificateEnd: () => [...current.sockets].map((socket) => socket.certificateEnd)[0] ?? null,
  });
  return pool;
}

/** Passes what a statement or a transaction is rejected with through `change`. A statement is not sent before it is awaited, so its `then` is left alone. */
function onRejected<R>(returned: R, change: (error: unknown) => unknown): R {
  if (!(returned instanceof Promise)) return returned;
  if (!("canceller" in returned))
    return returned.catch((error: unknown) => {
      throw change(error);
    }) as R;
  const statement = returned as unknown as { reject(error: unknown): void };
  const { reject } = statement;
  statement.reject = (error) => reject(change(error));
  return returned;
}

const closed = (socket: DriverSocket) => new Promise((resolve) => socket.once("close", resolve));

function createGeneration(url: string, options: ConnectOptions, watch: SocketEvents): Generation {
  const address = parseDatabaseUrl(url);
  const timeoutSeconds = address.connectTimeoutSeconds ?? options.connectTimeoutSeconds ?? 10;
  const { application_name: givenName } = address.session;
  const settings = sessionSettings(
    address.session,
    // A name in the URL takes the place of ours, but must not hide the process.
    givenName === undefined ? {} : { application_name: nameApplication(givenName, address.instance) },
    options.session ?? {},
  );
  const access: Record<string, unknown> = {
    user: address.user,
    password: address.password,
    database: address.database,
    // For the driver's own messages: it neither resolves nor chooses a host.
    host: address.hosts[0]?.host,
    port: address.hosts[0]?.port,
    connect_timeout: timeoutSeconds,
    // A connection stays open until the pool is ended or the connection is lost.
    max_lifetime: null,
    // If the connection is lost while the driver asks the server for its types, nothing can catch the error.
    fetch_types: false,
    onnotice: options.onNotice ?? (() => {}),
    // Only the name: a pooler refuses other settings while a session starts. `DriverSocket` makes the settings.
    connection: {
      ...(address.startupOptions === undefined ? {} : { options: address.startupOptions }),
      application_name: nameApplication(options.applicationName, address.instance),
    },
  };
  const openPool = (own: Record<string, unknown>) =>
    withoutDriverVariables(() => postgres({ ...access, ...own }));
  const { sockets, socket } = createSocketOpener(address, {
    timeoutMs: timeoutSeconds * 1000,
    settings,
    events: {
      ...watch,
      onLost() {
        generation.isRetired = true;
      },
      onLent() {
        generation.local = settings.local;
        // The next session would not know a prepared statement. The driver looks there whenever it writes one.
        sql.options.prepare = false;
      },
    },
    isRetired: () => generation.isRetired,
    async findKind(asked) {
      const sql = openPool({ max: 1, socket: async () => asked });
      try {
        const [kind] = await sql<[ServerKind]>`
          select pg_catalog.pg_is_in_recovery() as "isStandby", current_setting('transaction_read_only') = 'on' as "isReadOnly"`;
        return kind;
      } finally {
        await sql.end({ timeout: 1 });
      }
    },
  });
  const sql = openPool({ max: options.max ?? 4, socket, types: VALUE_TYPES }) as unknown as Sql;
  const generation: Generation = {
    sql,
    url,
    instance: address.instance,
    isRetired: false,
    sockets,
    local: null,
  };
  return generation;
}

/** As in `docmirror sync #k3x9ab`. The server cuts long names, so a long name loses its middle. */
function nameApplication(name: string, instance: string | undefined): string {
  if (instance === undefined) return name;
  const tag = ` #${instance}`;
  return name.slice(0, MAX_NAME_LENGTH - tag.length) + tag;
}

/** Runs `fn` with a new pool and always closes the pool. Running queries get 5 s to end, or 1 s when `fn` failed. */
export async function withSql<T>(url: string, options: ConnectOptions, fn: (sql: Sql) => Promise<T>) {
  const sql = connect(url, options);
  let patienceSeconds = 1;
  try {
    const result = await fn(sql);
    patienceSeconds = 5;
    return result;
  } finally {
    await sql.end({ timeout: patienceSeconds });
  }
}
