import { existsSync, readdirSync, readFileSync } from "node:fs";
import { getTableColumns, getTableName, is } from "drizzle-orm";
import { getTableConfig, PgTable } from "drizzle-orm/pg-core";
import { describe, expect, test } from "vitest";
import { systemClock } from "../src/base/clock.ts";
import { SETTING_KEYS, SETTINGS } from "../src/base/config/settings.ts";
import { silentLog } from "../src/base/log.ts";
import { createPages } from "../src/page/pages.ts";
import { readDefinitions } from "../src/report/definitions.ts";
import { withSnapshot } from "../src/report/read-answer.ts";
import { becomeReader, readStatement } from "../src/report/read-statement.ts";
import { DECLARATIONS, RESOURCES } from "../src/resources/resources.ts";
import type { BoundedReader } from "../src/serve/http/served-mirror.ts";
import { createProbes, createStatusReply } from "../src/serve/http/supervision.ts";
import type { MirrorReader } from "../src/store/connection/sql.ts";
import * as schema from "../src/store/schema/index.ts";
import { cliPage } from "../tools/cli-page.ts";
import { completionScript, SHELLS } from "../tools/completion-scripts.ts";
import { contractPage, HEALTH_PATHS, PATHS, STATUS } from "../tools/contract-page.ts";
import { cookbookPage, DEMO_STARTS } from "../tools/cookbook-page.ts";
import { QUESTIONS } from "../tools/cookbook-questions.ts";
import { dictionaryPage, questionsTable } from "../tools/dictionary-page.ts";
import { metricsPage } from "../tools/metrics-page.ts";
import { openApi } from "../tools/openapi.ts";
import { settingsPage } from "../tools/settings-page.ts";
import { withPicture } from "../tools/tables-picture.ts";
import { createTestDatabase } from "./support/database.ts";
import { fillDemoMirror } from "./support/demo-mirror.ts";
import { createReader } from "./support/roles.ts";

