import { describe, expect, it } from "vitest";
import { readDefinitions } from "../../../src/report/definitions.ts";
import { DICTIONARY } from "../../../src/report/dictionary.ts";
import { migrate } from "../../../src/store/migrate/migrate.ts";
import type { RelationEntry } from "../../../src/store/migrate/report-comments.ts";
import { useDatabase } from "../../support/use-database.ts";

type CatalogRow = Record<"relation" | "kind" | "column" | "type", string> &
  Record<"answers" | "means", string | null>;

const database = useDatabase();
const { sql } = database;

/** Schema `report` as the drivers of BI tools read it: relations, columns in their order, types and comments from the catalog. */
const readCatalog = () => sql<CatalogRow[]>`
  select relname as relation, relkind::text as kind, obj_description(class.oid, 'pg_class') as answers, attname as "column",
    format_type(atttypid, atttypmod) as type, col_description(class.oid, attnum) as means
  from pg_class as class
  join pg_attribute as attribute on attrelid = class.oid and attnum > 0 and not attisdropped
  where relnamespace = 'report'::regnamespace and relkind in ('r', 'v', 'm', 'p', 'f')
  order by relname, attnum`;

async function readEntries(): Promise<Record<string, { answers: string | null; columns: object }>> {
  const entries: Record<string, { answers: string | null; columns: Record<string, string | null> }> = {};
  for (const { relation, answers, column, means } of await readCatalog()) {
    entries[relation] ??= { answers, columns: {} };
    entries[relation].columns[column] = means;
  }
  return entries;
}

/** What the dictionary says of itself in the catalog. */
const WORDS = Object.fromEntries(
  Object.entries<RelationEntry>(DICTIONARY).map(([name, { answers, columns }]) => [
    name,
    { answers, columns },
  ]),
);

/** The names of each relation's columns, whose order equality of objects does not look at. */
const columnNames = (entries: Record<string, { columns: object }>) =>
  Object.fromEntries(Object.entries(entries).map(([name, { columns }]) => [name, Object.keys(columns)]));

describe("schema report in the catalog", () => {
  it("has the relations and columns of the dictionary and no others, in its order, with its sentences", async () => {
    const entries = await readEntries();
    expect(entries).toEqual(WORDS);
    expect(columnNames(entries)).toEqual(columnNames(DICTIONARY));
  });

  it("tells itself by data_dictionary", async () => {
    const rows = await sql<{ relation: string; relation_comment: string; names: string[]; told: string[] }[]>`
      select relation, relation_comment, array_agg(column_name order by position) as names, array_agg(description order by position) as told
      from report.data_dictionary group by relation, relation_comment`;
    const told = Object.fromEntries(
      rows.map(({ relation, relation_comment, names, told }) => [
        relation,
        { answers: relation_comment, columns: Object.fromEntries(names.map((name, i) => [name, told[i]])) },
      ]),
    );
    expect(told).toEqual(WORDS);
  });

  it("has only types that every driver understands", async () => {
    const types = new Set((await readCatalog()).map(({ type }) => type));
    expect([...types].toSorted()).toEqual([
      ...["bigint", "boolean", "date", "double precision", "integer", "text"],
      ...["timestamp with time zone", "timestamp(6) with time zone"],
    ]);
  });

  it("has tables with primary keys where tools draw joins from keys, and views elsewhere", async () => {
    const tables = await sql<{ relation: string; key: string[] }[]>`
      select relname as relation, array_agg(attname::text) as key
      from pg_class as class
      left join pg_index on indrelid = class.oid and indisprimary
      left join pg_attribute on attrelid = class.oid and attnum = any (indkey)
      where relnamespace = 'report'::regnamespace and relkind = 'r'
      group by relname order by relname`;
    expect([...tables]).toEqual([
      { relation: "dim_dates", key: ["day"] },
      { relation: "dim_projects", key: ["project_id"] },
      { relation: "dim_versions", key: ["version_id"] },
      { relation: "error_rules", key: ["position"] },
    ]);
    const kinds = new Set((await readCatalog()).map(({ kind }) => kind));
    expect(kinds).toEqual(new Set(["r", "v"]));
  });

  it("is built of nothing that tells of people", async () => {
    const [found] = await sql<{ views: number; people: string[] }[]>`
      with recursive needed (relation) as (
        select oid from pg_class where relnamespace = 'report'::regnamespace
        union
        select refobjid from needed
        join pg_rewrite on ev_class = relation
        join pg_depend on classid = 'pg_rewrite'::regclass and objid = pg_rewrite.oid and refclassid = 'pg_class'::regclass
      )
      select count(*)::int as views,
        coalesce(array_agg(relation::regclass::text) filter (where relation in
          ('mirror.users'::regclass, 'mirror.project_users'::regclass, 'report_people.users'::regclass, 'report_people.project_users'::regclass)
        ), '{}') as people
      from needed`;
    expect(found?.views).toBeGreaterThan(Object.keys(DICTIONARY).length);
    // The number of users is told, by rollup.resources, which is computed elsewhere.
    expect(found?.people).toEqual([]);
    const columns = (await readCatalog()).map(({ column }) => column);
    const people = columns.filter((column) => /username|first_name|last_name|last_login|email/.test(column));
    expect(people).toEqual([]);
  });
});

it("each table, view and column of the schemas mirror and sync says what it means", async () => {
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

describe("migrate", () => {
  it("brings back the comments of a view that was made anew, and words that somebody changed", async () => {
    await sql.unsafe(`
      do $$ declare definition text := pg_get_viewdef('report.open_builds'); begin
        drop view report.open_builds;
        execute 'create view report.open_builds as ' || definition;
      end $$;
      comment on column report.dim_projects.repo is 'something else';
      comment on table report.dim_dates is null;`);
    const { open_builds: open } = await readEntries();
    expect(open?.answers).toBeNull();
    expect(await migrate(database.url, readDefinitions())).toMatchObject({ applied: [], redefined: [] });
    expect(await readEntries()).toEqual(WORDS);
  });
});
