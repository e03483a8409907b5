/** How large the database is, how fast it grows, and when it is full where that is known. */
import { statfs } from "node:fs/promises";
import type { SettingsFor } from "../../base/config/settings.ts";
import { counted, sized } from "../../base/text.ts";
import { oneRow, statement, type TransactionSql } from "../../store/connection/sql.ts";

/** The settings that say how large the database may become. */
export type LimitSettings = Pick<SettingsFor<"status">, "databaseUrl" | "dataDir" | "databaseLimitBytes">;

interface StoredSizes {
  /** The whole database, what is not docmirror's included. Null where the role may not ask. */
  database_bytes: number | null;
  /** Of docmirror's schemas, with their indexes. A table that is written anew at this moment is left out. */
  schema_bytes: Record<string, number>;
  /** The logs of builds in Postgres; a part of schema `mirror`. */
  logs_bytes: number;
  /** The slope over the syncs of 30 days; negative where it shrinks. Null until they are seven days apart. */
  growth_bytes_per_day: number | null;
}

export interface Sizes extends StoredSizes {
  /** The most that the database may have: by `DOCMIRROR_DATABASE_LIMIT`, or the disk of the embedded one. Else null. */
  limit_bytes: number | null;
  /** Until the limit is reached at the present growth. Null where either is not known, or it does not grow. */
  days_left: number | null;
}

/** Nobody plans for what is further away, and the growth of a month says nothing of it. */
const FAR_DAYS = 3650;

const SIZES = statement<StoredSizes>("sizes", import.meta.url);

export async function findSizes(tx: TransactionSql, settings: LimitSettings): Promise<Sizes> {
  const stored = await oneRow(SIZES(tx));
  const { database_bytes: bytes, growth_bytes_per_day: growth } = stored;
  const limit = await findLimit(settings, bytes);
  const left = limit === null || bytes === null ? null : limit - bytes;
  const days_left = left === null || growth === null || growth <= 0 ? null : left / growth;
  return { ...stored, limit_bytes: limit, days_left: days_left && Math.max(0, days_left) };
}

async function findLimit({ databaseUrl, dataDir, databaseLimitBytes }: LimitSettings, bytes: number | null) {
  if (databaseLimitBytes !== null || databaseUrl !== null || bytes === null) return databaseLimitBytes;
  const disk = await statfs(dataDir).catch(() => null);
  return disk && bytes + disk.bavail * disk.bsize;
}

/** For people, such as "the database has 280.1 MB (mirror 200.0 MB, …), of them 90.3 MB logs of builds; it grows by 1.2 MB a day". */
export function describeSizes(sizes: Sizes): string {
  const { database_bytes, schema_bytes, logs_bytes, growth_bytes_per_day: growth } = sizes;
  const { limit_bytes: limit, days_left } = sizes;
  const schemas = Object.entries(schema_bytes).map(([schema, bytes]) => `${schema} ${sized(bytes)}`);
  const grows =
    growth === null ? "" : `; it ${growth < 0 ? "shrinks" : "grows"} by ${sized(Math.abs(growth))} a day`;
  const isFar = days_left === null || days_left > FAR_DAYS;
  const left = isFar ? "" : `, and is full in ${counted(Math.floor(days_left), "day")}`;
  const room = limit === null ? "" : ` of ${sized(limit)}`;
  const all = database_bytes === null ? "unknown bytes" : sized(database_bytes);
  const logs = `${sized(logs_bytes)} logs of builds`;
  return `the database has ${all}${room} (${schemas.join(", ")}), of them ${logs}${grows}${left}`;
}
