/** `docs/internals/changing.md` names the files to touch. They must be the right ones; `test/docs.test.ts` shows that they are there. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { RESOURCES } from "../../src/resources/resources.ts";

const ROOT = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, ROOT), "utf8");
const page = read("docs/internals/changing.md");

const pathsOf = (text: string) => [...text.matchAll(/`(src\/[\w./-]*)`/g)].map(([, path = ""]) => path);

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

describe("docs/internals/changing.md", () => {
  test("names only code that is there", () => {
    const names = [
      ...page.matchAll(
        /`(?:git grep(?: -w)? )?"?([A-Z][A-Z_]+|[A-Z]\w+|satisfies .*?|interrupted|408, 425)"?`/g,
      ),
    ];
    const all = [...SOURCES.map(read), read("test/support/database-server.ts")].join("\n");
    expect(names.length).toBeGreaterThan(5);
    expect(names.map(([, name = ""]) => name).filter((name) => !all.includes(name))).toEqual([]);
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
    ["a setting", /export const (?:\w+_)?SETTINGS = \{/],
    ["a command", /export const COMMANDS\b/],
    ["how a run may end", /export type RunStatus\b/],
    ["a metric", /export interface Figures\b/],
    ["a notice", /const SOURCES: readonly NoticeSource/],
    ["a relation of a report", /export const RATES\b/],
    ["a block of a page", /export interface Block</],
    ["an exit code", /export const EXIT\b/],
    ["the retry policy", /export function isRetryable\b/],
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
