import net from "node:net";
import postgres from "postgres";
import { parseDatabaseUrl } from "./database-url.ts";

export { describeDatabase, replaceDatabase } from "./database-url.ts";

/** A pool of connections. Dates, times and intervals are read as Postgres' own text, never as a JavaScript Date. */
export type Sql = postgres.Sql;
/** One connection inside `sql.begin`. */
export type TransactionSql = postgres.TransactionSql;
export type ReservedSql = postgres.ReservedSql;

export interface ConnectOptions {
  /** Shown in pg_stat_activity and in the server's log. */
  applicationName: string;
  /** Connections at most. @default 4 */
  max?: number;
  /** Notices of the server. @default they are dropped */
  onNotice?: (notice: postgres.Notice) => void;
  /** For one connection and no reply, in seconds; a `connect_timeout` in the URL wins. @default 10 */
  connectTimeoutSeconds?: number;
  /** Connections are renewed after half an hour or more. @default true */
  renew?: boolean;
  /** Settings of each session, such as `{ statement_timeout: "30s" }`. */
  session?: Record<string, string>;
}

/**
 * Opens nothing yet: the first query does. Read values: int8 as a number while it is exact, else as text;
 * json and jsonb parsed; timestamps, dates and times as text, those with a zone in UTC.
 * Written timestamps are text too. Close it with `sql.end({ timeout: 5 })`, or use `withSql`: without a time-out
 * `end` waits for ever when a connection was lost in the middle of a query.
 * Throws ConfigError for a URL that cannot be read.
 */
export function connect(url: string, options: ConnectOptions): Sql {
  const address = parseDatabaseUrl(url);
  const hosts = address.hosts.map(({ host }) => host);
  const timeoutSeconds = address.connectTimeoutSeconds ?? options.connectTimeoutSeconds ?? 10;
  let firstHost = 0;

  // postgres.js never sets TCP_NODELAY, which makes every COPY wait 40 ms for a delayed acknowledgement. A socket
  // of our own can, and then it is on us to try the hosts one after another.
  async function openSocket(): Promise<net.Socket> {
    // Several hosts in its options make postgres.js keep an error to itself and try again: right after a server
    // that was of the wrong kind (target_session_attrs), wrong after a round in which none answered.
    hosts.splice(0, hosts.length, ...address.hosts.map(({ host }) => host));
    let lastError: unknown;
    for (let tried = 0; tried < address.hosts.length; tried++) {
      const { host, port } = address.hosts[(firstHost + tried) % address.hosts.length] ?? {
        host: "",
        port: 0,
      };
      try {
        const socket = await openOne(host, port, timeoutSeconds * 1000);
        if (address.targetSessionAttrs !== undefined) firstHost += tried + 1;
        return socket;
      } catch (error) {
        lastError = error;
      }
    }
    hosts.splice(1);
    throw lastError;
  }

  const settings: Record<string, unknown> = {
    ...(address.user === undefined ? {} : { user: address.user }),
    ...(address.password === undefined ? {} : { password: address.password }),
    ...(address.database === undefined ? {} : { database: address.database }),
    ...(address.targetSessionAttrs === undefined ? {} : { target_session_attrs: address.targetSessionAttrs }),
    ...(options.renew === false ? { max_lifetime: null } : {}),
    host: hosts,
    port: address.hosts.map(({ port }) => port),
    ssl: address.tls,
    socket: openSocket,
  };
  const sql = postgres({
    ...settings,
    max: options.max ?? 4,
    connect_timeout: timeoutSeconds,
    onnotice: options.onNotice ?? (() => {}),
    connection: {
      // Times are sent in the session's zone and style, which a role or a database may set otherwise.
      TimeZone: "UTC",
      DateStyle: "ISO",
      ...address.session,
      ...options.session,
      application_name: options.applicationName,
    },
    types: {
      date: { to: 1114, from: [1082, 1083, 1114, 1184, 1186, 1266], serialize: asText, parse: asIs },
      int8: { to: 20, from: [20], serialize: asText, parse: parseInt8 },
    },
  });
  return sql as unknown as Sql;
}

/** Runs `fn` over a pool of its own and closes it whatever happens. Open queries get 5 s to end, 1 s when `fn` failed. */
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

/** A request to cancel a query has this length, and its only answer is that the server hangs up. */
const CANCEL_BYTES = 16;

function openOne(host: string, port: number, timeoutMs: number): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const socket = host.startsWith("/")
      ? net.connect({ path: `${host}/.s.PGSQL.${port}` })
      : net.connect({ host, port, noDelay: true });
    const timer = setTimeout(() => socket.destroy(timedOut(host, port, timeoutMs)), timeoutMs);
    const settle = () => {
      clearTimeout(timer);
      socket.removeListener("error", failed);
      socket.removeListener("connect", connected);
    };
    const failed = (error: Error) => {
      settle();
      reject(error);
    };
    const connected = () => {
      settle();
      // For its messages and for the name in the server's certificate postgres.js reads these two from the socket.
      resolve(Object.assign(socket, { host, port }));
    };
    socket.once("error", failed);
    socket.once("connect", connected);
    // A server that hangs up before it said anything is no error to postgres.js, which would try again for ever.
    socket.once("close", () => {
      if (socket.bytesRead === 0 && socket.bytesWritten !== CANCEL_BYTES)
        socket.emit("error", hungUp(host, port));
    });
    // Whoever listens now or later: an error without any listener would end the process.
    socket.on("error", () => {});
  });
}

function timedOut(host: string, port: number, timeoutMs: number): Error {
  return Object.assign(new Error(`no answer from ${host}:${port} within ${timeoutMs} ms`), {
    code: "ETIMEDOUT",
  });
}

function hungUp(host: string, port: number): Error {
  return Object.assign(new Error(`${host}:${port} closed the connection without a word`), {
    code: "ECONNRESET",
  });
}

const asText = (value: unknown): string => (value instanceof Date ? value.toISOString() : String(value));
const asIs = (text: string): string => text;
const parseInt8 = (text: string): number | string => {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : text;
};
