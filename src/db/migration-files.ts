import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { readMigrationFiles } from "drizzle-orm/migrator";

/** One level above `src` as above `dist`: the package's own folder. */
const FOLDER = fileURLToPath(new URL("../../migrations", import.meta.url));

export interface Migration {
  /** Its name, as in `0000_create_mirror_and_sync`. */
  tag: string;
  /** When it was made, by drizzle-kit's journal: milliseconds since 1970. */
  when: number;
  /** SHA-256 of its file, hex. */
  hash: string;
  statements: string[];
}

/** The migrations that came with this program, in their order. */
export function readMigrations(): Migration[] {
  const journal = JSON.parse(readFileSync(`${FOLDER}/meta/_journal.json`, "utf8")) as {
    entries: { tag: string }[];
  };
  return readMigrationFiles({ migrationsFolder: FOLDER }).map(({ sql, hash, folderMillis }, index) => ({
    tag: journal.entries[index]?.tag ?? "",
    when: folderMillis,
    hash,
    statements: sql,
  }));
}
