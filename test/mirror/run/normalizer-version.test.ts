import { expect, test } from "vitest";
import { RESOURCES } from "../../../src/resources/resources.ts";
import { withSql } from "../../../src/store/connection/connect.ts";
import { changeRows, mirrorRows } from "../../support/mirror-rows.ts";
import { startQuickWorld } from "../../support/quick-world.ts";

/** As an older version of the normalizer left the mirror: its hashes and pages are of that version. */
const age = (url: string) =>
  withSql(url, { applicationName: "docmirror test", max: 1 }, async (sql) => {
    for (const table of RESOURCES.map((resource) => `${resource}s`))
      await sql.unsafe(`update mirror.${table} set record_hash = decode(md5(id), 'hex')`);
    await sql`update sync.pages set normalizer_version = normalizer_version - 1`;
  });
const changedAt = (url: string) =>
  withSql(url, { applicationName: "docmirror test", max: 1 }, async (sql) => [
    ...(await sql`select id, changed_at, changed_run_id from mirror.builds order by id`),
  ]);

test("the first walk after an upgrade of the normalizer reads all anew, once, and finds no change", async () => {
  await using quick = await startQuickWorld({ users: 5, projects: 4, versions: 8, files: 6, builds: 60 });
  await quick.sync({ kind: "full" });
  const { databaseUrl } = quick;
  const before = [await mirrorRows(databaseUrl), await changedAt(databaseUrl)];
  await age(databaseUrl);
  const { summary } = await quick.sync({ kind: "full" });
  expect(summary.resources.build).toMatchObject({ inserted: 0, updated: 0, unchanged: 60 });
  // The hashes are those of this version again.
  expect([await mirrorRows(databaseUrl), await changedAt(databaseUrl)]).toEqual(before);
  expect(await changeRows(databaseUrl)).toEqual([]);
});
