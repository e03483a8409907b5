/**
 * One process among several on one database:
 *
 *   standing by ──has the lead──▶ leading ──lost it──▶ standing by
 *   either ──stop──▶ ended; a leader resigns
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
import type { LeaderLock, Term } from "../../store/ledger/leader.ts";
import type { KeptDatabase } from "./kept-database.ts";
import { createWorker, type Job, type Worker, type WorkerDeps } from "./worker.ts";

/** How often a leader shows that it lives, and looks whether it still leads. */
const BEAT_MS = 5000;
/** How long others wait before they try to take the lead: at random, so that they do not all come at once. */
const POLL_FROM_MS = 2000;
const POLL_TO_MS = 5000;
/** No supervisor waits for the end of a run after the lead was lost, and it may have to give up connections. */
const END_WITHIN_MS = 60_000;

/** What the jobs of a term get. */
export interface Lead {
  /** Its `ready` also waits until it is sure that this process still leads. */
  database: KeptDatabase;
  /** For the transaction that opens a run: throws when another process leads by now. */
  assertMayRun(tx: TransactionSql): Promise<void>;
}

export interface WorkInTermsDeps {
  lock: LeaderLock;
  database: KeptDatabase;
  createJobs(lead: Lead): readonly Job[];
  /** Whether it waits for the lead, and takes it again after it was lost. Otherwise it ends with `LockedError`. */
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
  const { lock, database, createJobs, standsBy, clock, log, signal } = deps;
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

  async function standBy(): Promise<Term> {
    let url = await database.ready(signal);
    leader = "";
    for (;;) {
      try {
        const taken = await lock.take(url);
        if (signal.aborted && !(taken instanceof LockedError)) await taken.resign();
        signal.throwIfAborted();
        if (!(taken instanceof LockedError)) return taken;
        if (!standsBy) throw taken;
        goUp();
        if (taken.message !== leader) log.info({ why: taken.message }, "this worker stands by");
        leader = taken.message;
      } catch (error) {
        signal.throwIfAborted();
        const waits = isUp ? isAway : isPassing;
        if (!waits(error)) throw error;
        const why = messageOf(error);
        log[levelOf(error, why)]({ error: why }, "could not see who leads");
        url = await database.ready(signal);
      }
      await clock.sleep(POLL_FROM_MS + Math.random() * (POLL_TO_MS - POLL_FROM_MS), signal);
    }
  }

  /** Resolves when the lead is lost. */
  async function keep(term: Term): Promise<void> {
    let url = await database.ready(signal);
    for (;;) {
      try {
        if (!(await term.keep(url))) return;
        await clock.sleep(BEAT_MS, signal);
      } catch (error) {
        signal.throwIfAborted();
        const why = messageOf(error);
        log[levelOf(error, why)]({ error: why }, "could not show that this worker leads");
        await clock.sleep(BEAT_MS / 5, signal);
        url = await database.ready(signal);
      }
    }
  }

  async function work(term: Term): Promise<void> {
    const lead = { database: withLead(database, term, clock), assertMayRun: term.assertLeads };
    const worker = (deps.createWorker ?? createWorker)({ jobs: createJobs(lead), clock, log });
    const { number, interrupted } = term;
    log.info({ term: number, ...(interrupted.length > 0 && { interrupted }) }, "this worker leads");
    goUp();
    let reason: unknown = new LockedError("another worker took the lead");
    let patienceMs: number | undefined = END_WITHIN_MS;
    let isEnded = false;
    worker.start();
    try {
      await keep(term);
      log.warn({ term: number }, "another worker leads now; the jobs of this one end");
    } catch (error) {
      reason = error;
      patienceMs = undefined;
      throw error;
    } finally {
      isEnded = await worker.stop(reason, patienceMs);
      // What still runs could hold rows that the next leader wants. It ends our sessions if we do not resign.
      if (isEnded) await term.resign();
      else await lock.release();
    }
    if (!isEnded)
      throw new StoreError("a run did not end after another worker took the lead", {
        hint: "start this worker again",
      });
    if (!standsBy) throw reason;
  }

  for (;;) await work(await standBy());
}

/** A database that is ready when this process also leads. */
function withLead(database: KeptDatabase, term: Term, clock: Clock): KeptDatabase {
  return {
    ...database,
    async ready(signal) {
      for (;;) {
        const url = await database.ready(signal);
        const leads = await term.keep(url).catch(() => null);
        signal.throwIfAborted();
        if (leads === true) return url;
        // When the lead is lost the job is stopped soon.
        await clock.sleep(leads === false ? LONGEST_SLEEP_MS : BEAT_MS / 5, signal);
      }
    },
  };
}
