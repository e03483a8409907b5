import { fileURLToPath } from "node:url";

/** A mirror as the first release left it: SQL statements, gzipped. */
export const FIRST_RELEASE = fileURLToPath(new URL("first-release.sql.gz", import.meta.url));

/** The lists of the service that it mirrored, two days later: JSON by resource, gzipped. */
export const LATER_SERVICE = fileURLToPath(new URL("later-service.json.gz", import.meta.url));
