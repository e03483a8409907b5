import { relative } from "node:path";
import type { Config } from "../../base/config.ts";
import { describeDatabase } from "../../store/connection/connect.ts";
import { hasEmbedded } from "../../store/embedded/open-embedded.ts";
import { noMirrorError } from "../../store/migrate/assert-mirror.ts";

export type MirrorSettings = Pick<Config, "databaseUrl" | "dataDir">;

/** Where the settings say that the mirror is, for messages: a folder, or a database without its password. */
export function mirrorPlace({ databaseUrl, dataDir }: MirrorSettings): string {
  if (databaseUrl !== null) return `the database ${describeDatabase(databaseUrl)}`;
  const path = showPath(dataDir);
  return path.startsWith("/") ? path : `./${path}`;
}

/** An absolute path as people write it: relative where it is below the working directory. */
export function showPath(path: string): string {
  const near = relative(process.cwd(), path);
  return near === "" || near.startsWith("..") ? path : near;
}

/** Whether there is certainly no mirror. Starts nothing. Throws StoreError where the folder cannot be read. */
export function isMirrorAbsent({ databaseUrl, dataDir }: MirrorSettings): boolean {
  return databaseUrl === null && !hasEmbedded(dataDir);
}

/** Throws SchemaVersionError where there is no embedded Postgres yet, because opening it would make one. */
export function assertMirrorPlace(settings: MirrorSettings): void {
  if (isMirrorAbsent(settings)) throw noMirrorError(mirrorPlace(settings));
}
