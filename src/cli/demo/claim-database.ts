import { ConfigError, LockedError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { readDefinitions } from "../../report/definitions.ts";
import { connect, withSql } from "../../store/connection/connect.ts";
import { assertSessionPooling } from "../../store/connection/session-pooling.ts";
import type { Sql } from "../../store/connection/sql.ts";
import { withStoreErrors } from "../../store/connection/store-errors.ts";
import type { OpenDatabase } from "../../store/embedded/open-database.ts";
import { readDemoMark, writeDemoMark } from "../../store/ledger/demo-mark.ts";
import { acquireRunLock } from "../../store/ledger/run-lock.ts";
import { prepareDatabase } from "../../store/migrate/prepare.ts";

/** A number that no other program uses on this database. */
const DEMO_LOCK = "5072386416925104713";

/**
 * Makes the database an empty mirror for a demo, and keeps other demos out until `release` is called, once or twice.
 * Drops the content of an earlier demo. Never touches other content: it throws ConfigError then. Throws LockedError
 * while another demo or a sync runs there.
 */
export async function claimDatabase(
  database: OpenDatabase,
  serviceUrl: string,
  { dataDir, log, signal }: { dataDir: string; log: Logger; signal: AbortSignal },
): Promise<{ release(): Promise<void> }> {
  const lock = connect(database.url, { applicationName: "docmirror demo", max: 1 });
  const release = () => lock.end({ timeout: 1 });
  try {
    await withStoreErrors("make room for the demo", async () => {
      await assertSessionPooling(lock, database.url);
      const [taken] = await lock<{ locked: boolean }[]>`select pg_try_advisory_lock(${DEMO_LOCK}) as locked`;
      if (!taken?.locked) {
        throw new LockedError(`another demo is using ${dataDir}`, {
          hint: "end it with Ctrl-C, or give this one another folder: --data-dir .docmirror-demo",
        });
      }
      const runLock = await acquireRunLock(database.url);
      try {
        await empty(database.url, serviceUrl, dataDir, log);
      } finally {
        await runLock.release();
      }
    });
    await prepareDatabase(database, readDefinitions(), log, signal);
  } catch (error) {
    await release();
    throw error;
  }
  return { release };
}

async function empty(url: string, serviceUrl: string, dataDir: string, log: Logger): Promise<void> {
  // An open transaction of another session must not block the demo forever.
  const options = { applicationName: "docmirror demo", max: 1, session: { lock_timeout: "10s" } };
  await withSql(url, options, async (sql) => {
    const earlier = await readDemoMark(sql);
    if (earlier === null && (await hasRows(sql))) {
      throw new ConfigError(
        `${dataDir} holds a mirror that was not made by a demo; the demo does not touch it`,
        {
          hint: "give the demo another folder: `docmirror demo --data-dir .docmirror-demo`",
        },
      );
    }
    // The mark comes first: if this demo fails from here on, the next one may still drop its content.
    await writeDemoMark(sql, serviceUrl);
    if (earlier === null) return;
    log.info({ data_dir: dataDir }, "replacing the mirror of an earlier demo");
    await sql`drop schema if exists report, report_people, rollup, mirror, sync cascade`;
  });
}

async function hasRows(sql: Sql): Promise<boolean> {
  const tables = await sql<{ schema: string; name: string }[]>`
    select schemaname as schema, tablename as name from pg_tables where schemaname in ('mirror', 'sync')`;
  for (const { schema, name } of tables) {
    const [found] = await sql<{ filled: boolean }[]>`
      select exists (select from ${sql(schema)}.${sql(name)}) as filled`;
    if (found?.filled) return true;
  }
  return false;
}
