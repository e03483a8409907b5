import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { HttpStatusError } from "../../src/base/errors.ts";
import { isRetryable } from "../../src/mirror/api/retry.ts";
import { RESOURCES } from "../../src/resources/resources.ts";

/** `docs/internals/changing.md` names the files to touch. Each of them must be there, and be the right one. */
const ROOT = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, ROOT), "utf8");
const page = read("docs/internals/changing.md");

const pathsOf = (text: string) =>
  [...text.matchAll(/`((?:src|test|docs|migrations|\.ci|\.env)[\w./-]*)`/g)].map(([, path = ""]) => path);

/** The row of a change in "Common changes". */
function rowOf(change: string): string {
  const row = page.split("\n").find((line) => line.startsWith(`| ${change} |`));
  if (row === undefined) throw new Error(`no row for ${change}`);
  return row;
}
const [, sectionOfResource = ""] = /### A resource\n([\s\S]*?)\n##+ /.exec(page) ?? [];

const SOURCES = readdirSync(new URL("src/", ROOT), { recursive: true, encoding: "utf8" })
  .filter((name) => /\.(ts|sql)$/.test(name))
  .map((name) => `src/${name}`);
/** The text of a file without its comments. */
const codeOf = (path: string) => read(path).replace(/\/\*[\s\S]*?\*\/|^\s*(?:\/\/|--).*$/gm, "");
/** What a simulated resource may have and needs not. */
const MORE_LIFE = [
  ...["settings.ts", "happenings.ts", "random.ts"].map((name) => `src/simulate/${name}`),
  "src/cli/simulate-command.ts",
];
const filesWith = (pattern: RegExp) => SOURCES.filter((path) => pattern.test(codeOf(path)));

describe("docs/internals/changing.md", () => {
  test("names only files and folders that are there", () => {
    const paths = pathsOf(page);
    expect(paths.length).toBeGreaterThan(50);
    expect(paths.filter((path) => !existsSync(new URL(path, ROOT)))).toEqual([]);
  });

  test("names only scripts of npm that are there", () => {
    const { scripts } = JSON.parse(read("package.json"));
    const named = [...page.matchAll(/`npm (?:run )?([a-z:]+)/g)].map(([, script = ""]) => script);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((script) => scripts[script] === undefined)).toEqual([]);
  });

  test("names only code that is there", () => {
    const names = [...page.matchAll(/`([A-Z][A-Z_]+)`/g)].map(([, name = ""]) => name);
    const all = [...SOURCES.map(read), read("test/support/database-server.ts")].join("\n");
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(all))).toEqual([]);
  });

  test("has a row for each room", () => {
    const [, rooms = ""] = /## The rooms\n([\s\S]*?)\n## /.exec(page) ?? [];
    const named = [...rooms.matchAll(/^\| `([a-z]+)` \|/gm)].map(([, room]) => room);
    const folders = readdirSync(new URL("src/", ROOT), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
    expect(named.toSorted()).toEqual(folders.toSorted());
  });

  test.each([
    ["a setting", /export const SETTINGS\b/],
    ["a setting", /export const \w+_SETTINGS\b/],
    ["a command", /export const COMMANDS\b/],
    ["a field of a record", /const NORMALIZER_VERSION\b/],

    ["the retry policy", /export function isRetryable\b/],
    ["the retry policy", /export const SERVICE_SETTINGS\b/],
  ])("the row for %s names every file with %s", (change, pattern) => {
    const files = filesWith(pattern);
    expect(files.length).toBeGreaterThan(0);
    expect(pathsOf(rowOf(change))).toEqual(expect.arrayContaining(files));
  });

  test("the row for the retry policy names the pages that say which replies are retried", () => {
    const retried = [408, 425].every((status) =>
      isRetryable(new HttpStatusError("no", { url: "http://h/", status }), 1),
    );
    expect(retried).toBe(true);
    const pages = readdirSync(new URL("docs/", ROOT), { recursive: true, encoding: "utf8" })
      .map((name) => `docs/${name}`)
      .filter((path) => path.endsWith(".md") && /\b408, 425\b/.test(read(path)));
    expect(pathsOf(rowOf("the retry policy"))).toEqual(
      expect.arrayContaining([...pages, ...SOURCES.filter((path) => /\b408, 425\b/.test(read(path)))]),
    );
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
    const listed = pathsOf(sectionOfResource).filter((path) => /^src\/.*\.(ts|sql)$/.test(path));
    expect(listed.toSorted()).toEqual(files.toSorted());
  });
});
