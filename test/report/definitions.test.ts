import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { orderDefinitions, readDefinitions } from "../../src/report/definitions.ts";
import { RESOURCES } from "../../src/resources/resources.ts";
import { readMigrations } from "../../src/store/migrate/migration-ledger.ts";
import { createTestDatabase } from "../support/database.ts";

const FOLDER = fileURLToPath(new URL("../../src/report/", import.meta.url));
const CREATES = /^create or replace (?:view|function) (\w+)\.(\w+)/gim;
const { inOrder } = readDefinitions();
const names = inOrder.map(({ name }) => name);
/** Views of one text, in which KEY stands for the end of each name. */
const OF_KEYS = names.filter((name) => name.startsWith("rollup.errors_by_"));
/** The views whose text is made from the declared resources. */
const OF_RESOURCES = ["rollup.resource_names", "rollup.resources_source"];

async function ask<T extends object>(query: string): Promise<T[]> {
  await using database = await createTestDatabase();
  return [...(await database.sql.unsafe<T[]>(query))];
}

describe("the files of src/report/sql", () => {
  it("create one view each, or the functions of one name, which is the file's", () => {
    const all = readdirSync(FOLDER, { recursive: true, encoding: "utf8" });
    // Those in a folder `sql` are statements.
    const files = all.filter((path) => path.endsWith(".sql") && !/(?:^|\/)sql\//.test(path));
    for (const file of files) {
      const created = [...readFileSync(`${FOLDER}${file}`, "utf8").matchAll(CREATES)].map(
        ([, , name]) => name,
      );
      expect([...new Set(created)]).toEqual([basename(file, ".sql")]);
    }
    expect(OF_KEYS).toHaveLength(3);
    expect(names.filter((name) => ![...OF_RESOURCES, ...OF_KEYS].includes(name))).toHaveLength(
      files.length - 1,
    );
  });

  it("are all views and functions of the schemas", async () => {
    const rows = await ask<{ name: string }>(`
      select nspname || '.' || relname as name from pg_class join pg_namespace as space on space.oid = relnamespace
      where relkind in ('v', 'm') and nspname in ('report', 'report_people', 'rollup')
      union
      select nspname || '.' || proname from pg_proc join pg_namespace as space on space.oid = pronamespace
      where nspname in ('report', 'report_people', 'rollup')`);
    expect(rows.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
  });

  // Postgres replaces no view with one of other types, and makes none anew that a view of the user's own needs.
  it("give the moments of streaks the type that they always had", async () => {
    const rows = await ask<{ type: string }>(`
      select distinct format_type(atttypid, atttypmod) as type from pg_attribute
      where attrelid = 'rollup.streaks_source'::regclass and atttypid = 'timestamptz'::regtype`);
    expect(rows).toEqual([{ type: "timestamp(6) with time zone" }]);
  });

  it("come in an order in which each finds what the database says that it builds on", async () => {
    const rows = await ask<{ name: string; needs: string }>(`
      with ours as (
        select class.oid, nspname || '.' || relname as name from pg_class as class join pg_namespace as space on space.oid = relnamespace
        union all
        select routine.oid, nspname || '.' || proname from pg_proc as routine join pg_namespace as space on space.oid = pronamespace
      )
      select distinct dependent.name, needed.name as needs
      from pg_depend
      join pg_rewrite on classid = 'pg_rewrite'::regclass and objid = pg_rewrite.oid
      join ours as dependent on dependent.oid = ev_class
      join ours as needed on needed.oid = refobjid and needed.oid <> dependent.oid`);
    const known = rows.filter(({ name, needs }) => names.includes(name) && names.includes(needs));
    expect(known.length).toBeGreaterThan(20);
    expect(known.filter(({ name, needs }) => names.indexOf(needs) > names.indexOf(name))).toEqual([]);
  });

  it("are where views and functions change: no migration makes one", () => {
    const creating =
      /create (or replace )?(view|materialized view|function) "?(report|report_people|rollup)\b/i;
    expect(readMigrations().filter(({ statements }) => creating.test(statements.join("\n")))).toEqual([]);
  });
});

describe.each(OF_RESOURCES)("%s", (view) => {
  it("has a row for each declared resource", async () => {
    const rows = await ask<{ resource: string }>(`select resource from ${view}`);
    expect(rows.map(({ resource }) => resource).toSorted()).toEqual(RESOURCES.toSorted());
  });
});

describe("orderDefinitions", () => {
  const view = (name: string, text = "select 1 as one") =>
    `create or replace view rollup.${name} as ${text};\n`;
  const hashesOf = (...texts: string[]) =>
    Object.fromEntries(orderDefinitions(texts).map(({ name, hash }) => [name.replace("rollup.", ""), hash]));

  it("puts each after those that its text names, and not after those that a comment names", () => {
    const texts = [
      view("a", "select * from rollup.c"),
      view("b", "select 2 as two -- as rollup.a has it"),
      view("c", "select * from rollup.b"),
    ];
    expect(orderDefinitions(texts).map(({ name }) => name)).toEqual(["rollup.b", "rollup.c", "rollup.a"]);
  });

  it("gives another hash to what changed and to all that builds on it", () => {
    const before = hashesOf(view("a"), view("b", "select * from rollup.a"), view("c"));
    const after = hashesOf(view("a", "select 3 as one"), view("b", "select * from rollup.a"), view("c"));
    expect(after.a).not.toBe(before.a);
    expect(after.b).not.toBe(before.b);
    expect(after.c).toBe(before.c);
  });

  it("refuses texts that name each other, and one that creates nothing", () => {
    const circle = [view("a", "select * from rollup.b"), view("b", "select * from rollup.a")];
    expect(() => hashesOf(...circle)).toThrow("rollup.a → rollup.b → rollup.a is a circle");
    expect(() => hashesOf("drop view rollup.a")).toThrow("no view or function is created by: drop view");
  });
});
