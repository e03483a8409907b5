/** What the dimensions make of the texts and objects that a service may send. */
import { beforeAll, describe, expect, test } from "vitest";
import { refreshReport } from "../../src/report/refresh/refresh.ts";
import { REPORT_SETTINGS } from "../support/reported-mirror.ts";
import { useDatabase } from "../support/use-database.ts";
import { insertOneVersion, insertTables } from "./insert-rows.ts";

const RECORD = { first_seen_at: "2024-01-01", changed_at: "2024-01-01", record_hash: "\\x00" };

/** The undocumented field as sent, and the language. */
const LANGUAGES: readonly (readonly [unknown, string | null])[] = [
  ["Python", "Python"],
  [{ code: "py", name: "Python" }, "Python"],
  [{ code: "py" }, "py"],
  [{ code: "py", name: null }, "py"],
  [{ code: "py", name: ["Python"] }, "py"],
  [{ name: { name: "Python" } }, null],
  [["Python"], null],
  [{}, null],
  ["", null],
  [null, null],
  [7, null],
  [true, null],
  ["<script>".repeat(1000), "<script>".repeat(13).slice(0, 100)],
];
const EXTRAS = [
  ...[null, "text", 7, [], {}],
  ...[{ values: null }, { values: ["programming_language"] }, { values: { language: "en" } }],
];

const COMMIT = "0c4fed7a0c4fed7a0c4fed7a0c4fed7a0c4fed7a";
const KINDS: readonly (readonly [string | null, string | null, string | null, string | null])[] = [
  ["latest", "latest", "master", "latest"],
  ["latest", "latest", "refs/tags/latest", "latest"],
  ["stable", "stable", COMMIT, "stable"],
  ["LATEST", "LATEST", "refs/heads/LATEST", "branch"],
  ["develop", "develop", "origin/develop", "branch"],
  ["release-raven", "release/raven", "remotes/origin/release/raven", "branch"],
  ["x", "x", "refs/remotes/origin/x", "branch"],
  ["x", "x", "refs/tags/x", "tag"],
  ["x", "x", "/tags/x/", "tag"],
  ["x", "x", "/branches/x/", "branch"],
  ["v1-0", "v1.0", COMMIT, "tag"],
  ["v1-0", "v1.0", COMMIT.toUpperCase(), "tag"],
  ["v1-0", null, "0c4fed7", "tag"],
  ["v1-0", "v1.0", "a".repeat(64), "tag"],
  ["v1-0", "v1.0", "a".repeat(65), null],
  ["v1-0", "v1.0", "0c4fed", null],
  ["20240101", "20240101", "20240101", null],
  ["trunk", "trunk", "trunk", "branch"],
  ["master", "master", "master", "branch"],
  ["v1-0", "v1.0", "v1.0", null],
  ["x", "x", "origin/", null],
  ["x", "x", "not/origin/x", null],
  ["x", "x", "", null],
  [null, null, null, null],
];

const database = useDatabase();
const { sql } = database;

beforeAll(async () => {
  await insertOneVersion(sql);
  const extras = [...LANGUAGES.map(([sent]) => ({ values: { programming_language: sent } })), ...EXTRAS];
  await insertTables(sql, {
    "mirror.projects": extras.map((_, index) => {
      return { ...RECORD, id: `p${index}`, slug: `p${index}`, source: "list", listed: true };
    }),
    "mirror.versions": KINDS.map(([slug, verbose_name, identifier], index) => {
      return { ...RECORD, id: `v${index}`, slug, verbose_name, identifier, project_id: "1" };
    }),
  });
  for (const [index, extra] of extras.entries())
    await sql`update mirror.projects set extra = ${JSON.stringify(extra)}::text::jsonb where id = ${`p${index}`}`;
  await refreshReport(database.sql, REPORT_SETTINGS);
});

describe("dim_projects", () => {
  test.each([
    ...LANGUAGES.map(([sent, language], index) => ({ sent, language, id: `p${index}` })),
    ...EXTRAS.map((sent, index) => ({ sent, language: null, id: `p${LANGUAGES.length + index}` })),
  ])("finds the language of a repository of $sent", async ({ id, language }) => {
    const [found] =
      await sql`select programming_language as language from report.dim_projects where project_id = ${id}`;
    expect(found).toEqual({ language });
  });
});

describe("dim_versions", () => {
  test.each(
    KINDS.map(([slug, name, identifier, kind], index) => ({ slug, name, identifier, kind, index })),
  )("finds the kind of $slug, $name, at $identifier", async ({ kind, index }) => {
    const [found] = await sql`select kind from report.dim_versions where version_id = ${`v${index}`}`;
    expect(found).toEqual({ kind });
  });
});
