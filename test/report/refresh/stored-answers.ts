import { refreshReport } from "../../../src/report/refresh/refresh.ts";
import {
  ANSWERS,
  BUILD_FACTS,
  DATES,
  EXPENSIVE_ANSWERS,
  STORED_DIMENSIONS,
} from "../../../src/report/stored/answers.ts";
import type { Sql } from "../../../src/store/connection/sql.ts";

export const STORED = [BUILD_FACTS, ...STORED_DIMENSIONS, DATES, ...ANSWERS, ...EXPENSIVE_ANSWERS];
const PRINTS = STORED.map(
  ({ table, columns }) => `
    select '${table}' as name, md5(coalesce(string_agg(stored::text, ' ' order by stored::text), '')) as print
    from (select ${columns.join(", ")} from ${table}) as stored`,
).join(" union all ");

type Settings = Parameters<typeof refreshReport>[1];

/** A print of each stored answer, kept up to date, and the same computed from nothing. What is expensive is not left for later. */
export async function readBothWays(
  { sql }: { sql: Sql },
  settings: Settings,
): Promise<{ kept: unknown; anew: unknown }> {
  const read = () =>
    sql.begin(async (tx) => {
      // A mean depends on the order of its rows, in its last digits.
      await tx`set local extra_float_digits = -3`;
      const rows = await tx.unsafe<{ name: string; print: string }[]>(PRINTS);
      return Object.fromEntries(rows.map(({ name, print }) => [name, print]));
    });
  await sql`update rollup.state set dear_refreshed_at = null`;
  await refreshReport(sql, settings);
  const kept = await read();
  await sql`update rollup.state set definition = ''`;
  await refreshReport(sql, settings);
  return { kept, anew: await read() };
}
