import { readFileSync } from "node:fs";

/** This program's version, from `package.json`. `src` and `dist` are both one folder below it. */
export function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  return typeof manifest === "object" && manifest !== null && "version" in manifest
    ? String(manifest.version)
    : "?";
}
