import { execFile } from "node:child_process";
import { findWatchdog, isPasswordCopied, type Watchdog } from "../../base/config/environment.ts";
import { messageOf, SchemaVersionError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { createHostPace, type HostPace } from "../../mirror/api/host-pace.ts";
import { loadConnections } from "../../mirror/api/transport.ts";
import type { RunOptions } from "../../mirror/run/with-run.ts";
import { readDefinitions } from "../../report/definitions.ts";
import { loadPasswordRules } from "../../store/connection/scram-password.ts";
import { openDatabase } from "../../store/embedded/open-embedded.ts";
import { assertNotDemo, assertService } from "../../store/ledger/mirrored-service.ts";
import { prepareDatabase } from "../../store/migrate/prepare.ts";
import { type CommandContext, closeInTime } from "../context/run-command.ts";
import { createKeptDatabase, type KeptDatabase } from "./kept-database.ts";
import { type Lead, workInTerms } from "./work-in-terms.ts";
import type { Job } from "./worker.ts";

/** All jobs of one process share it, and it is what their runs have in common. */
export interface JobDeps extends Lead, Omit<RunOptions, "connections" | "signal" | "pace" | "assertMayRun"> {
  /** The rate is that of the process, and a wait that the service asks for holds for all jobs. */
  pace: HostPace;
}

/**
 * Runs jobs on their schedules while this process leads, until a signal comes. The database may be down for
 * some of the time. `serve` starts a server over the same database; it is up before the database answers, and
 * ends with the process. With a server the process stands by while another one leads. Without one it throws
 * `LockedError` then, and also when it loses the lead. Throws `SchemaVersionError` when the schema became one
 * that this program may not use.
 */
export async function keepWorking(
  { config, reread, log, clock, signal: stop }: CommandContext,
  baseUrl: URL,
  what: "worker" | "watch",
  createJobs: (deps: JobDeps) => Job[],
  serve?: (database: KeptDatabase) => Promise<{ close(): Promise<void> }>,
): Promise<never> {
  // An upgrade may replace the program's files long before the first request, or the first password that is read again.
  await Promise.all([loadConnections(), loadPasswordRules()]);
  const ousted = new AbortController();
  const signal = AbortSignal.any([stop, ousted.signal]);
  const database = createKeptDatabase({
    program: `docmirror ${what}`,
    open: async (openSignal) => openDatabase({ ...(await reread()), log, signal: openSignal }),
    async prepare(opened, sql, prepareSignal) {
      await assertNotDemo(sql, baseUrl);
      await prepareDatabase(opened, sql, readDefinitions(), log, prepareSignal).catch((error: unknown) => {
        // Someone migrated: to try again each minute would help nobody.
        if (error instanceof SchemaVersionError) ousted.abort(error);
        throw error;
      });
      await assertService(sql, baseUrl);
    },
    isLoginFixed: isPasswordCopied(),
    clock,
    log,
  });
  const pace = createHostPace({ ratePerSecond: config.ratePerSecond, clock });
  const shared = { settings: { ...config, baseUrl }, pace, clock, log };
  let server: { close(): Promise<void> } | undefined;
  // It closes beside the runs, because a supervisor does not wait for one after the other.
  const closeServer = () => void server?.close().catch(() => {});
  signal.addEventListener("abort", closeServer, { once: true });
  const asked = findWatchdog();
  const watchdog = asked && startWatchdog(asked, log);
  try {
    server = await serve?.(database);
    // Waits for a database that is down. One that refuses us for good ends the command with its own exit code.
    return await workInTerms({
      database,
      createJobs: (lead) => createJobs({ ...shared, ...lead }),
      standsBy: serve !== undefined,
      onUp() {
        const { syncCron: sync, watchCron: watch, timezone } = config;
        if (what === "worker") log.info({ sync, watch, timezone }, "the worker is up; Ctrl-C stops it");
        else log.info({ watch, timezone }, "the watch is up; Ctrl-C stops it");
      },
      clock,
      log,
      signal,
    });
  } finally {
    signal.removeEventListener("abort", closeServer);
    await closeInTime(signal, async () => {
      await server?.close();
      await database.close();
    });
    watchdog?.stop();
  }
}

/** One message may be late. */
const MESSAGES_WITHIN = 3;

/**
 * Tells systemd, as long as it is not stopped, that the loop of this process turns. A loop that stands still tells nothing, and systemd
 * starts the process anew. Node has no datagrams for unix sockets, and the packages that have them are native code, so the program that
 * comes with systemd sends them.
 */
function startWatchdog({ withinMs, env }: Watchdog, log: Logger): { stop(): void } {
  let isTold = false;

  function tell(): void {
    execFile("systemd-notify", ["WATCHDOG=1"], { env, timeout: withinMs }, (error) => {
      if (error !== null && !isTold)
        log.error(
          { error: messageOf(error), hint: "install systemd-notify, or remove WatchdogSec from the unit" },
          "could not tell systemd that this process lives",
        );
      isTold = error !== null;
    });
  }

  tell();
  const timer = setInterval(tell, withinMs / MESSAGES_WITHIN);
  return { stop: () => clearInterval(timer) };
}
