import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { RESOURCES } from "../../../src/resources/resources.ts";

const SRC = fileURLToPath(new URL("../../../src", import.meta.url));
const texts = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .filter((path) => /(mirror|cli)\/.*\bsql\/.*\.sql$/.test(path))
  .map((path) => [path, readFileSync(join(SRC, path), "utf8")] as const);
const tables = RESOURCES.map((resource) => `mirror.${resource}s`);
const countIn = (text: string) => tables.filter((table) => new RegExp(`\\b${table}\\b`).test(text)).length;

const OF_ALL = [
  "cli/demo/sql/read_day.sql",
  "mirror/load/sql/quarantine/resolve_superseded.sql",
  "mirror/verify/sql/draw_sample.sql",
];

it("a statement that names the tables of most resources names those of all", () => {
  const ofMost = texts.filter(([, text]) => countIn(text) > 3);
  expect(ofMost.map(([path]) => path.replaceAll("\\", "/")).toSorted()).toEqual(OF_ALL);
  for (const [path, text] of ofMost) expect(countIn(text), path).toBe(RESOURCES.length);
});
