import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, expect, it } from "vitest";
import { statement, withTransaction } from "../../../src/store/connection/sql.ts";
import { emptyDatabase, useDatabase } from "../../support/use-database.ts";

const { sql } = useDatabase(() => emptyDatabase(1), "file");

const folder = mkdtempSync(join(tmpdir(), "docmirror-statements-"));
mkdirSync(join(folder, "sql/numbers"), { recursive: true });
afterAll(() => rmSync(folder, { recursive: true }));
const code = pathToFileURL(join(folder, "code.ts")).href;
const write = (name: string, text: string) => writeFileSync(join(folder, `sql/${name}.sql`), text);

it("takes a value that has several places once, and no format for a name", async () => {
  write(
    "twice",
    "select :one::int + :two::int + :one::int as sum, to_char(timestamp '2026-05-01 03:04', 'HH24:MI') as at",
  );
  expect(await statement("twice", code)(sql, { one: 1, two: 40 })).toEqual([{ sum: 42, at: "03:04" }]);
});

it("holds the files that it names, of its own folder", async () => {
  write("numbers/even", "-- Below :most.\nselect n from (numbers.sql) as numbers (n) where n % 2 = 0");
  write("numbers/numbers", "select * from generate_series(1, :most::int)");
  write("numbers/sum", "with even as (even.sql)\nselect sum(n)::int as sum from even where n in (even.sql)");
  expect(await statement("numbers/sum", code)(sql, { most: 7 })).toEqual([{ sum: 12 }]);
});

it("says another word in the place of one", async () => {
  write("word", "select count(*)::int as tables from THINGS where relname = :name");
  const count = statement("word", code, { words: { THINGS: "pg_class" } });
  expect(await count(sql, { name: "pg_type" })).toEqual([{ tables: 1 }]);
});

it("leaves its plan to the session, unless it is planned for each call", async () => {
  write("kept", "select 'kept' as plan");
  write("anew", "select 'anew' as plan");
  const kept = await withTransaction(sql, async (tx) => {
    await statement("kept", code)(tx);
    await statement("anew", code, { isPlannedEachTime: true })(tx);
    return tx`select statement from pg_prepared_statements where statement like 'select ''%'`;
  });
  expect([...kept]).toEqual([{ statement: "select 'kept' as plan" }]);
});
