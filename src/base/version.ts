import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** This program's version, from the package's own manifest, wherever this file was bundled to. */
export function readVersion(): string {
  return String(require("docmirror/package.json").version);
}

/** How docmirror names itself to a service, in the form that owners of services know from crawlers. */
export function userAgentOf(contact: string | null | undefined): string {
  return `docmirror/${readVersion()}${contact ? ` (+${contact})` : ""}`;
}
