/**
 * The mirror of the soak in a process of its own, which stays for all runs, so that its memory is its own and tells what a worker's would.
 * Told by messages what to run; answers each with how the run ended and what is alive on the heap after it.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { LockedError, MirrorError, StoppedError } from "../../src/errors.ts";
import { exitCodeOf } from "../../src/sync/run.ts";
import { syncOnce, watchOnce } from "../support/sync.ts";

export interface RunOrder {
  databaseUrl: string;
  baseUrl: string;
  kind: "full" | "incremental" | "watch";
  /** Asked to stop after so long. */
  stopAfterMs?: number;
}

export interface RunReport {
  /** As in `sync.runs`, or "locked", or "refused" where the run could not begin. */
  status: string;
  exitCode: number;
  error: string | null;
  /** Why walks were not whole. */
  reasons: string[];
  heapMb: number;
  residentMb: number;
}

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

async function run(order: RunOrder): Promise<Omit<RunReport, "heapMb" | "residentMb">> {
  const stop = new AbortController();
  const timer =
    order.stopAfterMs !== undefined &&
    setTimeout(() => stop.abort(new StoppedError("SIGTERM")), order.stopAfterMs);
  try {
    const { databaseUrl, kind } = order;
    const baseUrl = new URL(order.baseUrl);
    const options = { signal: stop.signal, settings: { pageSize: 50, retries: 3, timeoutMs: 2000 } };
    const result =
      kind === "watch"
        ? await watchOnce(databaseUrl, baseUrl, options)
        : await syncOnce(databaseUrl, baseUrl, { ...options, kind });
    const { status, resources, error = null } = result.summary;
    const reasons = Object.values(resources).flatMap(({ reason }) => reason ?? []);
    return { status, exitCode: exitCodeOf(result), error, reasons };
  } catch (error) {
    const status = error instanceof LockedError ? "locked" : "refused";
    const exitCode = error instanceof MirrorError ? error.exitCode : 1;
    return {
      status,
      exitCode,
      error: error instanceof Error ? (error.stack ?? "") : String(error),
      reasons: [],
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
