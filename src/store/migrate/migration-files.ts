import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { readMigrationFiles } from "drizzle-orm/migrator";

/** In the package, however deep this file or the bundle is. */
const FOLDER = join(dirname(createRequire(import.meta.url).resolve("docmirror/package.json")), "migrations");

export interface Migration {
  /** Its name, such as `0000_baseline`. */
  tag: string;
  /** SHA-256 of its file, hex. */
  hash: string;
  /** Whether a program that does not know it may go on. Its first line says so, as `-- additive: …`. */
  additive: boolean;
  statements: string[];
}

let own: readonly Migration[] | undefined;

/** The migrations of this program, in order. Their files are read once: an upgrade may replace them while it runs. */
export function readMigrations(): readonly Migration[] {
  own ??= readFiles();
  return own;
}

function readFiles(): Migration[] {
  const journal = JSON.parse(readFileSync(`${FOLDER}/meta/_journal.json`, "utf8")) as {
    entries: { tag: string }[];
  };
  return readMigrationFiles({ migrationsFolder: FOLDER }).map(({ sql, hash }, index) => ({
    tag: journal.entries[index]?.tag ?? "",
    hash,
    additive: sql[0]?.startsWith("-- additive: ") === true,
    statements: sql,
  }));
}
