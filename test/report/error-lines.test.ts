/** Which line of its texts says why a build failed, what it is classified as, and what it has in common with others. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withSql } from "../../src/db/connect.ts";
import { refreshReport } from "../../src/report/refresh.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { type InsertedRow, insertRows } from "./insert-rows.ts";
import { findErrorLine } from "./model/error-line.ts";

type Texts = Partial<Record<"output" | "error" | "setup" | "setup_error", string>>;

const MARKED = { error: "error: 1", setup_error: "error: 2", output: "error: 3", setup: "error: 4" };
const LINES: readonly { title: string; texts: Texts; line: string | null }[] = [
  { title: "`error` is read first", texts: MARKED, line: "error: 1" },
  { title: "then `setup_error`", texts: { ...MARKED, error: "" }, line: "error: 2" },
  { title: "then `output`", texts: { output: "error: 3", setup: "error: 4" }, line: "error: 3" },
  { title: "then `setup`", texts: { error: "no marker", setup: "error: 4" }, line: "error: 4" },
  { title: "the last marked line counts", texts: { output: "error: 1\nerror: 2\nmore" }, line: "error: 2" },
  {
    title: "without a marker the last line of the first text that is not blank",
    texts: { error: " \n\t\n", setup_error: "one\ntwo\n\n  \n", output: "three" },
    line: "two",
  },
  ...[
    "ValueError: no",
    "FATAL: no",
    "an exception occurred",
    "Killed",
    "Traceback of all",
    "Out of memory",
    "No space left on device",
  ].map((line) => ({ title: `"${line}" is marked`, texts: { output: `${line}\nand on it went` }, line })),
  { title: "errors alone are no marker", texts: { output: "2 errors\nmake stopped" }, line: "make stopped" },
  {
    title: "colours, controls and ends go",
    texts: { output: "\t\u001b[1;31mfatal: \u001b[0mno\u0007\u0008 \r\nlast\n" },
    line: "fatal: no",
  },
  {
    title: "400 characters at most, whatever they are",
    texts: { error: `error: ${"🙂".repeat(400)}` },
    line: `error: ${"🙂".repeat(393)}`,
  },
  {
    title: "4,000 characters from the end are read",
    texts: { output: `Killed\n${"x".repeat(3993)}` },
    line: "Killed",
  },
  {
    title: "no more than these",
    texts: { output: `Killed\n${"x".repeat(3994)}` },
    line: "x".repeat(400),
  },
  { title: "no text, no line", texts: {}, line: null },
];

/** Lines of one row differ only in what a fingerprint leaves out. */
const ALIKE: readonly (readonly [what: string, ...lines: string[]])[] = [
  ["numbers", "error: 3 of 12 files", "error: 450 of 1 files"],
  ["versions", "error: needs sphinx 1.8.5", "error: needs sphinx 4.0.0"],
  ["paths", "error: no /home/docs/checkouts/pip/conf.py", "error: no /srv/b/c.py"],
  ["hashes", "fatal: bad object 0c4fed7b2af45f", `fatal: bad object ${"de3bcbe1".repeat(5)}`],
  ["dates", "error: 2024-11-03 01:30:00 timed out", "error: 2025-01-09 12:00:59 timed out"],
  ["URLs", "error: https://a.example/b?c=1 refused", "error: http://d.example:81/e/f refused"],
  ["nothing", "error: no such option", "error: no such option"],
];
const CLASSES = [
  { line: "error: the second rule", class: "first" },
  { line: "error: SECOND alone", class: "second" },
  { line: "error: of another kind", class: "unclassified" },
];
const RULES = [
  { position: 20, pattern: "second", class: "second", note: "" },
  { position: 10, pattern: "^error: the .* rule$", class: "first", note: "" },
];

let database: TestDatabase;
const facts = new Map<
  string,
  { output_excerpt: string | null; error_class: string; error_fingerprint: string }
>();

beforeAll(async () => {
  database = await createTestDatabase();
  await withSql(database.url, { applicationName: "docmirror test", max: 1 }, async (sql) => {
    const logs: InsertedRow[] = [
      ...LINES.map(({ title, texts }) => logRow(title, texts)),
      ...ALIKE.flatMap(([, ...lines]) =>
        lines.map((output, index) => logRow(`${index} ${output}`, { output })),
      ),
      ...CLASSES.map(({ line }) => logRow(line, { error: line })),
    ];
    const build = {
      state: "finished",
      success: false,
      first_seen_at: "2025-01-01Z",
      changed_at: "2025-01-01Z",
    };
    await insertRows(
      sql,
      "mirror.builds",
      logs.map(({ build_id }) => ({ id: build_id ?? "", ...build, record_hash: "" })),
    );
    await insertRows(sql, "mirror.build_logs", logs);
    await sql`delete from report.error_rules`;
    await insertRows(sql, "report.error_rules", RULES);
    await refreshReport(database.url, { sourceTimezone: "Etc/UTC", stuckAfterMs: 7_200_000 });
    for (const { build_id, ...fact } of await sql`
      select build_id, output_excerpt, error_class, error_fingerprint from report.fact_builds`)
      facts.set(build_id, fact as never);
  });
});

afterAll(() => database.dispose());

function logRow(build_id: string, texts: Texts): InsertedRow {
  return { build_id, output: null, error: null, setup: null, setup_error: null, ...texts };
}

describe("the error line", () => {
  test.each(LINES)("$title", ({ title, texts, line }) => {
    expect(facts.get(title)?.output_excerpt).toBe(line);
    expect(
      findErrorLine({ id: "", output: null, error: null, setup: null, setup_error: null, ...texts }),
    ).toBe(line);
  });
});

describe("the class", () => {
  test.each(CLASSES)("of '$line' is $class", ({ line, class: expected }) => {
    expect(facts.get(line)?.error_class).toBe(expected);
  });
});

describe("the fingerprint", () => {
  const printOf = (line: string, index: number) => facts.get(`${index} ${line}`)?.error_fingerprint;

  test.each(ALIKE)("is the same where lines differ in %s", (_what, ...lines) => {
    expect(new Set(lines.map(printOf)).size).toBe(1);
    expect(printOf(lines[0] ?? "", 0)).toMatch(/^[0-9a-f]{16}$/);
  });

  test("is another one where they differ in words", () => {
    expect(new Set(ALIKE.map(([, line = ""]) => printOf(line, 0))).size).toBe(ALIKE.length);
  });
});
