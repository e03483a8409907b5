import { randomBytes } from "node:crypto";
import { EventEmitter, once } from "node:events";
import net from "node:net";
import v8 from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import {
  connect,
  describeDatabase,
  nameInstance,
  renewConnections,
  renewOtherConnections,
  withSql,
} from "../../../src/store/connection/connect.ts";
import { parseDatabaseUrl, withDefaults } from "../../../src/store/connection/database-url.ts";
import { scramPassword } from "../../../src/store/connection/scram-password.ts";
import { measureServerClock } from "../../../src/store/connection/server-clock.ts";
import { type Sql, type TransactionSql, withTransaction } from "../../../src/store/connection/sql.ts";
import { isPassing, toStoreError } from "../../../src/store/connection/store-errors.ts";
import { withTestSql } from "../../support/database.ts";
import { freePort, listenOnLoopback } from "../../support/free-port.ts";
import { emptyDatabase, useDatabase } from "../../support/use-database.ts";

describe("parseDatabaseUrl", () => {
  test.each([
    ["postgres://u:p@db.example:6543/m", "db.example 6543"],
    ["postgresql://db.example", "db.example 5432"],
    ["postgres:///m", "localhost 5432"],
    ["postgres://u@a:1,b,c:3/m", "a 1, b 5432, c 3"],
    ["postgres:///m?host=/var/run/postgresql&port=5433", "/var/run/postgresql 5433"],
    ["postgres://%2Fvar%2Frun/m", "/var/run 5432"],
    ["postgres://u@/m?host=/cloudsql/p:r:i", "/cloudsql/p:r:i 5432"],
    ["postgres://u@x:1/m?host=a,::1&port=2,", "a 2, ::1 2"],
    ["postgres://[::1]:5433/m", "::1 5433"],
  ])("%s names its hosts", (url, hosts) => {
    const named = parseDatabaseUrl(url).hosts.map(({ host, port }) => `${host} ${port}`);
    expect(named.join(", ")).toBe(hosts);
  });

  test("user and password are read in percent form", () => {
    const read = { user: "a@b", password: "p:/", database: "m" };
    expect(parseDatabaseUrl("postgres://a%40b:p%3A%2F@h/m")).toMatchObject(read);
  });

  test("settings of the session are kept, and those of libpq that ask for what is done anyway are not sent on", () => {
    const query =
      "statement_timeout=5s&channel_binding=prefer&sslmode=require&client_encoding=UTF8&sslnegotiation=postgres";
    expect(parseDatabaseUrl(`postgres://h/m?${query}`).session).toEqual({ statement_timeout: "5s" });
  });

  test.each([
    // Of libpq, with a value that asks for more.
    ...[
      "channel_binding=require",
      "gssencmode=require",
      "load_balance_hosts=random",
      "require_auth=scram-sha-256",
    ],
    ...[
      "passfile=x",
      "service=x",
      "hostaddr=::1",
      "sslcrl=x",
      "sslpassword=x",
      "keepalives_idle=9",
      "krbsrvname=x",
    ],
    // Of other programs.
    ...[
      "ssl=true",
      "schema=public",
      "currentSchema=x",
      "connection_limit=1",
      "pgbouncer=true",
      "pool_timeout=1",
    ],
    ...["sslaccept=strict", "supa=base", "serverVersion=16", "charset=utf8"],
    // Almost libpq's.
    ...["sslmod=require", "ssl_mode=require", "connectTimeout=5", "aplication_name=x"],
    ...["connect_timeout=soon"],
  ])("the parameter %s is refused by its name, with what to write", (query) => {
    const [name = ""] = query.split("=");
    const refusal = {
      exitCode: 2,
      message: expect.stringContaining(` ${name}`),
      hint: expect.stringMatching(/^(leave it out: |write |name a file)/),
    };
    expect(() => parseDatabaseUrl(`postgres://h/m?${query}`)).toThrow(expect.objectContaining(refusal));
  });

  test.each([
    ["-c statement_timeout=5s --lock-timeout=6s", { statement_timeout: "5s", lock_timeout: "6s" }, undefined],
    [String.raw`-csearch_path=a,\ b`, { search_path: "a, b" }, undefined],
    ["endpoint=ep-1 -c jit=off", { jit: "off" }, "endpoint=ep-1"],
    ["-c", {}, "-c"],
    ["", {}, undefined],
  ])("options %j are settings of the session, but for what only the server can read", (options, session, rest) => {
    const url = `postgres://h/m?options=${encodeURIComponent(options)}`;
    expect(parseDatabaseUrl(url)).toMatchObject({ session, startupOptions: rest });
  });

  const unchecked = { isOptional: false, options: { rejectUnauthorized: false } };
  const checked = {
    isOptional: false,
    options: { rejectUnauthorized: true, checkServerIdentity: expect.any(Function) },
  };
  test.each([
    ["h", "", { ...unchecked, isOptional: true }],
    ["h", "sslmode=", { ...unchecked, isOptional: true }],
    ["h", "sslmode=require&sslmode=disable", false],
    ["h", "sslmode=prefer", { ...unchecked, isOptional: true }],
    ["h", "sslmode=require", unchecked],
    ["h", "sslmode=verify-full", checked],
    ["h", "sslrootcert=system", checked],
    ["", "host=/run/a,/run/b&sslmode=require", false],
    ["", "host=/run/a,b&sslmode=require", unchecked],
  ])("of the host %j, %s is libpq's", (host, query, tls) => {
    expect(parseDatabaseUrl(`postgres://${host}/m?${query}`).tls).toEqual(tls);
  });

  test.each([
    ...["", "nonsense", "mysql://h/m", "postgres://u:secret@h:port/m"],
    ...["postgres://u:secret@h/m?sslmode=yes", "postgres://u:secret@h/m?lock_timeout=1%00"],
    "postgres://u:secret@h/m?sslmode=require&sslrootcert=system",
  ])("%s is refused without repeating a password", (url) => {
    expect(() => parseDatabaseUrl(url)).toThrow(expect.objectContaining({ exitCode: 2 }));
    expect(() => parseDatabaseUrl(url)).not.toThrow(/secret/);
  });
});

