import { fileURLToPath } from "node:url";

/** The lists of a service: JSON by resource, gzipped. */
export const LATER_SERVICE = fileURLToPath(new URL("later-service.json.gz", import.meta.url));
