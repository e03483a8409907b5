import { isAhead } from "../../base/clock.ts";
import { formatSpan } from "../../mirror/builds/format-span.ts";
import type { Sql } from "../../store/connection/connect.ts";
import { describeOldest, findListFreshness, mirrorAgeMs } from "../../store/ledger/list-freshness.ts";
import { ok, type Result, unknown, warning } from "./finding.ts";

/** A nightly sync runs once a day; a slow night may take some hours more. */
const STALE_AFTER_MS = 30 * 3_600_000;
/** How many of the newest runs are checked. */
const RUNS = 1000;

/** How old the mirror is by its oldest list, and whether a run has its time from a clock that was ahead. */
export async function checkFreshness(sql: Sql, now: Date): Promise<Result> {
  const runs = await sql<{ id: number; at: string }[]>`
    select id, greatest(started_at, finished_at) as at from sync.runs order by id desc limit ${RUNS}`;
  const ahead = runs.filter(({ at }) => isAhead(at, now));
  const [newest] = ahead;
  if (newest) {
    const some =
      ahead.length === 1 ? `run ${newest.id}` : `${ahead.length} runs, the newest of them ${newest.id},`;
    return warning(
      `${some} ended at ${newest.at}, which is ahead of now: a clock is or was wrong`,
      "set this machine's clock by NTP; data of such a run counts as stale, and the next sync reads it again",
    );
  }
  const lists = await findListFreshness(sql);
  if (lists.every(({ finishedAt }) => finishedAt === null)) {
    return unknown("nothing was mirrored yet", "`docmirror sync`");
  }
  const { resource, why } = describeOldest(lists, now);
  const ageMs = mirrorAgeMs(lists, now);
  if (ageMs > STALE_AFTER_MS) {
    return warning(`the ${resource} list ${why}`, "see `docmirror status` for what the last runs say");
  }
  return ok(`all lists were read within ${formatSpan(ageMs)}`);
}
