/**
 * `npm run bench:bytes`: how many bytes a build takes in Postgres, by table with its indexes, and in the files of an export; and how long an export
 * takes: a full one, and an incremental one after nothing or one build changed. docs/scale.md has the figures. Options: `--builds 200000`.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { silentLog } from "../../src/base/log.ts";
import { readDefinitions } from "../../src/report/definitions.ts";
import { exportReport } from "../../src/report/export/export-report.ts";
import { refreshReport } from "../../src/report/refresh/refresh.ts";
import { withSql } from "../../src/store/connection/connect.ts";
import { openEmbedded } from "../../src/store/embedded/open-embedded.ts";
import { migrate } from "../../src/store/migrate/migrate.ts";
import { fillMirror } from "./report-world.ts";

const { values } = parseArgs({ options: { builds: { type: "string", default: "200000" } } });
const builds = Number(values.builds);
const folder = await mkdtemp(join(tmpdir(), "docmirror-bench-bytes-"));
const server = await openEmbedded({ dataDir: join(folder, "postgres"), log: silentLog });
try {
  await migrate(server.url, readDefinitions());
  await withSql(server.url, { applicationName: "docmirror bench", max: 1 }, async (sql) => {
    await fillMirror(sql, builds);
    await refreshReport(sql, { sourceTimezone: "Etc/UTC", stuckAfterMs: 7_200_000 });
    const rows = await sql<{ name: string; bytes: number }[]>`
      select nspname || '.' || relname as name, pg_total_relation_size(pg_class.oid)::float8 as bytes
      from pg_class join pg_namespace as space on space.oid = relnamespace
      where relkind = 'r' and nspname in ('mirror', 'sync', 'rollup', 'report')
      order by 2 desc`;
    const print = (what: string, bytes: number) =>
      process.stdout.write(`${what.padEnd(40)} ${(bytes / builds).toFixed(0).padStart(6)} bytes a build\n`);
    for (const { name, bytes } of rows.filter(({ bytes }) => bytes >= builds)) print(name, bytes);
    print(
      "all tables",
      rows.reduce((sum, { bytes }) => sum + bytes, 0),
    );
    const write = async (what: string, incremental: boolean) => {
      const from = performance.now();
      const { relations } = await exportReport({
        sql,
        folder: join(folder, "export"),
        format: "parquet",
        incremental,
        signal: new AbortController().signal,
      });
      const { files = [], kept = 0 } = relations.fact_builds ?? {};
      const seconds = ((performance.now() - from) / 1000).toFixed(1);
      process.stdout.write(`${what}: ${files.length - kept} of ${files.length} months in ${seconds} s\n`);
      return files;
    };
    const files = await write("a full export", false);
    await write("an incremental one after nothing", true);
    await sql`update mirror.builds set success = not success, record_hash = record_hash || '\\x01' where id = '100'`;
    await refreshReport(sql, { sourceTimezone: "Etc/UTC", stuckAfterMs: 7_200_000 });
    await write("an incremental one after a build", true);
    print(
      "fact_builds as Parquet",
      files.reduce((sum, { bytes }) => sum + bytes, 0),
    );
  });
} finally {
  await server.close();
  await rm(folder, { recursive: true, force: true });
}
