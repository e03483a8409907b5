import { isAhead } from "../../base/clock.ts";
import { isUpstreamLost, LockedError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { SyncOptions, SyncResult } from "../../mirror/run/run.ts";
import { withSql } from "../../store/connection/connect.ts";
import { withStoreErrors } from "../../store/connection/store-errors.ts";
import { findListFreshness } from "../../store/ledger/list-freshness.ts";
import type { JobDeps } from "./keep-working.ts";
import type { Job, JobOutcome } from "./worker.ts";

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
  const { cron, timezone, settings, pace, database, assertMayRun, clock, log } = deps;
  return {
    name: "sync",
    cron,
    timezone,
    retryAfterMs: [5 * MINUTE_MS, 15 * MINUTE_MS, 60 * MINUTE_MS],
    lastGoodAt: async (signal) => findOldestGoodStart(await database.ready(signal), clock.now()),
    async run(signal, rest) {
      const databaseUrl = await database.ready(signal);
      log.info({ job: "sync" }, "sync started");
      try {
        const result = await deps.runSync({
          settings: { ...settings, databaseUrl },
          pace,
          assertMayRun,
          clock,
          log,
          signal,
          ...(rest && { giveWay: rest }),
        });
        signal.throwIfAborted();
        return outcomeOf(result, log);
      } catch (error) {
        // Only another sync does this night's work. A round that hangs, or a quarantine retry, does not.
        const isBusy = error instanceof LockedError && ["full", "incremental"].includes(error.heldBy ?? "");
        if (!isBusy) throw error;
        log.warn({ job: "sync", reason: error.message }, "skipped: another run holds the lock");
        return "busy";
      }
    },
  };
}

function outcomeOf({ summary, error }: SyncResult, log: Logger): JobOutcome {
  const { run_id, kind, status, duration_ms, requests, transitions, content } = summary;
  const records = Object.fromEntries(
    Object.entries(summary.resources).map(([resource, walk]) => [resource, walk.records]),
  );
  const facts = { run_id, kind, duration_ms, requests, transitions, records, ...(content && { content }) };
  if (status === "succeeded") log.info(facts, "sync succeeded");
  else log.warn({ ...facts, status, error: summary.error }, "sync ended without success");
  return status === "failed" || status === "interrupted" || isUpstreamLost(error) ? "failed" : "done";
}

/** The earliest start of the lists' last good walks. Null where a list has none, or one dated ahead of now. */
async function findOldestGoodStart(url: string, now: Date): Promise<Date | null> {
  const lists = await withStoreErrors("read how fresh the lists are", () =>
    withSql(url, { applicationName: "docmirror worker", max: 1 }, findListFreshness),
  );
  const starts = lists.map(({ startedAt }) => startedAt);
  if (starts.some((startedAt) => startedAt === null || isAhead(startedAt, now))) return null;
  return new Date(Math.min(...starts.map((startedAt) => Date.parse(startedAt ?? ""))));
}
