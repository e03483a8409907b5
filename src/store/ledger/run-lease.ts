/** The lease of a run: how a process that wants to write waits for the one that writes, and what it says when it gives up. */
import { LockedError } from "../../base/errors.ts";
import { createPatience, type PatienceOptions } from "../connection/patience.ts";
import type { Sql } from "../connection/sql.ts";
import { isPassing, sqlstateOf } from "../connection/store-errors.ts";
import type { RunKind } from "../schema/runs.ts";
import type { Connections } from "./connections.ts";
import { describeHolder, type Holder, isLease, type Lease } from "./leases.ts";

/** The server answered, and then ended the session. */
const ENDED: readonly (string | undefined)[] = ["57P01", "57P02", "CONNECTION_CLOSED"];
const POLL_MS = 250;
/** A round of the watch takes about a minute at most. */
const ROUND_MS = 180_000;
/** A holder without an open run is about to begin one, or has lost its right to one and leaves. */
const NO_RUN_MS = 5000;
const NO_RUN_BRIEF_MS = 1000;

export interface RunLeaseOptions extends Pick<PatienceOptions, "clock" | "signal" | "log"> {
  /** Waits for a round of the watch, three minutes at most. @default gives up at once, as for any other run */
  outlasts?: boolean;
}

/**
 * Takes the lease under which only one run at a time writes. Takes it in a new session when the server ends the one in which it is
 * being taken, as in a restart; a server that never answered is reported at once. Throws `LockedError`, which names the run that has
 * it, and `StoreError`.
 */
export async function takeRunLease(connections: Connections, options: RunLeaseOptions): Promise<Lease> {
  const { sql, leases, renew } = connections;
  const { clock, signal, outlasts = false } = options;
  let hasAnswered = false;

  async function take(): Promise<Lease> {
    for (let waitedMs = 0; ; waitedMs += POLL_MS) {
      const taken = await leases.take("run");
      hasAnswered = true;
      if (isLease(taken)) return taken;
      const run = await findRun(sql, taken);
      if (waitedMs >= longestWaitMs(run?.kind ?? null, outlasts)) throw lockedBy(taken, run);
      await clock.sleep(POLL_MS, signal);
    }
  }

  try {
    return await take();
  } catch (error) {
    if (!isPassing(error) || !(hasAnswered || ENDED.includes(sqlstateOf(error)))) throw error;
    return await createPatience({ ...options, regain: async () => {}, renew })(
      "take the lease of the run",
      take,
    );
  }
}

function longestWaitMs(kind: RunKind | null, outlasts: boolean): number {
  if (kind === null) return outlasts ? NO_RUN_MS : NO_RUN_BRIEF_MS;
  return outlasts && kind === "watch" ? ROUND_MS : 0;
}

interface HeldRun {
  id: number;
  kind: RunKind;
}

/** The open run of a holder. One that a dead process left open has an older term. */
async function findRun(sql: Sql, { term }: Holder): Promise<HeldRun | null> {
  const [run] = await sql<HeldRun[]>`
    select id, kind from sync.runs where status = 'running' and term = ${term} order by id desc limit 1`;
  return run ?? null;
}

function lockedBy(holder: Holder, run: HeldRun | null): LockedError {
  const which = run ? `run ${run.id}, ` : "";
  return new LockedError(`another run is under way: ${which}${describeHolder(holder)}`, {
    hint: "wait until that run has ended; `docmirror status` shows it",
    heldBy: run?.kind ?? null,
  });
}
