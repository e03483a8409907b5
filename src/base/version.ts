import { createRequire } from "node:module";

let version: string | undefined;

/** This program's version, from the package's own manifest. It is read once: an upgrade may replace the files meanwhile. */
export function readVersion(): string {
  // Not when this file is loaded: others bundle the typed client, also into forms that have no URL of a module.
  version ??= String(createRequire(import.meta.url)("docmirror/package.json").version);
  return version;
}

/** The name of docmirror for a service, in the form that owners of services know from crawlers. */
export function userAgentOf(contact: string | null | undefined): string {
  return `docmirror/${readVersion()}${contact ? ` (+${contact})` : ""}`;
}
