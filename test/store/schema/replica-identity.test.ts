import { expect, test } from "vitest";
import { refreshReport } from "../../../src/report/refresh/refresh.ts";
import { connectionsOf } from "../../support/connections.ts";
import { startQuickWorld } from "../../support/quick-world.ts";
import { REPORT_SETTINGS } from "../../support/reported-mirror.ts";
import { TINY } from "../../support/service.ts";
import { useDatabase } from "../../support/use-database.ts";

const { sql } = useDatabase();

test("every table of ours has a replica identity, so that a publication for all tables refuses no write", async () => {
  const without = await sql`
    select relation.oid::regclass::text as name from pg_class as relation
    where relkind in ('r', 'p') and relnamespace::regnamespace::text in ('mirror', 'sync', 'rollup', 'report', 'report_people')
      and case relreplident
        when 'd' then not exists (select from pg_index where indrelid = relation.oid and indisprimary)
        when 'i' then not exists (select from pg_index where indrelid = relation.oid and indisreplident)
        else relreplident = 'n'
      end
    order by 1`;
  expect(without).toEqual([]);
});

test("with a publication for all tables a night is read and reported, and the night after it", {
  tags: ["long"],
}, async () => {
  await using mirror = await startQuickWorld(TINY);
  await mirror.sql`create publication everything for all tables`;
  for (const changed of [30, 0]) {
    const { summary } = await mirror.sync();
    expect(summary.status).toBe("succeeded");
    expect(await refreshReport(connectionsOf(mirror.databaseUrl).sql, REPORT_SETTINGS)).toMatchObject({
      changed,
    });
  }
});