describe("a password as a default", () => {
  const password = ` it's "50%" @:/?#[]&=+ ü€😀 `;

  test.each([
    "postgres://me@db.example/m",
    "postgres://me:@db.example:6543/m?sslmode=prefer",
    "postgres://a%40b@one,two:1/m?target_session_attrs=read-write",
    "postgres://me@/m?host=/run/postgresql&port=5433",
    "postgres:///m?user=me&password=",
    "postgres://[::1]",
  ])("%s gets it, and nothing else in it changes", (url) => {
    expect(parseDatabaseUrl(withDefaults(url, [["password", password]]))).toEqual({
      ...parseDatabaseUrl(url),
      password,
    });
  });

  test.each([
    "postgres://me:other@db.example/m",
    "postgres://me@db.example/m?password=other",
    "no address",
  ])("%s stays as it is", (url) => {
    expect(withDefaults(url, [["password", password]])).toBe(url);
  });
});

describe("describeDatabase", () => {
  test.each([
    ["postgres://me:secret@db.example/m", "postgres://me:***@db.example:5432/m"],
    ["postgres://db.example/m?password=secret&user=me", "postgres://me:***@db.example:5432/m"],
    ["postgres://me@a,b:1/m", "postgres://me@a:5432,b:1/m"],
    ["postgres://[::1]/m", "postgres://[::1]:5432/m"],
    ["postgres:secret", "postgres://(not readable)"],
  ])("%s", (url, text) => {
    expect(describeDatabase(url)).toBe(text);
  });
});

