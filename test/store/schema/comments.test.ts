import { expect, test } from "vitest";
import { useDatabase } from "../../support/use-database.ts";

const { sql } = useDatabase();

test("each table, view and column of the schemas mirror and sync says what it means", async () => {
  const [{ silent, known }] = await sql<[{ silent: string[]; known: number }]>`
    select array_agg(concat_ws('.', class.oid::regclass, attname)) filter (where means is null or means !~ '^\\S.*\\.$') as silent,
      count(*) as known
    from pg_class as class
    cross join lateral (
      select null as attname, obj_description(class.oid, 'pg_class') as means
      union all
      select attname, col_description(class.oid, attnum) from pg_attribute where attrelid = class.oid and attnum > 0 and not attisdropped
    ) as part
    where relnamespace in ('mirror'::regnamespace, 'sync'::regnamespace) and relkind in ('r', 'p', 'v', 'm')`;
  // A new one has its sentence in the migration that makes it: comment on column … is '….'.
  expect(silent).toBeNull();
  expect(known).toBeGreaterThan(350);
});
