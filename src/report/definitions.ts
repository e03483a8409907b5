import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { readVersion } from "../base/version.ts";
import { RESOURCES } from "../resources/resources.ts";
import { readSqlFile } from "../store/connection/sql.ts";
import type { Definition, Definitions } from "../store/migrate/definitions.ts";
import { DICTIONARY } from "./dictionary.ts";
import { PEOPLE } from "./relations/people.ts";
import { TABLES } from "./stored/answers.ts";

/** The build copies the SQL of these folders next to the compiled file. */
const FOLDERS = ["relations", "stored", "functions"].map((name) =>
  fileURLToPath(new URL(`${name}/`, import.meta.url)),
);

/** The views whose text follows the declared resources. */
const RESOURCE_VIEWS = [
  `CREATE OR REPLACE VIEW rollup.resource_names AS
SELECT unnest(ARRAY[${RESOURCES.map((name) => `'${name}'`).join(", ")}]) AS resource;`,
  `CREATE OR REPLACE VIEW rollup.resources_source AS
${RESOURCES.map(
  (name) => `SELECT '${name}' AS resource, count(*) FILTER (WHERE deleted_at IS NULL) AS records,
  count(deleted_at) AS deleted_records FROM mirror.${name}s`,
).join("\nUNION ALL ")};`,
];

/** One text makes a view for each of these columns, which is called KEY in it. */
const KEYS = ["error_class", "error_fingerprint", "error_line_id"];

const forEachKey = (text: string): string[] =>
  text.includes("_KEY AS") ? KEYS.map((key) => text.replaceAll("KEY", key)) : [text];

let own: Definitions | undefined;

/**
 * The views and functions of schemas `report`, `report_people` and `rollup`, with the sentences of the dictionary. All but
 * `RESOURCE_VIEWS` are in files, in one of `FOLDERS`. Each comes after those that it names. The files are read once: an
 * upgrade may replace them while this process runs, and then they are another program's.
 */
export function readDefinitions(): Definitions {
  if (own !== undefined) return own;
  const texts = FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".sql"))
      .map((path) => readSqlFile(`${folder}${path}`)),
  );
  const inOrder = orderDefinitions([...texts.flatMap(forEachKey), ...RESOURCE_VIEWS]);
  own = { version: readVersion(), dictionary: DICTIONARY, people: PEOPLE, tables: TABLES, inOrder };
  return own;
}

/** Throws an Error where two texts name each other, and where one creates nothing. */
export function orderDefinitions(texts: readonly string[]): Definition[] {
  const textOf = new Map(texts.map((text) => [nameOf(text), text]));
  const ordered = new Map<string, Definition>();
  const add = (name: string, path: readonly string[]): void => {
    if (path.includes(name)) throw new Error(`${[...path, name].join(" → ")} is a circle of definitions`);
    const text = textOf.get(name);
    if (text === undefined || ordered.has(name)) return;
    const named = namesIn(text).filter((other) => other !== name && textOf.has(other));
    for (const other of named) add(other, [...path, name]);
    const hash = createHash("sha256").update(text);
    for (const other of named) hash.update(ordered.get(other)?.hash ?? "");
    ordered.set(name, { name, text, hash: hash.digest("hex") });
  };
  for (const name of [...textOf.keys()].toSorted()) add(name, []);
  return [...ordered.values()];
}

function nameOf(text: string): string {
  const name = /^create or replace (?:view|function) (\w+\.\w+)/im.exec(text)?.[1];
  if (name === undefined) throw new Error(`no view or function is created by: ${text.slice(0, 200)}`);
  return name;
}

/** All names with a schema, outside of comments. */
function namesIn(text: string): string[] {
  const code = text.replaceAll(/--.*$/gm, "");
  return [...new Set(code.match(/\b(?:report|report_people|rollup)\.\w+/g))].toSorted();
}
