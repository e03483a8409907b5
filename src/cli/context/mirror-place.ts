import type { Config } from "../../base/config.ts";
import { describeDatabase } from "../../store/connection/connect.ts";
import { hasEmbedded } from "../../store/embedded/open-embedded.ts";
import { noMirrorError } from "../../store/migrate/assert-mirror.ts";
import { showPath } from "./show-path.ts";

export type MirrorSettings = Pick<Config, "databaseUrl" | "dataDir">;

/** Where the settings say that the mirror is, for messages: a folder, or a database without its password. */
export function mirrorPlace({ databaseUrl, dataDir }: MirrorSettings): string {
  if (databaseUrl !== null) return `the database ${describeDatabase(databaseUrl)}`;
  const path = showPath(dataDir);
  return path.startsWith("/") ? path : `./${path}`;
}

/**
 * Whether there is certainly no mirror; starts nothing to find out. Throws StoreError where the folder cannot
 * be read.
 */
export function isMirrorAbsent({ databaseUrl, dataDir }: MirrorSettings): boolean {
  return databaseUrl === null && !hasEmbedded(dataDir);
}

/**
 * Throws SchemaVersionError where the embedded Postgres does not exist yet, because opening it would make
 * one.
 */
export function assertMirrorPlace(settings: MirrorSettings): void {
  if (isMirrorAbsent(settings)) throw noMirrorError(mirrorPlace(settings));
}
