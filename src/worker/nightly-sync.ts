import type { HostPace } from "../api/host-pace.ts";
import type { Clock } from "../clock.ts";
import { withSql } from "../db/connect.ts";
import { withStoreErrors } from "../db/store-errors.ts";
import { isUpstreamLost, LockedError } from "../errors.ts";
import type { Logger } from "../log.ts";
import type { SyncOptions, SyncResult, SyncSettings } from "../sync/run.ts";
import type { Job, JobOutcome } from "./job.ts";
import type { KeptDatabase } from "./kept-database.ts";

const MINUTE_MS = 60_000;

export interface NightlySyncDeps {
  cron: string;
  timezone: string;
  settings: Omit<SyncSettings, "databaseUrl">;
  /** @default each run's own */
  pace?: HostPace;
  database: KeptDatabase;
  runSync(options: SyncOptions): Promise<SyncResult>;
  clock: Clock;
  log: Logger;
}

/**
 * The nightly sync as a job. A run that failed, or that lost upstream half-way, is tried again after 5, 15 and 60 minutes and goes on
 * at its checkpoints; one that is partial for another reason has done what it could.
 */
export function createNightlySync(deps: NightlySyncDeps): Job {
  const { cron, timezone, settings, pace, database, clock, log } = deps;
  return {
    name: "sync",
    cron,
    timezone,
    retryAfterMs: [5 * MINUTE_MS, 15 * MINUTE_MS, 60 * MINUTE_MS],
    lastGoodAt: async (signal) => findLastGoodStart(await database.ready(signal)),
    async run(signal) {
      const databaseUrl = await database.ready(signal);
      log.info({ job: "sync" }, "sync begins");
      try {
        const result = await deps.runSync({
          settings: { ...settings, databaseUrl },
          ...(pace && { pace }),
          clock,
          log,
          signal,
        });
        signal.throwIfAborted();
        return outcomeOf(result, log);
      } catch (error) {
        // What else may hold it (a round that hangs, a retry from quarantine) is no sync, and must not cost the night.
        if (!(error instanceof LockedError) || !isSync(error.heldBy)) throw error;
        log.warn({ job: "sync", reason: error.message }, "left to the run that holds the lock");
        return "busy";
      }
    },
  };
}

function isSync(kind: string | null): boolean {
  return kind === "full" || kind === "incremental";
}

function outcomeOf({ summary, error }: SyncResult, log: Logger): JobOutcome {
  const { run_id, kind, status, duration_ms, requests, transitions } = summary;
  const records = Object.fromEntries(
    Object.entries(summary.resources).map(([resource, walk]) => [resource, walk.records]),
  );
  const facts = { runId: run_id, kind, durationMs: duration_ms, requests, transitions, records };
  if (status === "succeeded") log.info(facts, "sync succeeded");
  else log.warn({ ...facts, status, error: summary.error }, "sync ended without success");
  return status === "failed" || status === "interrupted" || isUpstreamLost(error) ? "failed" : "done";
}

/** When the newest run began that stored what it could. */
async function findLastGoodStart(url: string): Promise<Date | null> {
  const find = () =>
    withSql(url, { applicationName: "docmirror worker", max: 1 }, async (sql) => {
      const [row] = await sql<{ at: string | null }[]>`
        select max(started_at) as at from sync.runs
        where kind <> 'watch' and status in ('succeeded', 'partial')`;
      return row?.at ?? null;
    });
  const at = await withStoreErrors("find the last good run", find);
  return at === null ? null : new Date(at);
}
