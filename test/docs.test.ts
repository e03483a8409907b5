import { readFileSync } from "node:fs";
import { getTableColumns, getTableName, is } from "drizzle-orm";
import { getTableConfig, PgTable } from "drizzle-orm/pg-core";
import { describe, expect, test } from "vitest";
import { SETTING_KEYS, SETTINGS } from "../src/config/settings.ts";
import { withSql } from "../src/db/connect.ts";
import { RELATIONS } from "../src/db/report-dictionary.ts";
import * as schema from "../src/db/schema/index.ts";
import { EXIT } from "../src/errors.ts";
import { createTestDatabase } from "./support/database.ts";
import { dictionaryPage } from "./support/dictionary-page.ts";

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
/** Tables of the mirror; what stands in `report`, and what is stored for it, has the data dictionary. */
const tables = Object.values(schema)
  .filter((value) => is(value, PgTable))
  .filter((table) => /^(mirror|sync)$/.test(getTableConfig(table).schema ?? ""));
const BOOKKEEPING = ["extra", "first_seen_at", "changed_at", "deleted_at", "record_hash"];

/** The statements of a text's blocks of SQL. */
const statementsOf = (text: string) =>
  [...text.matchAll(/```sql\n([\s\S]*?)```/g)].flatMap(([, block = ""]) =>
    block.split(/;\s*$/m).filter((statement) => statement.trim() !== ""),
  );

async function runAll(statements: readonly string[]): Promise<void> {
  await using database = await createTestDatabase();
  await withSql(database.url, { applicationName: "docmirror test", max: 1 }, async (sql) => {
    for (const statement of statements) await sql.unsafe(statement);
  });
}

describe("docs/tables.md", () => {
  const text = read("docs/tables.md");

  test("every example of SQL runs on the schema", async () => {
    const statements = statementsOf(text);
    expect(statements).toHaveLength(4);
    await runAll(statements);
  });

  test.each(
    tables.map((table) => [getTableName(table), table] as const),
  )("names every column of %s in its section", (name, table) => {
    const section = text.split(/^### /m).find((part) => part.startsWith(`${name}\n`));
    const named = [...(section ?? "").matchAll(/`([a-z_]+)`/g)].map(([, word]) => word);
    const isMirrored = "record_hash" in getTableColumns(table);
    const columns = Object.values(getTableColumns(table))
      .map((column) => column.name)
      .filter((column) => !(isMirrored && BOOKKEEPING.includes(column)));
    expect(named).toEqual(expect.arrayContaining(columns));
  });

  test("has no section for a table that is not there", () => {
    const sections = [...text.matchAll(/^### (.*)$/gm)].map(([, name]) => name);
    expect(sections.toSorted()).toEqual(tables.map((table) => getTableName(table)).toSorted());
  });
});

describe("docs/builds.md", () => {
  test("every example of SQL runs on the schema", async () => {
    const statements = statementsOf(read("docs/builds.md"));
    expect(statements).toHaveLength(1);
    await runAll(statements);
  });
});

describe("docs/reports.md", () => {
  const text = read("docs/reports.md");

  test("every example of SQL runs on the schema", async () => {
    const statements = statementsOf(text);
    expect(statements).toHaveLength(9);
    await runAll(statements);
  });

  test("names each relation of the dictionary, and no other", () => {
    const [, section = ""] = /## What to ask where\n([\s\S]*?)\n## /.exec(text) ?? [];
    const named = [...section.matchAll(/`([a-z_]+)`/g)].map(([, name = ""]) =>
      name.replace(/^_/, "success_rate_"),
    );
    const known = RELATIONS.filter((relation) => relation !== "data_dictionary");
    expect(new Set(named)).toEqual(new Set([...known, "is_complete"]));
  });
});

describe("docs/data-dictionary.md", () => {
  test("is what the dictionary says; `npm run docs:dictionary` writes it", () => {
    expect(read("docs/data-dictionary.md")).toBe(dictionaryPage());
  });
});

describe("README.md", () => {
  const text = read("README.md");

  test("every example of SQL runs on the schema", async () => {
    const statements = statementsOf(text);
    expect(statements).toHaveLength(6);
    await runAll(statements);
  });

  test("names no setting that does not exist, and gives the right defaults", () => {
    const names = SETTING_KEYS.map((key) => SETTINGS[key].name);
    const named = [...text.matchAll(/`(DOCMIRROR_[A-Z_]+[A-Z])`/g)].map(([, name]) => name);
    expect(names).toEqual(expect.arrayContaining(named));
    for (const key of ["dataDir", "rate", "pageSize", "fullEveryDays"] as const) {
      const { name, default: value } = SETTINGS[key];
      expect(text).toMatch(
        new RegExp(`^\\| \`${name}\` +\\| \`?${value.replaceAll(".", "\\.")}\`? +\\|`, "m"),
      );
    }
  });

  test("explains every exit code", () => {
    const explained = [...text.matchAll(/^\| ([\d, ]+) \|/gm)].flatMap(([, codes = ""]) =>
      codes.split(",").map(Number),
    );
    expect(explained.toSorted()).toEqual(Object.values(EXIT).toSorted());
  });

  test("links only to files that are there", () => {
    const files = [...text.matchAll(/\]\(([^)#:]+)\)/g)].map(([, path = ""]) => path);
    expect(files.length).toBeGreaterThan(3);
    for (const path of files) expect(() => read(path), path).not.toThrow();
  });
});
