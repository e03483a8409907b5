/** Builds that are here, and that replies do not show in a range of dates that they show whole. */
import { compose, runStatement } from "../../store/connection/run-statement.ts";
import type { Sql } from "../../store/connection/sql.ts";
import { builds, missingRecords } from "../../store/schema/index.ts";
import { countShown } from "../load/live-count.ts";
import type { RunParts } from "../load/run-parts.ts";
import type { OpenRange } from "../walk/bisection.ts";
import { describeHeld, type MissingFacts, mostMissing } from "./missing-records.ts";

export interface UnshownBuilds {
  /** Stores which builds of a range are missing. `shown`: the ids of all that replies showed there. */
  note(range: OpenRange, shown: readonly string[]): Promise<void>;
  /** How many were noted. */
  readonly noted: number;
  /** Why none of them is missing: there are too many. Else null. */
  readonly held: string | null;
}

/** Collects the missing builds of a run. When they are too many, none of them is stored, as after a whole walk. */
export function collectUnshown(
  { sql, clock, patience, runId }: RunParts,
  limits: Pick<MissingFacts, "maxDeleteRatio" | "allowMassDelete">,
): UnshownBuilds {
  let noted = 0;
  let held: string | null = null;
  let known: number | null = null;
  return {
    async note(range, shown) {
      if (held !== null) return;
      const noticedAt = clock.now().toISOString();
      known ??= await patience("count builds", () => countShown(sql, "build"));
      noted += await patience("note missing builds", () =>
        noteUnshown(sql, { runId, noticedAt, range, shown }),
      );
      if (noted <= mostMissing(known, limits)) return;
      held = describeHeld("build", noted, known, limits.maxDeleteRatio);
      await patience("forget missing builds", () => forgetNoted(sql, runId));
    },
    get noted() {
      return noted;
    },
    get held() {
      return held;
    },
  };
}

interface UnshownFacts extends Pick<MissingFacts, "runId" | "noticedAt"> {
  range: OpenRange;
  shown: readonly string[];
}

/**
 * Stores which live builds dated in a range were not shown, of those that were stored before this run. Returns how many
 * are new. Safe to repeat.
 */
async function noteUnshown(sql: Sql, { runId, noticedAt, range, shown }: UnshownFacts): Promise<number> {
  // By the key of the served list, which has an index. A build without a date has no place in the order.
  const key = compose`coalesce(${builds.date}, 'infinity')`;
  const { newerThan, olderThan } = range;
  const [row] = await runStatement<{ noted: number }>(
    sql,
    compose`
      with noted as (
        insert into ${missingRecords} (resource, record_id, run_id, noticed_at)
        select 'build', ${builds.id}, ${runId}, ${noticedAt}::timestamptz from ${builds}
        where ${builds.deleted_at} is null and ${builds.date} is not null and ${builds.first_seen_run_id} < ${runId}
          and ${key} > ${newerThan ?? "-infinity"}::timestamp and ${key} < ${olderThan ?? "infinity"}::timestamp
          and ${builds.id} <> all (${compose.param(shown)}::text[])
        on conflict (resource, record_id) do nothing
        returning record_id
      )
      select count(*) as noted from noted`,
  );
  return row?.noted ?? 0;
}

async function forgetNoted(sql: Sql, runId: number): Promise<void> {
  await sql`delete from sync.missing_records where resource = 'build' and run_id = ${runId} and asked_at is null`;
}
