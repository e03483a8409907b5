import { createRequire } from "node:module";

/** This program's version, from the package's own manifest, wherever this file was bundled to. */
export function readVersion(): string {
  const manifest: unknown = createRequire(import.meta.url)("docmirror/package.json");
  return typeof manifest === "object" && manifest !== null && "version" in manifest
    ? String(manifest.version)
    : "?";
}