describe("connect", () => {
  const database = useDatabase(() => emptyDatabase(2));
  const { sql } = database;
  /** Of a server that gives none. */
  const failureOf = (url: string, options: object = {}) =>
    withSql(url, { applicationName: "t", ...options }, (own) => own`select 1`).catch(
      (error: unknown) => error,
    );

  test("times are read as text, to the microsecond, in UTC whatever the role is set to", async () => {
    const [row] = await sql`
      select timestamptz '2024-05-06 07:08:09.123456-05' as tz, timestamp '2024-05-06 07:08:09.123456' as ts,
             date '2024-05-06' as d, time '07:08:09.5' as t, interval '90 minutes' as i,
             array[timestamp '2024-05-06 07:08:09.000001'] as list`;
    expect(row).toEqual({
      tz: "2024-05-06 12:08:09.123456+00",
      ts: "2024-05-06 07:08:09.123456",
      d: "2024-05-06",
      t: "07:08:09.5",
      i: "01:30:00",
      list: ["2024-05-06 07:08:09.000001"],
    });
  });

  test("int8 is a number while it is exact, else text; json and jsonb are read parsed", async () => {
    const [row] = await sql`
      select 42::int8 as small, 9007199254740993::int8 as big, array[1::int8] as list, ${7}::int8 as sent,
        '{"a":[1]}'::json as j, '{"b":null}'::jsonb as b`;
    expect(row).toEqual({
      small: 42,
      big: "9007199254740993",
      list: [1],
      sent: 7,
      j: { a: [1] },
      b: { b: null },
    });
  });

  test("arrays are written and read whatever is in their texts", async () => {
    const texts = ["", "a,b", '"', "\\", "{}", "null", "NULL", " ", "\n", "é"];
    const [row] = await sql`select ${texts}::text[] as texts, array['a', null] as gap, '{}'::text[] as none,
      ${[1, 2]}::int4[] as numbers`;
    expect(row).toEqual({ texts, gap: ["a", null], none: [], numbers: [1, 2] });
  });

  test("as many failed connections as there may be do not use the pool up", async () => {
    await using pool = disposable(`postgres://127.0.0.1:${await freePort()}/m`, 2);
    for (let time = 0; time < 4; time++) {
      await expect(pool`select 1`).rejects.toMatchObject({ code: "ECONNREFUSED" });
    }
  });

  test("connections that are lost at any moment leave a pool that goes on", { tags: ["long"] }, async () => {
    await using pool = disposable(database.url, 4);
    // One at least is there to be lost, however slow the machine is.
    await pool`select 1`;
    let isOver = false;
    const codes = new Set<unknown>();
    const noteCode = (error: { code?: unknown }) => void codes.add(error.code ?? error);
    const work = Array.from({ length: 6 }, async () => {
      while (!isOver) {
        await withTransaction(pool, async (tx) => {
          // Going on after a failure is what leaves a statement behind for a connection that is gone.
          await tx`select ${1}::int`.catch(noteCode);
          await Promise.all([tx`select 1`, tx`select ${"x"}::text`, tx.unsafe("select 2")]);
        }).catch(noteCode);
        await pool`select ${1}::int`.catch(noteCode);
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    for (let time = 0; time < 40; time++) {
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'lossy'`;
    }
    isOver = true;
    await Promise.all(work);
    expect(codes.size).toBeGreaterThan(0);
    for (const code of codes) expect(isPassing(Object.assign(new Error("lost"), { code }))).toBe(true);
    expect(await pool`select 1 as one`).toEqual([{ one: 1 }]);
  });

  test("lost connections, however many, leave next to nothing in memory", { tags: ["long"] }, async () => {
    v8.setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    await using pool = disposable(database.url, 1);
    const lose = async (times: number) => {
      for (let time = 0; time < times; time++) {
        await pool`select 1`;
        renewConnections(pool);
      }
      await pool`select 1`;
      collect();
      return process.memoryUsage().heapUsed;
    };
    const before = await lose(10);
    // Each had 48 kB.
    expect((await lose(60)) - before).toBeLessThan(1_000_000);
  });

  test("a lost connection takes the idle ones with it, and leaves those that are at work until they are done", async () => {
    const name = "docmirror test retired";
    const pool = connect(database.url, { applicationName: name, max: 3 });
    const open = async () =>
      (await sql`select from pg_stat_activity where application_name = ${name}`).length;
    try {
      const steps = new EventEmitter();
      const [begun, released, met] = ["begun", "release", "met"].map((step) => once(steps, step));
      const atWork = pool.begin(async (tx) => {
        steps.emit("begun");
        await released;
        return await tx`select 1 as one`;
      });
      await begun;
      let count = 0;
      const meet = async (tx: TransactionSql) => {
        const [self] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
        count += 1;
        if (count === 2) steps.emit("met");
        await met;
        return self?.pid ?? 0;
      };
      const [lost] = await Promise.all([pool.begin(meet), pool.begin(meet)]);
      expect(await open()).toBe(3);

      await sql`select pg_terminate_backend(${lost}, 5000)`;
      await expect.poll(async () => await pool`select 1`.then(open, () => 0)).toBe(2);
      steps.emit("release");
      expect(await atWork).toEqual([{ one: 1 }]);
      // The first statement after the loss was noticed takes a new connection, and that may be this one.
      await expect.poll(() => pool`select 1`.then(open)).toBe(1);
    } finally {
      await pool.end({ timeout: 1 });
    }
    await expect.poll(open).toBe(0);
  });

  test.each<[string, (pool: Sql) => Promise<void> | void]>([
    ["does not hold up the end of a pool", (pool) => pool.end({ timeout: 0.1 })],
    ["is dropped with the connections of a pool", renewConnections],
  ])("a statement that never ends %s that lost another connection", async (_, drop) => {
    const name = `docmirror test endless ${drop.name}`;
    const pool = connect(database.url, { applicationName: name, max: 2 });
    const endless = pool`select pg_sleep(3600)`.catch((error: unknown) => error);
    const [other] = await pool<{ pid: number }[]>`select pg_backend_pid() as pid`;
    await sql`select pg_terminate_backend(${other?.pid ?? 0}, 5000)`;
    await expect.poll(async () => await pool`select 1 as one`.catch(() => [])).toEqual([{ one: 1 }]);
    await drop(pool);
    expect(isPassing(await endless)).toBe(true);
    await pool.end({ timeout: 1 });
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = ${name}`;
  });

  test("a process drops its other connections to a server, and no one else's", async () => {
    const open = (instance: string) => disposable(nameInstance(database.url, instance), 1);
    await using own = open("mine");
    await using other = open("mine");
    await using strange = open("another");
    const pidOf = async (pool: Sql) => (await pool`select pg_backend_pid() as pid`)[0]?.pid;
    const before = [await pidOf(own), await pidOf(other), await pidOf(strange)];
    renewOtherConnections(own);
    await expect.poll(() => pidOf(other).catch(() => before[1])).not.toBe(before[1]);
    expect([await pidOf(own), await pidOf(strange)]).toEqual([before[0], before[2]]);
  });

  test("settings of the URL and of the caller hold in every session, and none of them may change how texts are read", async () => {
    const url = `${database.url}?timezone=Asia/Tokyo&DATESTYLE=German&work_mem=3MB&statement_timeout=1s&default_transaction_isolation=serializable`;
    const session = { statement_timeout: "2s", search_path: `"it's", "a\\b", public` };
    const rows = await withSql(url, { applicationName: "t", max: 3, session }, (own) =>
      Promise.all(
        [1, 2, 3].map(
          () => own`
            select current_setting('work_mem') as memory, current_setting('statement_timeout') as timeout,
              current_setting('search_path') as path, current_setting('transaction_isolation') as level, timestamptz '2024-05-06 07:08:09-05' as at, pg_sleep(0.01)::text`,
        ),
      ),
    );
    const wanted = {
      memory: "3MB",
      timeout: "2s",
      path: session.search_path,
      level: "read committed",
      at: "2024-05-06 12:08:09+00",
    };
    for (const [row] of rows) expect(row).toMatchObject(wanted);
  });

  test.each([
    ["no_such_setting=1", "42704"],
    ["statement_timeout=soon", "22023"],
  ])("a session that cannot be set to %s is an error, each time, and runs no statement", async (query, code) => {
    await using pool = disposable(`${database.url}?${query}`, 1);
    const sessions = () =>
      sql`select pid from pg_stat_activity where datname = current_database() order by pid`;
    const before = await sessions();
    for (let time = 0; time < 3; time++)
      await expect(pool`create table never_made ()`).rejects.toMatchObject({ code });
    const refused = toStoreError(await pool`select 1`.catch((error: unknown) => error), "read");
    expect(refused).toMatchObject({
      exitCode: 2,
      message: expect.stringContaining(`"${query.split("=")[0]}"`),
    });
    expect(await sql`select to_regclass('never_made') as made`).toEqual([{ made: null }]);
    // And leaves no session at the server.
    await expect.poll(sessions, { timeout: 5000 }).toEqual(before);
  });

  test.each([
    ["docmirror sync", "", "docmirror sync #k3x9ab"],
    ["a name that is longer than the server takes".repeat(2), "", / #k3x9ab$/],
    ["docmirror sync", "?application_name=nightly", "nightly #k3x9ab"],
  ])("a URL with the name of a process ends each application name with it: %s %s", async (applicationName, query, name) => {
    const url = nameInstance(`${database.url}${query}`, "k3x9ab");
    const [row] = await withSql(url, { applicationName }, (own) => own`show application_name`);
    expect(row?.application_name).toEqual(expect.stringMatching(name));
  });

  test("COPY in small batches does not wait for acknowledgements", async () => {
    await sql`create table copied (n int)`;
    const took: number[] = [];
    for (let i = 0; i < 200; i++) {
      const startedAt = performance.now();
      const stream = await sql`copy copied from stdin`.writable();
      stream.write(`${i}\n`);
      stream.end(`${i}\n`);
      await once(stream, "finish");
      took.push(performance.now() - startedAt);
    }
    // With delayed acknowledgements each would take 40 ms; on a busy machine only some do.
    expect(took.filter((ms) => ms < 40).length).toBeGreaterThan(40);
  });

  test("a host that does not answer is passed over", async () => {
    const closed = await freePort();
    const { hostname, port, username, password, pathname } = new URL(database.url);
    const url = `postgres://${username}:${password}@127.0.0.1:${closed},${hostname}:${port}${pathname}`;
    const rows = await withSql(url, { applicationName: "t" }, (two) => two`select 1 as one`);
    expect(rows[0]?.one).toBe(1);
  });

  test("hosts none of which answers are an error at once", async () => {
    const hosts = `127.0.0.1:${await freePort()},127.0.0.1:${await freePort()}`;
    const error = await failureOf(`postgres://${hosts}/m?target_session_attrs=read-write`);
    expect(error).toMatchObject({ code: "ECONNREFUSED" });
  });

  test("a server that hangs up without a word is an error, not an endless loop", async () => {
    const rude = net.createServer((socket) => socket.destroy());
    expect(await failureOf(await urlOf(rude))).toMatchObject({ code: "ECONNRESET" });
    rude.close();
  });

  test("a service that is no Postgres is an error at once, however long the reply that it begins", async () => {
    const http = net.createServer((socket) =>
      socket.on("error", () => {}).end("HTTP/1.1 400 Bad Request\r\n\r\n"),
    );
    expect(toStoreError(await failureOf(await urlOf(http)), "connect")).toMatchObject({
      sqlstate: "08P01",
      message: expect.stringContaining("does not speak Postgres"),
    });
    http.close();
  });

  test.each([
    ["bytes behind its answer", "S\0", "08P01"],
    ["a handshake that fails", "S", /SSL|EPROTO/],
  ])("%s is an error, and no reason to go on without TLS", async (_what, answer, code) => {
    const heard: Buffer[] = [];
    const broken = net.createServer((socket) => {
      socket.on("error", () => {});
      socket.on(
        "data",
        (bytes) => void (heard.push(bytes) === 1 ? socket.write(answer) : socket.end("no TLS")),
      );
    });
    expect(await failureOf(await urlOf(broken))).toMatchObject({ code: expect.stringMatching(code) });
    expect(Buffer.concat(heard).includes("user")).toBe(false);
    broken.close();
  });

  test("a server that never speaks is given up after the time allowed", async () => {
    const sockets: net.Socket[] = [];
    const silent = net.createServer((socket) => sockets.push(socket));
    const url = await urlOf(silent);
    const failure = await failureOf(url, { connectTimeoutSeconds: 0.2 });
    expect(toStoreError(failure, "connect")).toMatchObject({
      sqlstate: "CONNECT_TIMEOUT",
      exitCode: 4,
      message: `Cannot reach Postgres at ${new URL(url).host}`,
    });
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  test("withSql closes its connections when the work fails", async () => {
    const options = { applicationName: "docmirror test closing" };
    const failed = withSql(database.url, options, async (own) => {
      await own`select 1`;
      throw new Error("the work");
    });
    await expect(failed).rejects.toThrow("the work");
    const left = () => sql`select from pg_stat_activity where application_name = ${options.applicationName}`;
    await expect.poll(left).toHaveLength(0);
  });
});

/** As of a database. */
const urlOf = async (server: net.Server) => `postgres://${(await listenOnLoopback(server)).host}/m`;

function disposable(url: string, max: number) {
  const pool = connect(url, { applicationName: "lossy", max });
  return Object.assign(pool, { [Symbol.asyncDispose]: () => pool.end({ timeout: 1 }) });
}

/** Passwords that Postgres stores in another spelling, and some near them that it takes as they are. */
const PASSWORDS = [
  ...["plain", "it's \\ 50%", " two  blanks ", "tab\tand é"],
  ...["é", "e\u0301", "ﬁx", "Ⅸ", "ｆｕｌｌ", "Å"],
  ...["a\u00A0b", "a\u2003b", "a\u200Bb", "a\u3000b"],
  ...["a\u00ADb", "a\u200Db", "❤\uFE0F", "\u00AD"],
  ...["e\u0301\u0007", "e\u0301\uE000", "e\u0301\u2028", "😀", "😀e\u0301"],
  ...["👩\u200D👧", "世界", "שלום", "سلام", "שa"],
];

test("any password opens a server that keeps it by SCRAM", { tags: ["long"] }, async () => {
  await using database = await emptyDatabase();
  const { sql } = database;
  const role = `docmirror_test_${randomBytes(6).toString("hex")}`;
  const refused: string[] = [];
  await sql.unsafe(`create role ${role} login`);
  try {
    for (const password of PASSWORDS) {
      const [quoted] = await sql<{ text: string }[]>`select quote_literal(${password}) as text`;
      await sql.unsafe(`alter role ${role} password ${quoted?.text}`);
      const { href } = Object.assign(new URL(database.url), { username: role, password: "" });
      const url = withDefaults(href, [["password", await scramPassword(password)]]);
      await withTestSql(url, (own) => own`select`).catch((error: unknown) =>
        refused.push(`${JSON.stringify(password)}: ${error}`),
      );
    }
  } finally {
    await sql.unsafe(`drop role ${role}`);
  }
  expect(refused).toEqual([]);
});

test.each([
  0, 90_000, -90_000,
])("the server's clock is measured by ours, which is %i ms ahead", async (shiftMs) => {
  await using database = await emptyDatabase();
  const clock = { ...systemClock, now: () => new Date(Date.now() + shiftMs) };
  const { minMs, maxMs } = await measureServerClock(database.sql, clock);
  expect(minMs).toBeLessThanOrEqual(maxMs);
  // A server in a container of this machine has the same clock.
  for (const ms of [minMs, maxMs]) expect(Math.abs(ms + shiftMs)).toBeLessThan(30_000);
});
