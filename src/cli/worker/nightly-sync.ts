import { isAhead } from "../../base/clock.ts";
import { LockedError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { SyncOptions, SyncResult } from "../../mirror/run/run.ts";
import type { Sql } from "../../store/connection/sql.ts";
import { withStoreErrors } from "../../store/connection/store-errors.ts";
import { findListFreshness } from "../../store/ledger/list-freshness.ts";
import { createRunLog, endOfRun } from "./end-of-run.ts";
import type { JobDeps } from "./keep-working.ts";
import type { Job, JobEnd } from "./worker.ts";

const MINUTE_MS = 60_000;

interface NightlySyncDeps extends JobDeps {
  cron: string;
  timezone: string;
  runSync(options: SyncOptions): Promise<SyncResult>;
}

/**
 * The nightly sync as a job. A run that failed or lost upstream is tried again after 5, 15 and 60 minutes,
 * and resumes from its checkpoints. A run that is partial for another reason is not tried again.
 */
export function createNightlySync(deps: NightlySyncDeps): Job {
  const { cron, timezone, runSync, database, ...run } = deps;
  const { clock, log } = run;
  const runLog = createRunLog(log, clock);
  return {
    name: "sync",
    cron,
    timezone,
    retryAfterMs: [5 * MINUTE_MS, 15 * MINUTE_MS, 60 * MINUTE_MS],
    lastGoodAt: async (signal) => findOldestGoodStart((await database.ready(signal)).sql, clock.now()),
    async run(signal, rest) {
      const connections = await database.ready(signal);
      log.info({ job: "sync" }, "sync started");
      try {
        const options = { ...run, connections, log: runLog, signal };
        const result = await runSync(rest ? { ...options, giveWay: rest } : options);
        signal.throwIfAborted();
        return endOf(result, log);
      } catch (error) {
        // Only another sync does this night's work. A round that hangs, or a quarantine retry, does not.
        const isBusy = error instanceof LockedError && ["full", "incremental"].includes(error.heldBy ?? "");
        if (!isBusy) throw error;
        log.info({ job: "sync", reason: error.message }, "skipped: another run is under way");
        return { outcome: "busy", trouble: null };
      }
    },
  };
}

function endOf({ summary, error }: SyncResult, log: Logger): JobEnd {
  const { run_id, kind, status, duration_ms, requests, transitions, content } = summary;
  const records = Object.fromEntries(
    Object.entries(summary.resources).map(([resource, walk]) => [resource, walk.records]),
  );
  const facts = { run_id, kind, duration_ms, requests, transitions, records, ...(content && { content }) };
  if (status === "succeeded") log.info(facts, "sync succeeded");
  return endOfRun(summary, error, facts);
}

/** The earliest start of the lists' last good walks. Null where a list has none, or one dated ahead of now. */
async function findOldestGoodStart(sql: Sql, now: Date): Promise<Date | null> {
  const lists = await withStoreErrors("read how fresh the lists are", () => findListFreshness(sql));
  const starts = lists.map(({ startedAt }) => startedAt);
  if (starts.some((startedAt) => startedAt === null || isAhead(startedAt, now))) return null;
  return new Date(Math.min(...starts.map((startedAt) => Date.parse(startedAt ?? ""))));
}
