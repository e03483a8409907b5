import { EventEmitter, once } from "node:events";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { LockedError } from "../../../src/base/errors.ts";
import { readDefinitions } from "../../../src/report/definitions.ts";
import { connect, withSql } from "../../../src/store/connection/connect.ts";
import { assertSessionPooling } from "../../../src/store/connection/session-pooling.ts";
import { type Sql, withTransaction } from "../../../src/store/connection/sql.ts";
import { acquireRunLock } from "../../../src/store/ledger/run-lock.ts";
import { migrate } from "../../../src/store/migrate/migrate.ts";
import { runCli, startCli } from "../../support/cli.ts";
import { createTestDatabase, type TestDatabase, withTestSql } from "../../support/database.ts";
import { PGBOUNCER, type Pooler, startPooler } from "../../support/pgbouncer.ts";
import { startQuickWorld } from "../../support/quick-world.ts";

const application = { applicationName: "docmirror test", max: 1 };
const REASON = /a pooler in transaction mode gives one session to several connections/;

const WITH_LOCK = ["sync", "watch --once", "worker", "serve --http-port 0"];

function createProgram(pooler: Pooler, database: TestDatabase) {
  const env = { DATABASE_URL: pooler.url(database.url), DOCMIRROR_RATE: "0" };
  return {
    run: (...args: string[]) => runCli(args, { env }),
    start: (...args: string[]) => startCli(args, { env }),
  };
}

const ask = (database: TestDatabase, statement: string) =>
  withTestSql(database.url, async (sql) => [...(await sql.unsafe(statement))]);
const LOCKS = `select objid from pg_locks join pg_database on pg_database.oid = database
  where locktype = 'advisory' and datname = current_database()`;

describe.skipIf(PGBOUNCER === null)("over a PgBouncer in session mode", () => {
  let pooler: Pooler;
  let database: TestDatabase;
  let sql: Sql;
  beforeAll(async () => {
    pooler = await startPooler(inject("databaseServer").adminUrl, { pool_mode: "session" });
    database = await createTestDatabase({ migrated: false });
    const name = new URL(database.url).pathname.slice(1);
    await ask(database, `alter database ${name} set timezone = 'Asia/Tokyo'`);
    await ask(database, `alter database ${name} set datestyle = 'German'`);
    const url = new URL(pooler.url(database.url));
    url.searchParams.set("lock_timeout", "11s");
    url.searchParams.set("options", "-c work_mem=7MB --search_path=public,pg_catalog");
    sql = connect(url.href, { ...application, max: 2, session: { statement_timeout: "17s" } });
  });
  afterAll(async () => {
    await sql?.end();
    await database?.dispose();
    await pooler?.[Symbol.asyncDispose]();
  });

  const readSettings = async () => {
    const [row] = await sql`
      select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
        current_setting('work_mem') as memory, current_setting('search_path') as path,
        '2024-05-06 07:08:09.123456-05'::timestamptz as at`;
    return row;
  };
  const SETTINGS = {
    ...{ statement: "17s", lock: "11s", memory: "7MB", path: "public,pg_catalog" },
    at: "2024-05-06 12:08:09.123456+00",
  };

  test("every session has its settings before its first statement", async () => {
    expect(await Promise.all([readSettings(), readSettings()])).toEqual([SETTINGS, SETTINGS]);
  });

  test("a session that takes the place of a lost one has them too", async () => {
    const others = "from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()";
    await ask(database, `select pg_terminate_backend(pid) ${others}`);
    await sql`select 1`.catch(() => {});
    expect(await readSettings()).toEqual(SETTINGS);
  });

  test("COPY and transactions go through", async () => {
    await sql`create table copied (n int)`;
    await withTransaction(sql, async (tx) => {
      const stream = await tx`copy copied from stdin`.writable();
      stream.end("1\n2\n");
      await once(stream, "finish");
    });
    expect(await sql`select sum(n)::int as sum from copied`).toEqual([{ sum: 3 }]);
  });

  test("a lock is its holder's alone, and free when the holder ends", { tags: ["long"] }, async () => {
    await using own = await createTestDatabase();
    const url = pooler.url(own.url);
    const lock = await acquireRunLock(url);
    await lock.hold();
    await expect(acquireRunLock(url)).rejects.toBeInstanceOf(LockedError);
    await lock.release();
    const takeAgain = async () => (await acquireRunLock(url)).release();
    await expect.poll(takeAgain).toBeUndefined();
  });

  test("migrate, sync, status and doctor work; a killed run leaves no lock", { tags: ["long"] }, async () => {
    await using own = await createTestDatabase({ migrated: false });
    let isHeld = true;
    const steps = new EventEmitter();
    const underWay = once(steps, "arrived");
    await using world = await startQuickWorld({}, (request, next) => {
      if (!isHeld || !request.url.includes("/build/")) return next();
      steps.emit("arrived");
      return new Promise(() => {});
    });
    const { run, start } = createProgram(pooler, own);
    expect(await run("migrate")).toMatchObject({ code: 0, stderr: "" });
    const sync = ["sync", "--base-url", world.simulation.url];
    await using killed = start(...sync);
    await underWay;
    killed.signal("SIGKILL");
    await killed.ended;
    isHeld = false;
    await expect.poll(async () => (await run(...sync)).code).toBe(0);
    const runs = "select status from sync.runs order by id";
    expect(await ask(own, runs)).toEqual([{ status: "interrupted" }, { status: "succeeded" }]);
    expect(await run("status", "--max-age", "1h")).toMatchObject({ code: 0 });
    expect((await run("doctor", "--base-url", world.simulation.url)).stdout).toMatch(/ok .*migrations/);
  });
});

