import { EventEmitter, once } from "node:events";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { readDefinitions } from "../../../src/report/definitions.ts";
import { connect } from "../../../src/store/connection/connect.ts";
import { type Sql, withTransaction } from "../../../src/store/connection/sql.ts";
import { migrate } from "../../../src/store/migrate/migrate.ts";
import { runCli, startCli } from "../../support/cli.ts";
import { createTestDatabase, type TestDatabase, withTestSql } from "../../support/database.ts";
import { PGBOUNCER, type Pooler, startPooler } from "../../support/pgbouncer.ts";
import { startQuickWorld } from "../../support/quick-world.ts";

const application = { applicationName: "docmirror test", max: 1 };

function createProgram(pooler: Pooler, database: TestDatabase) {
  const env = { DATABASE_URL: pooler.url(database.url), DOCMIRROR_RATE: "0" };
  return {
    run: (...args: string[]) => runCli(args, { env }),
    start: (...args: string[]) => startCli(args, { env }),
  };
}

const ask = (database: TestDatabase, statement: string) =>
  withTestSql(database.url, async (sql) => [...(await sql.unsafe(statement))]);

describe.skipIf(PGBOUNCER === null).each(["session", "transaction"])(
  "over a PgBouncer in %s mode",
  (pool_mode) => {
    let pooler: Pooler;
    let database: TestDatabase;
    let sql: Sql;
    beforeAll(async () => {
      pooler = await startPooler(inject("databaseServer").adminUrl, { pool_mode });
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

    const readSettings = () =>
      sql.begin(async (tx) => {
        await tx`set transaction isolation level repeatable read`;
        const [row] = await tx`
        select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
          current_setting('work_mem') as memory, current_setting('search_path') as path,
          '2024-05-06 07:08:09.123456-05'::timestamptz as at`;
        return { ...row, path: String(row?.path).replaceAll('"', "").replaceAll(", ", ",") };
      });
    const SETTINGS = {
      statement: "17s",
      lock: "11s",
      memory: "7MB",
      path: "public,pg_catalog",
      at: "2024-05-06 12:08:09.123456+00",
    };

    test("each transaction has its settings before its first statement", async () => {
      expect(await Promise.all([readSettings(), readSettings()])).toEqual([SETTINGS, SETTINGS]);
    });

    test("each statement reads times as we do, and leaves nothing that another client would meet", async () => {
      const texts = await Promise.all(
        [1, 2, 3, 4].map(() => sql`select '2024-05-06 07:08:09-05'::timestamptz as at, pg_sleep(0.05)::text`),
      );
      for (const [row] of texts) expect(row?.at).toBe("2024-05-06 12:08:09+00");
      // As another program would ask: without any setting of ours.
      const other = await withTestSql(
        pooler.url(database.url),
        (own) => own`
      select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
        current_setting('default_transaction_read_only') as "isReadOnly", (select count(*) from pg_prepared_statements) as prepared`,
      );
      expect([...other]).toEqual([{ statement: "0", lock: "0", isReadOnly: "off", prepared: 0 }]);
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

    test("a schema is migrated by one of two at once", { tags: ["long"] }, async () => {
      await using own = await createTestDatabase({ migrated: false });
      const url = pooler.url(own.url);
      const results = await Promise.all([migrate(url, readDefinitions()), migrate(url, readDefinitions())]);
      expect(results.map(({ applied }) => applied.length > 0).sort()).toEqual([false, true]);
    });

    test("migrate, sync, status and doctor work; a killed run is over half a minute later", {
      tags: ["long"],
    }, async () => {
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
      expect(await run(...sync)).toMatchObject({ code: 10 });
      const later = { interval: 2000, timeout: 240_000 };
      await expect.poll(() => run(...sync), later).toMatchObject({ code: 0 });
      const runs = "select status from sync.runs order by id";
      expect(await ask(own, runs)).toEqual([{ status: "interrupted" }, { status: "succeeded" }]);
      expect(await run("status", "--max-age", "1h")).toMatchObject({ code: 0 });
      expect((await run("doctor", "--base-url", world.simulation.url)).stdout).toMatch(/ok .*migrations/);
    });
  },
);

describe.skipIf(PGBOUNCER === null)("over a PgBouncer in statement mode", () => {
  const commands = [
    "sync",
    "watch --once",
    "worker",
    "quarantine --retry",
    "doctor",
    "migrate",
    "status",
    "backup mirror.backup",
  ];
  test.each(commands)("%s ends with exit code 4 and the reason", { tags: ["long"] }, async (command) => {
    await using database = await createTestDatabase();
    await using pooler = await startPooler(database.url, { pool_mode: "statement" });
    const { run } = createProgram(pooler, database);
    const asksService = /^(sync|watch|worker|quarantine|doctor)/.test(command);
    const service = asksService ? ["--base-url", "http://127.0.0.1:1"] : [];
    const { code, stdout, stderr } = await run(...command.split(" "), ...service);
    expect({ code, stderr }).toMatchObject({ code: 4 });
    expect(stdout + stderr).toContain("a pooler in statement mode allows no transactions");
    expect(await ask(database, "select from sync.runs")).toEqual([]);
  });
});
