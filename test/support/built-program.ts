import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const SOURCE = fileURLToPath(new URL("../../src", import.meta.url));
const BUILT = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

/** The built program's main script, or null where it is missing or older than any source. It looks once. */
export function findBuiltProgram(): string | null {
  found ??= { path: findFresh() };
  return found.path;
}

let found: { path: string | null } | null = null;

function findFresh(): string | null {
  const sources = readdirSync(SOURCE, { recursive: true, encoding: "utf8" });
  const isFresh = sources
    .filter((name) => /\.(ts|css|sql)$/.test(name))
    .every((name) => writtenAt(BUILT) >= writtenAt(join(SOURCE, name)));
  return isFresh ? BUILT : null;
}

function writtenAt(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
