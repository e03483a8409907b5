import type { Clock, ClockAhead } from "../../base/clock.ts";
import type { Sql } from "./sql.ts";
import { withStoreErrors } from "./store-errors.ts";

/** Compares the server's clock with ours. The two bounds are as far apart as the fastest of three answers took. */
export async function measureServerClock(sql: Sql, clock: Clock): Promise<ClockAhead> {
  let ahead: ClockAhead = { minMs: -Infinity, maxMs: Infinity };
  for (let attempt = 0; attempt < 3; attempt++) {
    const askedMs = clock.now().getTime();
    const [row] = await withStoreErrors(
      "ask the server for its time",
      () => sql<{ ms: number }[]>`select extract(epoch from clock_timestamp())::float8 * 1000 as ms`,
    );
    const answeredMs = clock.now().getTime();
    if (!row || answeredMs - askedMs > ahead.maxMs - ahead.minMs) continue;
    ahead = { minMs: Math.floor(row.ms - answeredMs), maxMs: Math.ceil(row.ms - askedMs) };
  }
  return ahead;
}