describe.skipIf(PGBOUNCER === null)("over a PgBouncer in transaction mode", () => {
  async function traces(pooler: Pooler, database: TestDatabase) {
    const locks = await ask(database, LOCKS);
    // As another program would ask: without any setting of ours.
    const settings = await withTestSql(pooler.url(database.url), async (sql) => [
      ...(await sql`
        select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
          current_setting('default_transaction_read_only') as "isReadOnly", current_setting('synchronous_commit') as sync`),
    ]);
    return { locks, settings };
  }

  const refused = [...WITH_LOCK, "doctor"];
  test.each(refused)("%s is refused, and leaves neither lock nor setting", {
    tags: ["long"],
  }, async (command) => {
    await using database = await createTestDatabase();
    await using pooler = await startPooler(database.url, { pool_mode: "transaction" });
    const before = await traces(pooler, database);
    const { run } = createProgram(pooler, database);
    const withService = command.startsWith("serve") ? [] : ["--base-url", "http://127.0.0.1:1"];
    const { code, stdout, stderr } = await run(...command.split(" "), ...withService);
    expect({ code, stderr }).toMatchObject({ code: 4 });
    expect(stdout + stderr).toMatch(REASON);
    expect(stdout + stderr).toMatch(/session pooling \(PgBouncer: pool_mode=session\) or a direct/);
    expect(await traces(pooler, database)).toEqual(before);
    expect(await ask(database, "select from sync.runs")).toEqual([]);
  });

  test("a lock is not even tried", async () => {
    await using database = await createTestDatabase();
    await using pooler = await startPooler(database.url, { pool_mode: "transaction" });
    const refusal = { exitCode: 4, message: expect.stringMatching(REASON) };
    await expect(acquireRunLock(pooler.url(database.url))).rejects.toMatchObject(refusal);
    expect((await traces(pooler, database)).locks).toEqual([]);
  });

  test("a schema is migrated all the same, since that is one transaction", async () => {
    await using database = await createTestDatabase({ migrated: false });
    await using pooler = await startPooler(database.url, { pool_mode: "transaction" });
    const url = pooler.url(database.url);
    const results = await Promise.all([migrate(url, readDefinitions()), migrate(url, readDefinitions())]);
    expect(results.map(({ applied }) => applied.length > 0).sort()).toEqual([false, true]);
    expect((await traces(pooler, database)).locks).toEqual([]);
  });

  test("that gives its sessions out in turn, a lock is let go as soon as its session is another's", async () => {
    await using database = await createTestDatabase();
    const settings = { pool_mode: "transaction", server_round_robin: "1", default_pool_size: "3" };
    await using pooler = await startPooler(database.url, settings);
    const url = pooler.url(database.url);
    // With three sessions each look before the lock finds another one free.
    await withSql(url, { ...application, max: 3 }, (sql) =>
      sql.begin(() => sql.begin(() => sql.begin((tx) => tx.unsafe("select 1")))),
    );
    await expect(acquireRunLock(url)).rejects.toThrow(REASON);
    await expect.poll(() => ask(database, LOCKS)).toEqual([]);
  });
});

describe.skipIf(PGBOUNCER === null)("over a PgBouncer in statement mode", () => {
  const others = ["quarantine --retry", "doctor", "migrate", "status", "backup mirror.backup"];
  const all = [...WITH_LOCK, ...others];
  test.each(all)("%s ends with exit code 4 and the reason", { tags: ["long"] }, async (command) => {
    await using database = await createTestDatabase();
    await using pooler = await startPooler(database.url, { pool_mode: "statement" });
    const { run } = createProgram(pooler, database);
    const asksService = /^(sync|watch|worker|quarantine|doctor)/.test(command);
    const service = asksService ? ["--base-url", "http://127.0.0.1:1"] : [];
    const { code, stdout, stderr } = await run(...command.split(" "), ...service);
    expect({ code, stderr }).toMatchObject({ code: 4 });
    expect(stdout + stderr).toMatch(
      /statement mode allows no transactions|not allowed in statement pooling mode/,
    );
    expect(await ask(database, "select from sync.runs")).toEqual([]);
  });
});

test("a direct connection is not asked for a second one", async () => {
  await using database = await createTestDatabase({ migrated: false });
  await withSql(database.url, application, async (sql) => {
    await assertSessionPooling(sql, "postgres://127.0.0.1:1/nobody");
  });
});
