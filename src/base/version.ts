import { createRequire } from "node:module";

/** This program's version, from the package's own manifest, wherever this file was bundled to. */
export function readVersion(): string {
  // Not when this file is loaded: others bundle the typed client, also into forms that have no URL of a module.
  return String(createRequire(import.meta.url)("docmirror/package.json").version);
}

/** How docmirror names itself to a service, in the form that owners of services know from crawlers. */
export function userAgentOf(contact: string | null | undefined): string {
  return `docmirror/${readVersion()}${contact ? ` (+${contact})` : ""}`;
}
