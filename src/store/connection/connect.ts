import postgres from "postgres";
import { type DatabaseAddress, parseDatabaseUrl } from "./database-url.ts";
import { DriverSocket } from "./driver/driver-socket.ts";
import { parseArray, serializeArray } from "./driver/flat-array.ts";
import { openSocket } from "./driver/open-socket.ts";
import { sessionStatement } from "./driver/session-settings.ts";

export { describeDatabase, nameInstance, replaceDatabase } from "./database-url.ts";

/**
 * A pool of connections. Dates, times and intervals are read as the text of Postgres, never as a JavaScript
 * Date.
 */
export type Sql = postgres.Sql;
/** One connection inside `sql.begin`. */
export type TransactionSql = postgres.TransactionSql;
/** A pool or a transaction, for statements that need one connection only. */
export type AnySql = postgres.ISql;

const RETIRED_END_SECONDS = 5;
/** Postgres cuts longer application names. */
const MAX_NAME_LENGTH = 63;
/** text, varchar, and all times, which are read as text. */
const TEXT_ARRAYS = [1009, 1015, 1115, 1182, 1183, 1185];
/** int2, int4, int8 */
const NUMBER_ARRAYS = [1005, 1007, 1016];

export interface ConnectOptions {
  /** Shown in pg_stat_activity and in the log of the server. */
  applicationName: string;
  /** The maximum number of connections. @default 4 */
  max?: number;
  /** Called for each notice of the server. @default drops them */
  onNotice?: (notice: postgres.Notice) => void;
  /** How long to wait for a new connection, in seconds. A `connect_timeout` in the URL wins. @default 10 */
  connectTimeoutSeconds?: number;
  /**
   * Settings of each session, such as `{ statement_timeout: "30s" }`. They win over the settings in the URL.
   */
  session?: Record<string, string>;
}

/** One pool of the driver. It is retired as soon as it loses a connection. */
interface Generation {
  sql: Sql;
  isRetired: boolean;
  /** Its connections, opened or opening. */
  sockets: Set<DriverSocket>;
}

const renewals = new WeakMap<Sql, () => void>();

/**
 * Drops every connection of a pool, as if all were lost: running statements are rejected with a passing
 * error, and the next statement opens new connections. Needed when a server still answers but takes no writes
 * any more, because another server has taken its place.
 */
export function renewConnections(sql: Sql): void {
  renewals.get(sql)?.();
}

/**
 * Creates a pool. The first query opens the first connection.
 *
 * Values are read like this: int8 as a number while it is exact, else as text; json and jsonb parsed; arrays
 * of texts, times and integers as arrays; dates and times as text, with a zone in UTC. Timestamps are written
 * as text too.
 *
 * The statements of a lost connection are rejected, and the next query opens a new connection. Close the pool
 * with `sql.end({ timeout: 5 })` or use `withSql`: `end` without a timeout waits for every running statement.
 * Throws ConfigError for a URL that cannot be read.
 */
