/**
 * The mirror of the soak in a process of its own, which stays for all runs, so that its memory is its own and tells what a worker's would.
 * Told by messages what to run; answers each with how the run ended and what is alive on the heap after it.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { LockedError, MirrorError, StoppedError } from "../../src/base/errors.ts";
import type { SyncSettings } from "../../src/mirror/lists/plan.ts";
import type { RunSummary } from "../../src/mirror/lists/summary.ts";
import { exitCodeOfRun } from "../../src/mirror/run/close-run.ts";
import { syncOnce, watchOnce } from "../../test/support/sync.ts";

export interface RunOrder {
  databaseUrl: string;
  baseUrl: string;
  kind: "full" | "incremental" | "watch";
  /** How far the service's replicas may be behind. */
  replicaLagMs: number;
  /** @default 50 */
  pageSize?: SyncSettings["pageSize"];
  /** @default the mirror's */
  maxDeleteRatio?: number;
  /** Asked to stop after so long. */
  stopAfterMs?: number;
  /** By how much this machine's clock is ahead. */
  clockAheadMs?: number;
  /** After so long it is set right. */
  clockRightAfterMs?: number;
  /** The service is asked through this proxy. */
  proxy?: string;
}

export interface RunReport {
  /** As in `sync.runs`, or "locked", or "refused" where the run could not begin. */
  status: string;
  exitCode: number;
  error: string | null;
  /** Null where no run began. */
  summary: RunSummary | null;
  heapMb: number;
  residentMb: number;
}

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function wrongClock({ clockAheadMs = 0, clockRightAfterMs = Number.POSITIVE_INFINITY }: RunOrder): Clock {
  const began = performance.now();
  const aheadMs = () => (performance.now() - began < clockRightAfterMs ? clockAheadMs : 0);
  return { now: () => new Date(Date.now() + aheadMs()), sleep: systemClock.sleep };
}

async function run(order: RunOrder): Promise<Omit<RunReport, "heapMb" | "residentMb">> {
  const stop = new AbortController();
  const timer =
    order.stopAfterMs !== undefined &&
    setTimeout(() => stop.abort(new StoppedError("SIGTERM")), order.stopAfterMs);
  try {
    const { databaseUrl, kind, proxy, replicaLagMs, pageSize = 50, maxDeleteRatio } = order;
    const baseUrl = new URL(order.baseUrl);
    const http = proxy === undefined ? null : { name: "HTTP_PROXY", value: new URL(proxy) };
    const options = {
      signal: stop.signal,
      clock: wrongClock(order),
      settings: {
        replicaLagMs,
        pageSize,
        retries: 3,
        timeoutMs: 2000,
        ...(maxDeleteRatio !== undefined && { maxDeleteRatio }),
        proxies: http ? { http, https: null, none: null } : undefined,
      },
    };
    const result =
      kind === "watch"
        ? await watchOnce(databaseUrl, baseUrl, options)
        : await syncOnce(databaseUrl, baseUrl, { ...options, kind });
    const { status, error = null } = result.summary;
    return { status, exitCode: exitCodeOfRun(result), error, summary: result.summary };
  } catch (error) {
    const status = error instanceof LockedError ? "locked" : "refused";
    const exitCode = error instanceof MirrorError ? error.exitCode : 1;
    return {
      status,
      exitCode,
      error: error instanceof Error ? (error.stack ?? "") : String(error),
      summary: null,
    };
  } finally {
    if (timer) clearTimeout(timer);
  }
}

process.on("message", async (order: RunOrder) => {
  const ending = await run(order);
  collectGarbage();
  const { heapUsed, rss } = process.memoryUsage();
  process.send?.({ ...ending, heapMb: heapUsed / 1e6, residentMb: rss / 1e6 } satisfies RunReport);
});
process.on("disconnect", () => process.exit());
