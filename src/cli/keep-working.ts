import { createHostPace, type HostPace } from "../api/host-pace.ts";
import type { Clock } from "../clock.ts";
import { withSql } from "../db/connect.ts";
import { assertNotDemo } from "../db/demo-mark.ts";
import { createLeaderLock } from "../db/leader-lock.ts";
import { assertService } from "../db/mirrored-service.ts";
import { prepareDatabase } from "../db/prepare.ts";
import { openDatabase } from "../embedded/open-database.ts";
import { EXIT, LockedError, MirrorError } from "../errors.ts";
import type { Logger } from "../log.ts";
import { readDefinitions } from "../report/definitions.ts";
import type { SyncSettings } from "../sync/sync-settings.ts";
import type { Job } from "../worker/job.ts";
import { createKeptDatabase, type KeptDatabase } from "../worker/kept-database.ts";
import { createWorker } from "../worker/worker.ts";
import { closeInTime } from "./close-in-time.ts";
import type { CommandContext } from "./run-command.ts";
import { untilStopped } from "./until-stopped.ts";

/** What all jobs of one process share. */
export interface JobDeps {
  settings: Omit<SyncSettings, "databaseUrl">;
  /**
   * Shared by all jobs: the rate is that of the process, and a wait that the service asks for holds for all.
   */
  pace: HostPace;
  database: KeptDatabase;
  clock: Clock;
  log: Logger;
}

/**
 * Runs jobs on their schedules until a signal comes. The database may be down for some of the time. `serve`
 * starts a server over the same database; it is up before the database answers, and ends with the jobs.
 * Throws `LockedError` when another process leads on the database, even when it took the lead while the
 * database was down.
 */
export async function keepWorking(
  { config, log, clock, signal: stop }: CommandContext,
  baseUrl: URL,
  what: "worker" | "watch",
  createJobs: (deps: JobDeps) => Job[],
  serve?: (database: KeptDatabase) => Promise<{ close(): Promise<void> }>,
): Promise<never> {
  const lead = createLeaderLock();
  const ousted = new AbortController();
  const signal = AbortSignal.any([stop, ousted.signal]);
  const database = createKeptDatabase({
    open: (openSignal) => openDatabase({ ...config, log, signal: openSignal }),
    async prepare(opened, prepareSignal) {
      await assertNotDemo(opened.url, baseUrl);
      await prepareDatabase(opened, readDefinitions(), log, prepareSignal);
      await withSql(opened.url, { applicationName: "docmirror", max: 1 }, (sql) =>
        assertService(sql, baseUrl),
      );
      await lead.hold(opened.url).catch((error: unknown) => {
        if (error instanceof LockedError) ousted.abort(error);
        throw error;
      });
    },
    clock,
    log,
  });
  const pace = createHostPace({ ratePerSecond: config.ratePerSecond, clock });
  const jobs = createJobs({ settings: { ...config, baseUrl }, pace, database, clock, log });
  const worker = createWorker({ jobs, clock, log });
  let server: { close(): Promise<void> } | undefined;
  try {
    server = await serve?.(database);
    // Waits for a database that is down. One that refuses us for good ends the command here, with its own
    // exit code.
    await database.ready(signal);
    const schedule = Object.fromEntries(jobs.map(({ name, cron }) => [name, cron]));
    log.info(
      { ...schedule, timezone: config.timezone },
      what === "worker" ? "the worker is up; Ctrl-C stops it" : "the watch is up; Ctrl-C stops it",
    );
    worker.start();
    return await untilStopped(signal);
  } finally {
    const code = signal.reason instanceof MirrorError ? signal.reason.exitCode : EXIT.bug;
    await closeInTime(code, async () => {
      await Promise.all([worker.stop(signal.reason), server?.close()]);
      await lead.release();
      await database.close();
    });
  }
}
