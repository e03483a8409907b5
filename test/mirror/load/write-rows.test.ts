import { boolean, integer, jsonb, pgTable, text } from "drizzle-orm/pg-core";
import { describe, expect, test } from "vitest";
import { type CellType, specOf, type TableRow } from "../../../src/mirror/load/tables.ts";
import { addRows, encodeCopy } from "../../../src/mirror/load/write-rows.ts";
import { bytea, localTimestamp, moment } from "../../../src/store/schema/columns.ts";
import { createTestDatabase } from "../../support/database.ts";
import { useDatabase } from "../../support/use-database.ts";

const { sql } = useDatabase(() => createTestDatabase({ migrated: false }));

const cells: [CellType, unknown, unknown?][] = [
  ["text", ""],
  ["text", "plain"],
  ["text", "ß → \u{1F600} \\N \\. \t\r\n'\""],
  ["text", "x".repeat(200_000)],
  ["text", "\u{10FFFF}".repeat(70_000)],
  ["boolean", true],
  ["boolean", false],
  ["integer", 0],
  ["integer", -2_147_483_648],
  ["integer", 2_147_483_647],
  ["timestamp", "2024-05-15T12:00:00.123456", "2024-05-15 12:00:00.123456"],
  ["timestamp", "2000-01-01T00:00:00", "2000-01-01 00:00:00"],
  ["timestamp", "1999-12-31T23:59:59.999999", "1999-12-31 23:59:59.999999"],
  ["timestamp", "0001-01-01T00:00:00", "0001-01-01 00:00:00"],
  ["timestamp", "9999-12-31T23:59:59.999999", "9999-12-31 23:59:59.999999"],
  ["timestamptz", "2024-05-15T12:00:00.123Z", "2024-05-15 12:00:00.123+00"],
  ["timestamptz", "1970-01-01T00:00:00.000Z", "1970-01-01 00:00:00+00"],
  ["jsonb", { values: { a: null, "ü\u{1F600}": [1, -2.5e300, "", {}] } }],
  ["jsonb", []],
  ["jsonb", ""],
  ["jsonb", false],
  ["bytea", "", Buffer.alloc(0)],
  ["bytea", "00ff10", Buffer.from([0, 255, 16])],
];

describe("a binary COPY", () => {
  test.each(["copy", "insert"] as const)("brings back every kind of cell, and nulls (%s)", async (method) => {
    const name = `cells_${method}`;
    const plain = { place: integer(), a_text: text(), a_boolean: boolean(), a_integer: integer() };
    const times = { a_timestamp: localTimestamp(), a_timestamptz: moment() };
    const table = specOf(pgTable(name, { ...plain, ...times, a_jsonb: jsonb(), a_bytea: bytea() }));
    const { columns } = table;
    await sql.unsafe(`create table ${name} (${columns.map(({ name, type }) => `${name} ${type}`).join()})`);
    const given = method === "copy" ? cells : cells.filter(([type]) => type !== "bytea");
    const rows: TableRow[] = given.map(([type, value], place) => ({ place, [`a_${type}`]: value }));
    const empty = Object.fromEntries(columns.map(({ name }) => [name, null]));
    const all = [...rows, { place: rows.length }, empty];
    const written = method === "copy" ? all : rows.map((row) => ({ a_bytea: "00", ...row }));
    await sql.begin(async (tx) => {
      await addRows(tx, table, written, method);
      await tx`select 1`;
    });
    const stored = await sql.unsafe(`select * from ${name} order by place`);
    expect(stored).toHaveLength(written.length);
    for (const [place, [type, value, read = value]] of given.entries()) {
      const filled = Object.entries(stored[place] ?? {}).filter(([, cell]) => cell !== null);
      const bytes = method === "insert" && { a_bytea: Buffer.from([0]) };
      expect(Object.fromEntries(filled)).toEqual({ place, ...bytes, [`a_${type}`]: read });
    }
  });

  test("of no rows and of many rows is whole", async () => {
    const table = specOf(pgTable("many", { n: integer() }));
    await sql`create table many (n integer)`;
    const many = Array.from({ length: 50_000 }, (_, n) => ({ n }));
    await sql.begin(async (tx) => {
      await addRows(tx, table, [], "copy");
      await addRows(tx, table, many, "copy");
    });
    const [stored] = await sql`select count(*) as count, sum(n) as sum from many`;
    expect(stored).toEqual({ count: 50_000, sum: 1_249_975_000 });
  });

  test("that fails fails its transaction, and the connection lives on", async () => {
    const table = specOf(pgTable("keyed", { n: integer() }));
    await sql`create table keyed (n integer primary key)`;
    const failed = sql.begin(async (tx) => {
      await addRows(tx, table, [{ n: 1 }, { n: 1 }], "copy");
      await addRows(tx, table, [{ n: 2 }], "copy");
      await tx`select 1`;
    });
    await expect(failed).rejects.toMatchObject({ code: expect.stringMatching(/^(23505|25P02)$/) });
    expect(await sql`select count(*) as count from keyed`).toEqual([{ count: 0 }]);
  });

  test("of a row that cannot be encoded leaves no COPY open behind it", async () => {
    const table = specOf(pgTable("dated", { at: localTimestamp() }));
    await sql`create table dated (at timestamp)`;
    const failed = sql.begin((tx) => addRows(tx, table, [{ at: "yesterday" }], "copy"));
    await expect(failed).rejects.toThrow("not a local time: yesterday");
    expect(await sql`select count(*) as count from dated`).toEqual([{ count: 0 }]);
  });

  test("writes its signature and its end around nothing", () => {
    const written = Buffer.concat([...encodeCopy([], [])]).toString("latin1");
    expect(written).toBe("PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\xff\xff");
  });
});
