/**
 * One process among several on one database:
 *
 *   standing by ──takes the lead──▶ leading ──another process took it over──▶ standing by
 *   either ──stop──▶ ended; a leader gives the lead up
 *
 * Each term has new jobs. While Postgres does not answer, a leader neither leads for sure nor has lost: its jobs
 * wait for the database themselves, and the first answer decides.
 */
import { type Clock, LONGEST_SLEEP_MS } from "../../base/clock.ts";
import { LockedError, messageOf, StoreError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { createTrouble } from "../../base/trouble.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { isAway, isDown, isPassing } from "../../store/connection/store-errors.ts";
import type { Connections } from "../../store/ledger/connections.ts";
import { describeHolder, type Holder, isLease, type Lease, RENEW_MS } from "../../store/ledger/leases.ts";
import type { KeptDatabase } from "./kept-database.ts";
import { createWorker, type Job, type Worker, type WorkerDeps } from "./worker.ts";

/** The wait before another try while Postgres does not answer. */
const AGAIN_MS = 1000;
/** The wait of others before they try to take the lead: at random, so that they do not all come at once. */
const POLL_FROM_MS = 2000;
const POLL_TO_MS = 5000;
/** No supervisor waits for the end of a run after the lead was lost, and it may have to give up connections. */
const END_WITHIN_MS = 60_000;

/** The parts that the jobs of a term get. */
export interface Lead {
  /** Its `ready` also waits until it is sure that this process still leads. */
  database: KeptDatabase;
  /** For the transaction that opens a run: throws `LockedError` where another process leads by now. */
  assertMayRun(tx: TransactionSql): Promise<void>;
}

export interface WorkInTermsDeps {
  database: KeptDatabase;
  createJobs(lead: Lead): readonly Job[];
  /** It waits for the lead, and takes it again after it was lost. Otherwise it ends with `LockedError`. */
  standsBy: boolean;
  /** Called once, when it leads or stands by for the first time. */
  onUp(): void;
  clock: Clock;
  log: Logger;
  /** Ends it with its reason. */
  signal: AbortSignal;
  /** @default that of `worker.ts` */
  createWorker?: (deps: WorkerDeps) => Worker;
}

/**
 * Runs jobs while this process leads. Throws the signal's reason, faults of the database that waiting does not
 * repair, and `StoreError` when a run does not end after the lead was lost: only a new process is free of it.
 */
export async function workInTerms(deps: WorkInTermsDeps): Promise<never> {
  const { database, createJobs, standsBy, clock, log, signal } = deps;
  let isUp = false;
  const trouble = createTrouble(clock);
  let leader = "";

  /** The database says itself that it is down. */
  const levelOf = (error: unknown, why: string) =>
    !isDown(error) && trouble.failed(why).isNews ? "warn" : "debug";

  function goUp(): void {
    if (!isUp) deps.onUp();
    isUp = true;
  }

  async function standBy(): Promise<Lease> {
    let { leases } = await database.ready(signal);
    leader = "";
    for (;;) {
      try {
        const taken = await leases.take("lead");
        if (signal.aborted && isLease(taken)) await taken.release();
        signal.throwIfAborted();
        if (isLease(taken)) return taken;
        const led = ledBy(taken);
        if (!standsBy) throw led;
        goUp();
        if (led.message !== leader) log.info({ why: led.message }, "this worker stands by");
        leader = led.message;
      } catch (error) {
        signal.throwIfAborted();
        const waits = isUp ? isAway : isPassing;
        if (!waits(error)) throw error;
        const why = messageOf(error);
        log[levelOf(error, why)]({ error: why }, "could not see who leads");
        ({ leases } = await database.ready(signal));
      }
      await clock.sleep(POLL_FROM_MS + Math.random() * (POLL_TO_MS - POLL_FROM_MS), signal);
    }
  }

  /** Resolves when the lead is lost. */
  async function keep(lead: Lease): Promise<void> {
    for (;;) {
      try {
        if (!(await lead.keep())) return;
        await clock.sleep(RENEW_MS, signal);
      } catch (error) {
        signal.throwIfAborted();
        const why = messageOf(error);
        log[levelOf(error, why)]({ error: why }, "could not show that this worker leads");
        await clock.sleep(AGAIN_MS, signal);
        await database.ready(signal);
      }
    }
  }

  async function work(lead: Lease): Promise<void> {
    const { term } = lead;
    const jobs = createJobs({ database: withLead(database, lead, clock), assertMayRun: lead.assertHolds });
    const worker = (deps.createWorker ?? createWorker)({ jobs, clock, log });
    log.info({ term }, "this worker leads");
    goUp();
    let reason: unknown = new LockedError("another worker took the lead");
    let patienceMs: number | undefined = END_WITHIN_MS;
    let isEnded = false;
    worker.start();
    try {
      await keep(lead);
      log.warn({ term }, "another worker leads now; the jobs of this one end");
    } catch (error) {
      reason = error;
      patienceMs = undefined;
      throw error;
    } finally {
      isEnded = await worker.stop(reason, patienceMs);
      // Work that still runs could hold rows that the next leader wants. It ends our sessions if we do not give the lead up.
      if (isEnded) await lead.release();
    }
    if (!isEnded)
      throw new StoreError("a run did not end after another worker took the lead", {
        hint: "start this worker again",
      });
    if (!standsBy) throw reason;
  }

  for (;;) await work(await standBy());
}

function ledBy(holder: Holder): LockedError {
  return new LockedError(`another worker leads on this database: ${describeHolder(holder)}`, {
    hint: "stop it first, or start a second worker instead, which stands by",
  });
}

/** A database that is ready when this process also leads. */
function withLead(database: KeptDatabase, lead: Lease, clock: Clock): KeptDatabase {
  return {
    ...database,
    async ready(signal): Promise<Connections> {
      for (;;) {
        const connections = await database.ready(signal);
        const leads = await lead.keep().catch(() => null);
        signal.throwIfAborted();
        if (leads === true) return connections;
        // When the lead is lost the job is stopped soon.
        await clock.sleep(leads === false ? LONGEST_SLEEP_MS : AGAIN_MS, signal);
      }
    },
  };
}
