import { readFileSync } from "node:fs";

/** This program's version, as its package says it; `src` and `dist` both lie one folder below that. */
export function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  return typeof manifest === "object" && manifest !== null && "version" in manifest
    ? String(manifest.version)
    : "?";
}