export function connect(url: string, options: ConnectOptions): Sql {
  const address = parseDatabaseUrl(url);
  let isEnded = false;
  let current = createGeneration(address, options);
  let retired: Generation[] = [];

  // postgres.js reopens a lost connection with old state: a write that was scheduled but never made, or an
  // error that the next statement gets. So no connection is opened twice. A pool that lost one is retired,
  // and a new pool takes over. Its other connections are closed, each when its statement or transaction is over.
  const generation = (): Sql => {
    if (current.isRetired && !isEnded) {
      retired = retired.filter(({ sockets }) => sockets.size > 0);
      if (current.sockets.size > 0) retired.push(current);
      current.sql.end().catch(() => {});
      current = createGeneration(address, options);
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
  };
  const pool = new Proxy(current.sql, {
    apply: (_first, self, args) => Reflect.apply(generation(), self, args),
    get: (_first, name) => (name === "end" ? end : Reflect.get(generation(), name)),
  });
  renewals.set(pool, () => {
    current.isRetired = true;
    for (const { sockets } of [...retired, current]) for (const socket of sockets) socket.abandon();
  });
  return pool;
}

const closed = (socket: DriverSocket): Promise<void> =>
  new Promise((resolve) => socket.once("close", () => resolve()));

function createGeneration(address: DatabaseAddress, options: ConnectOptions): Generation {
  const timeoutSeconds = address.connectTimeoutSeconds ?? options.connectTimeoutSeconds ?? 10;
  // With several hosts postgres.js hides an error and tries again. That is right after a server of the wrong
  // kind (target_session_attrs). It is wrong when no server answers: we have to see that error.
  const hosts = address.hosts.map(({ host }) => host);
  const { application_name: givenName } = address.session;
  const settings = sessionStatement(
    address.session,
    // A name in the URL takes the place of ours, but must not hide the process.
    givenName === undefined ? {} : { application_name: nameApplication(givenName, address.instance) },
    options.session ?? {},
  );
  if (address.targetSessionAttrs === undefined) hosts.splice(1);
  let firstHost = 0;

  const retire = () => {
    generation.isRetired = true;
  };

  // An error thrown here would cost the pool this connection for good. So a failed connection is returned as
  // a socket that is already lost.
  async function socket(): Promise<DriverSocket> {
    const [first = { host: "", port: 0 }] = address.hosts;
    let loss = Object.assign(new Error("the connection was lost"), { code: "CONNECTION_CLOSED" });
    hosts.splice(0, hosts.length, ...address.hosts.slice(0, hosts.length).map(({ host }) => host));
    for (let tried = 0; tried < address.hosts.length && !generation.isRetired; tried++) {
      const place = address.hosts[(firstHost + tried) % address.hosts.length] ?? first;
      try {
        const opened = await openSocket(place, address.tls, timeoutSeconds * 1000);
        if (address.targetSessionAttrs !== undefined) firstHost += tried + 1;
        const socket = new DriverSocket(opened, place, settings, retire);
        generation.sockets.add(socket);
        socket.once("close", () => generation.sockets.delete(socket));
        return socket;
      } catch (error) {
        loss = error as typeof loss;
      }
    }
    hosts.splice(1);
    return new DriverSocket(null, { ...first, loss }, settings);
  }

  const access: Record<string, unknown> = {
    ...(address.user === undefined ? {} : { user: address.user }),
    ...(address.password === undefined ? {} : { password: address.password }),
    ...(address.database === undefined ? {} : { database: address.database }),
    ...(address.targetSessionAttrs === undefined ? {} : { target_session_attrs: address.targetSessionAttrs }),
    host: hosts,
    port: address.hosts.map(({ port }) => port),
    socket,
  };
  const sql = postgres({
    ...access,
    max: options.max ?? 4,
    connect_timeout: timeoutSeconds,
    // A connection stays open until the pool is ended or the connection is lost.
    max_lifetime: null,
    // The driver would ask the server for its types after it connects. If the connection is lost then,
    // nothing can catch the error.
    fetch_types: false,
    onnotice: options.onNotice ?? (() => {}),
    // Only the name: a pooler refuses other settings while a session starts. `DriverSocket` makes the
    // settings.
    connection: {
      ...(address.startupOptions === undefined ? {} : { options: address.startupOptions }),
      application_name: nameApplication(options.applicationName, address.instance),
    },
    types: {
      date: { to: 1114, from: [1082, 1083, 1114, 1184, 1186, 1266], serialize: asText, parse: asIs },
      int8: { to: 20, from: [20], serialize: asText, parse: parseInt8 },
      texts: {
        to: 1009,
        from: TEXT_ARRAYS,
        serialize: serializeArray,
        parse: (text: string) => parseArray(text, asIs),
      },
      numbers: {
        to: 1016,
        from: NUMBER_ARRAYS,
        serialize: serializeArray,
        parse: (text: string) => parseArray(text, parseInt8),
      },
    },
  });
  const generation: Generation = { sql: sql as unknown as Sql, isRetired: false, sockets: new Set() };
  return generation;
}

/** As in `docmirror sync #k3x9ab`. The server cuts long names, so a long name loses its middle. */
function nameApplication(name: string, instance: string | undefined): string {
  if (instance === undefined) return name;
  const tag = ` #${instance}`;
  return name.slice(0, MAX_NAME_LENGTH - tag.length) + tag;
}

/**
 * Runs `fn` with a new pool and always closes the pool. Running queries get 5 s to end, or 1 s when `fn`
 * failed.
 */
export async function withSql<T>(
  url: string,
  options: ConnectOptions,
  fn: (sql: Sql) => Promise<T>,
): Promise<T> {
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

const asText = (value: unknown): string => (value instanceof Date ? value.toISOString() : String(value));
const asIs = (text: string): string => text;
const parseInt8 = (text: string): number | string => {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : text;
};
