import { expect, test } from "vitest";
import { RESOURCES } from "../../../src/resources/resources.ts";
import { changeRows, mirrorRows } from "../../support/mirror-rows.ts";
import { startQuickWorld } from "../../support/quick-world.ts";

test("the first walk after an upgrade of the normalizer reads all anew, once, and finds no change", async () => {
  await using quick = await startQuickWorld({ users: 5, projects: 4, versions: 8, files: 6, builds: 60 });
  await quick.sync({ kind: "full" });
  const { databaseUrl, sql } = quick;
  const rows = async () => [
    await mirrorRows(databaseUrl),
    await sql`select id, changed_at, changed_run_id from mirror.builds order by id`,
  ];
  const before = await rows();
  // As an older version of the normalizer left the mirror: its hashes and pages are of that version.
  for (const resource of RESOURCES)
    await sql.unsafe(`update mirror.${resource}s set record_hash = decode(md5(id), 'hex')`);
  await sql`update sync.pages set normalizer_version = normalizer_version - 1`;
  const { summary } = await quick.sync({ kind: "full" });
  expect(summary.resources.build).toMatchObject({ inserted: 0, updated: 0, unchanged: 60 });
  // The hashes are those of this version again.
  expect(await rows()).toEqual(before);
  expect(await changeRows(databaseUrl)).toEqual([]);
});
