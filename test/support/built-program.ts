import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const SOURCE = fileURLToPath(new URL("../../src", import.meta.url));
const BUILT = fileURLToPath(new URL("../../dist", import.meta.url));

/** The built program's main script, or null where any file of it is missing or older than its source. It looks once. */
export function findBuiltProgram(): string | null {
  found ??= { path: findFresh() };
  return found.path;
}

let found: { path: string | null } | null = null;

function findFresh(): string | null {
  const sources = readdirSync(SOURCE, { recursive: true, encoding: "utf8" });
  const isFresh = sources
    .filter((name) => /\.(ts|css|sql)$/.test(name))
    .every((name) => writtenAt(join(BUILT, name.replace(/\.ts$/, ".js"))) >= writtenAt(join(SOURCE, name)));
  return isFresh ? join(BUILT, "cli", "main.js") : null;
}

function writtenAt(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
