import { expect, test } from "vitest";
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