const ROOT = new URL("../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, ROOT), "utf8");
const filesOf = (folder: string, ending: RegExp) =>
  readdirSync(new URL(folder, ROOT), { recursive: true, encoding: "utf8" })
    .filter((name) => ending.test(name))
    .map((name) => folder + name);
/** Tables of the mirror; what stands in `report`, and what is stored for it, has the data dictionary. */
const tables = Object.values(schema)
  .filter((value) => is(value, PgTable))
  .filter((table) => /^(mirror|sync)$/.test(getTableConfig(table).schema ?? ""));
const BOOKKEEPING = [
  ...["extra", "first_seen_at", "changed_at", "deleted_at", "record_hash"],
  ...["first_seen_run_id", "changed_run_id"],
];

describe("docs/tables.md", () => {
  const text = read("docs/tables.md");
  const others = read("docs/internals/tables.md");
  const sections = [text, others].flatMap((page) => page.split(/^##+ /m));

  const cases = tables.map((table) => [getTableName(table), table] as const);
  test.each(cases)("names every column of %s in its section", (name, table) => {
    const section = sections.find((part) => part.startsWith(`${name}\n`));
    const named = [...(section ?? "").matchAll(/`([a-z0-9_]+)`/g)].map(([, word]) => word);
    const isMirrored = "record_hash" in getTableColumns(table);
    const columns = Object.values(getTableColumns(table))
      .map((column) => column.name)
      .filter((column) => !(isMirrored && BOOKKEEPING.includes(column)));
    expect(named).toEqual(expect.arrayContaining(columns));
  });

  test("has a picture of the tables and their keys; `npm run docs:tables` draws it", () => {
    expect(text).toBe(withPicture(text));
  });

  test("has no section for a table that is not there", () => {
    const named = [...text.matchAll(/^### (.*)$/gm), ...others.matchAll(/^## (.*)$/gm)];
    // Who applies migrations makes the first one.
    const names = ["migrations", ...tables.map((table) => getTableName(table))];
    expect(named.map(([, name]) => name).toSorted()).toEqual(names.toSorted());
  });
});

const WITH_SQL = ["builds", "content", "reports", "tables"];
test.each(WITH_SQL)("every example of SQL in docs/%s.md runs", async (page) => {
  const statements = [...read(`docs/${page}.md`).matchAll(/```sql\n([\s\S]*?)```/g)].flatMap(
    ([, block = ""]) => block.split(/;\s*$/m).filter((statement) => statement.trim() !== ""),
  );
  expect(statements).not.toEqual([]);
  await using database = await createTestDatabase();
  for (const statement of statements) await database.sql.unsafe(statement);
  // Nobody knows what came since the last look: a span that ends now grows calmer by itself.
  expect(statements.filter((statement) => /\bnow\(\)|current_(date|timestamp)/i.test(statement))).toEqual([]);
});

test("docs/reports.md has the question of each relation; `npm run docs:dictionary` writes them", () => {
  expect(read("docs/reports.md")).toContain(`\n${questionsTable()}`);
});

/** Written from sentences of the code, which has tests of its own. */
const GENERATED = [
  ["docs/data-dictionary.md", "dictionary", dictionaryPage],
  ["docs/cli.md", "cli", cliPage],
  ["docs/settings.md", "settings", settingsPage],
  ["docs/contract.md", "contract", contractPage],
  ["docs/metrics.md", "contract", metricsPage],
  ["src/serve/http/description/openapi.json", "openapi", openApi],
  ...SHELLS.map(
    (shell) => [`src/cli/completion/docmirror.${shell}`, "cli", () => completionScript(shell)] as const,
  ),
] as const;

test.each(GENERATED)("%s is what the code says; `npm run docs:%s` writes it", async (page, _, write) => {
  expect(read(page)).toBe(await write());
});

describe("docs/contract.md", () => {
  const answered = ({ routes }: { routes: readonly { method: string; path: string }[] }) =>
    routes.filter(({ method }) => method === "GET").map(({ path }) => path);

  test("names each path that the report page answers", () => {
    const mirror = {} as MirrorReader;
    const pages = createPages({
      mirror,
      sourceTimezone: "Etc/UTC",
      staleAfterMs: 108_000_000,
      clock: systemClock,
      log: silentLog,
    });
    const rooms = (paths: readonly string[]) => new Set(paths.map((path) => path.split(/[/?]/)[1]));
    expect(rooms([...Object.keys(PATHS), "/assets/"])).toEqual(rooms(answered(pages)));
  });

  test("names each path for supervisors and monitors", () => {
    const reader = {} as BoundedReader;
    const apps = [
      createProbes(reader, readDefinitions(), silentLog),
      createStatusReply(reader, async () => STATUS, systemClock, silentLog),
    ];
    expect(Object.keys(HEALTH_PATHS)).toEqual(apps.flatMap(answered));
  });
});

test.each(RESOURCES)("docs/interface.md names every field of a %s in its section", (resource) => {
  const section = read("docs/interface.md")
    .split(/^#+ /m)
    .find((part) => part.toLowerCase().startsWith(`${resource}\n`));
  const named = [...(section ?? "").matchAll(/`([a-z0-9_]+)`/g)].map(([, word]) => word);
  const fields = Object.keys(DECLARATIONS[resource].fields).filter((field) => field !== "resource_uri");
  expect(named).toEqual(expect.arrayContaining(fields));
});

/** Every page that a person reads: the README and all of docs/. */
const PAGES = ["README.md", ...filesOf("docs/", /\.md$/)];
const { scripts } = JSON.parse(read("package.json"));
const headingsOf = (text: string) => [...text.matchAll(/^#+ (.*)$/gm)].map(([, words = ""]) => words);
const withoutCode = (text: string) => text.replace(/^```[\s\S]*?^```$/gm, "");

describe.each(PAGES)("%s", (page) => {
  const text = withoutCode(read(page));

  test("links only to files and headings that are there", () => {
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)];
    for (const [, path = "", anchor] of links) {
      const target = new URL(path, new URL(page, ROOT));
      const there = withoutCode(readFileSync(target, "utf8"));
      const plain = headingsOf(there).map((words) => words.toLowerCase().replaceAll(/[^\w -]/g, ""));
      const headings = plain.map((words) => words.replaceAll(" ", "-"));
      if (anchor !== undefined) expect(headings, `${path}#${anchor}`).toContain(anchor);
    }
  });

  test("names only files and folders that are there", () => {
    const paths = /`((?:src|test|docs|migrations|deploy|lab|tools|\.ci)\/[\w./-]*)`/g;
    for (const [, path = ""] of text.matchAll(paths))
      expect(existsSync(new URL(path, ROOT)), path).toBe(true);
  });

  test("names only scripts of npm that are there", () => {
    for (const [, script = ""] of text.matchAll(/`npm run (?:-s )?([a-z:]+)/g))
      expect(scripts).toHaveProperty([script]);
  });

  test("names no setting that does not exist", () => {
    const names = SETTING_KEYS.map((key) => SETTINGS[key].name);
    const named = [...text.matchAll(/`(DOCMIRROR_[A-Z_]+[A-Z])`/g)].map(([, name]) => name);
    expect(names).toEqual(expect.arrayContaining(named));
  });

  test.skipIf(GENERATED.some(([name]) => name === page))("is in plain English", () => {
    const odd = /\b(lest|whoever|dear|told|heeds?|mend(s|ed|ing)?|restless|currency)\b|for deleted/gi;
    expect(text.match(odd) ?? []).toEqual([]);
    expect(text.match(/(^|[.!?:] |- |\*\* )(Of |What [^?|.]*?,)/gm) ?? []).toEqual([]);
  });
});

test("comments cite only pages and headings that are there", () => {
  const files = ["src/", "test/", "lab/", "tools/"].flatMap((folder) => filesOf(folder, /\.ts$/));
  const cited = files.flatMap((file) => {
    const text = read(file).replace(/\n\s*(\*|\/\/) /g, " ");
    return [...text.matchAll(/`docs\/([\w/-]+\.md)`(?:, "([^"]+)")?/g)].map(([, page = "", heading]) => ({
      file,
      page: `docs/${page}`,
      heading,
    }));
  });
  expect(cited.length).toBeGreaterThan(20);
  for (const { file, page, heading } of cited) {
    expect(PAGES, file).toContain(page);
    if (heading !== undefined) expect(headingsOf(read(page)), file).toContain(heading);
  }
});

describe("docs/README.md", () => {
  const text = read("docs/README.md");

  test("lists every page once", () => {
    const listed = [...text.matchAll(/^\| \[([^\]]+)\]/gm)].map(([, name]) => `docs/${name}`);
    const pages = PAGES.filter((page) => page !== "README.md" && page !== "docs/README.md");
    expect(listed.toSorted()).toEqual(pages.toSorted());
  });

  test("has a glossary of 25 terms at most", () => {
    const [, glossary = ""] = text.split("## Glossary");
    const terms = [...glossary.matchAll(/^\| ([a-z, ]+) \|/gm)].filter(([, term]) => term !== "word");
    expect(terms.length).toBeGreaterThan(20);
    expect(terms.length).toBeLessThanOrEqual(25);
  });

  test.each(PAGES.filter((page) => page !== "README.md"))("%s opens with its readers", (page) => {
    expect(read(page)).toMatch(/^# .+\n\nFor /);
  });
});

describe("docs/cookbook.md", () => {
  const page = read("docs/cookbook.md");

  test("has a statement for each question, which a reader may run, also where there is no answer", async () => {
    expect(QUESTIONS.length).toBeGreaterThan(20);
    await using database = await createTestDatabase();
    const { sql } = database;
    await using reader = await createReader(database);
    for (const { asks, sql: text } of QUESTIONS) {
      expect(page).toContain(`## ${asks}\n\n\`\`\`sql\n${text};\n`);
      // Between two infinities lies NaN.
      expect(text).not.toMatch(/percentile_cont[^\n]*'infinity'/);
      await withSnapshot(sql, async (tx) => {
        await becomeReader(tx, { role: reader.name, timeoutMs: 60_000 });
        for await (const { columns } of readStatement(tx, text)) expect(columns.length).toBeGreaterThan(2);
      });
    }
  });

  // Two minutes of a whole demo: each answer is of a relation whose figures test/report shows.
  test("has the answers of a demo; `npm run docs:cookbook` writes them", {
    tags: ["long", "exhaustive"],
    timeout: 600_000,
  }, async () => {
    await using database = await createTestDatabase();
    await fillDemoMirror(database.url, DEMO_STARTS);
    expect(await cookbookPage(database.url)).toBe(page);
  });
});

const pathsOf = (text: string) => [...text.matchAll(/`(src\/[\w./-]*)`/g)].map(([, path = ""]) => path);

const SOURCES = filesOf("src/", /\.(ts|sql)$/);
const codeOf = (path: string) => read(path).replace(/\/\*[\s\S]*?\*\/|^\s*(?:\/\/|--).*$/gm, "");
/** What a simulated resource may have and needs not. */
const MORE_LIFE = [
  ...["settings.ts", "happenings.ts", "random.ts"].map((name) => `src/simulate/${name}`),
  "src/cli/simulate-command.ts",
];

describe("docs/internals/changing.md", () => {
  const page = read("docs/internals/changing.md");

  test("names only code that is there", () => {
    const word = /`(?:git grep(?: -w)? )?"?([A-Z][A-Z_]+|[A-Z]\w+|satisfies .*?|interrupted)"?`/g;
    const names = [...page.matchAll(word)].map(([, name = ""]) => name);
    const all = [...SOURCES.map(read), read("test/support/database-server.ts")].join("\n");
    expect(names.length).toBeGreaterThan(5);
    expect(names.filter((name) => !all.includes(name))).toEqual([]);
  });

  test("has a row for each room", () => {
    const [, rooms = ""] = /## The rooms\n([\s\S]*?)\n## /.exec(page) ?? [];
    const named = [...rooms.matchAll(/^\| `([a-z]+)` \|/gm)].map(([, room]) => room);
    const entries = readdirSync(new URL("src/", ROOT), { withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    expect(named.toSorted()).toEqual(folders.toSorted());
  });

  test.each([
    ["a setting", /export const (?:\w+_)?SETTINGS = \{/],
    ["a command", /export const COMMANDS\b/],
    ["how a run may end", /export type RunStatus\b/],
    ["a metric", /export const FIGURE_METRICS\b/],
    ["a notice", /const SOURCES = \{/],
    ["a relation of a report", /export const RATE_RELATIONS\b/],
    ["a block of a page", /\binterface Block</],
    ["an exit code", /export const EXIT\b/],
    ["the retry policy", /export const FATES\b/],
    ["the retry policy", /export const SERVICE_SETTINGS\b/],
  ])("the row for %s names every file with %s", (change, pattern) => {
    const row = page.split("\n").find((line) => line.startsWith(`| ${change} |`)) ?? "";
    const files = SOURCES.filter((path) => pattern.test(codeOf(path)));
    expect(files.length).toBeGreaterThan(0);
    expect(pathsOf(row)).toEqual(expect.arrayContaining(files));
  });

  test("the list for a resource names just the files that name all resources, and those name each", () => {
    const names = (path: string, resource: string) => new RegExp(`\\b${resource}s?\\b`).test(codeOf(path));
    // The words of the first version: a file that a newer resource is missing in is found by them.
    const first = ["user", "project", "version", "file", "build"];
    const files = SOURCES.filter((path) => first.every((resource) => names(path, resource)));
    const wanted = files.filter((path) => !MORE_LIFE.includes(path));
    const forgotten = wanted.flatMap((path) =>
      RESOURCES.filter((resource) => !names(path, resource)).map((resource) => `${path}: no ${resource}`),
    );
    expect(forgotten).toEqual([]);
    const [, section = ""] = /### A resource\n([\s\S]*?)\n##+ /.exec(page) ?? [];
    const listed = pathsOf(section).filter((path) => /\.(ts|sql)$/.test(path));
    expect(listed.toSorted()).toEqual(files.toSorted());
  });
});
