import type { AnySql } from "../store/connection/sql.ts";
import type { Relation } from "./dictionary.ts";
import { MIRROR_RELATIONS } from "./relations/mirror.ts";

/**
 * Where a span ends: with the last look at the builds, because a mirror that nobody synced would look calmer by the hour. For
 * rows about the mirror itself, and where no look is known, it is `now`.
 */
export async function findSpanEnd(tx: AnySql, relation: Relation, now: Date): Promise<Date> {
  if (Object.hasOwn(MIRROR_RELATIONS, relation)) return now;
  const [look] = await tx<{ ms: number }[]>`
    select 1000 * extract(epoch from current_through)::float8 as ms from report.freshness where resource = 'build' and lag_s is not null`;
  return look ? new Date(look.ms) : now;
}
