/**
 * The works that one process of a mirror does at a time: a run, the lead, the pages of the files. Each is a lease, a row with a term
 * and an end by the clock of Postgres:
 *
 *   free ──take: begins a term──▶ held ──keep, each few seconds──▶ held
 *   held ──release, or the session of the holder is gone, or nobody renewed it for 30 s──▶ free
 *
 * A holder that was frozen, or cut off, does not know that its lease is over. So each transaction that writes proves its term, and a
 * takeover waits for those that are open: no transaction of an old holder commits after it. Nothing here belongs to a session, so a
 * pooler in any mode will do, and a role that may not write the mirror can take no lease.
 */
import { hostname } from "node:os";
import { LockedError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { toSecond } from "../../base/text.ts";
import type { Probe } from "../connection/probe.ts";
import { type AnySql, type Sql, statement, type TransactionSql, withTransaction } from "../connection/sql.ts";
import { LOCK_NOT_HAD, sqlstateOf } from "../connection/store-errors.ts";
import type { LeaseName } from "../schema/leases.ts";

const KEEP_LEASE = statement("keep_lease", import.meta.url);
const TAKE_LEASE = statement<{ term: number }>("take_lease", import.meta.url);
const LOOK_AT_LEASE = statement<SeenRow>("look_at_lease", import.meta.url);

/** A lease that nobody renews lasts so long. */
const LASTS_MS = 30_000;
/** The time between two renewals by its holder. */
export const RENEW_MS = 5000;
/** A takeover waits so long for the open transactions of the last holder. Until the next try the lease counts as held. */
const LOCK_TIMEOUT = "3s";
const NO_RIGHT = "42501";

/** A process that has a lease. The times are by the clock of Postgres. */
export interface Holder {
  term: number;
  /** A random name of the process, with which the application names of its sessions end. */
  instance: string;
  pid: number;
  host: string;
  since: string;
  renewed_at: string;
}

/** A lease that this process took. */
export interface Lease {
  readonly term: number;
  /**
   * Renews it. False is for good: another process has taken it over, or it was released. Throws `StoreError` while Postgres does
   * not answer: then nobody knows. Concurrent calls share one answer.
   */
  keep(): Promise<boolean>;
  /**
   * In each transaction that writes: nobody takes the lease over before that ends. Throws `LockedError` where somebody has, or it was
   * released.
   */
  assertHolds(tx: TransactionSql): Promise<void>;
  /** Frees it at once. Never throws: without an answer the lease ends by itself. May be called twice. */
  release(): Promise<void>;
}

export interface Leases {
  /** The lease, or who has it. Throws `StoreError`. */
  take(name: LeaseName): Promise<Lease | Holder>;
}

/** The error of one who writes without the lease. */
export const lostLease = (name: LeaseName) =>
  new LockedError(`another process has the lease of the ${name} by now`);

export const isLease = (taken: Lease | Holder): taken is Lease => "keep" in taken;

/**
 * The leases of one process. `probe` lasts as long as the process, and no renewal waits there for other work. All sessions of the
 * process end their names with `instance`.
 */
export function createLeases({ ask }: Probe, { instance, log }: { instance: string; log: Logger }): Leases {
  /** Our connection has a session of its own. Else a pooler lends it one, which outlives us. */
  let hasSession = false;

  function hold(name: LeaseName, term: number): Lease {
    let isReleased = false;
    let keeping: Promise<boolean> | null = null;

    const keep = () =>
      ask(`keep the lease of the ${name}`, async (sql) => {
        const kept = await KEEP_LEASE(sql, { name, term, hasSession, lastsMs: LASTS_MS });
        return kept.count > 0;
      });

    return {
      term,
      async keep() {
        if (isReleased) return false;
        keeping ??= keep().finally(() => {
          keeping = null;
        });
        return keeping;
      },
      async assertHolds(tx) {
        const own = await tx`
          select from sync.leases where name = ${name} and term = ${term} and until > '-infinity' for key share`;
        if (own.count === 0) throw lostLease(name);
      },
      async release() {
        if (isReleased) return;
        isReleased = true;
        await ask(
          `give up the lease of the ${name}`,
          (sql) => sql`
            update sync.leases set until = '-infinity' where name = ${name} and term = ${term}`,
        ).catch(() => {});
      },
    };
  }

  return {
    async take(name) {
      let seen: Seen | null = null;
      const take = (sql: Sql) =>
        withTransaction(sql, async (tx) => {
          seen = await look(tx, name);
          hasSession = seen.hasSession;
          const { holder } = seen;
          if (holder && seen.isHeld) return holder;
          if (holder && seen.isSilent && holder.instance !== instance) await oust(tx, name, holder, log);
          if (holder === null) await addRow(tx, name);
          const [taken] = await TAKE_LEASE(tx, {
            name,
            instance,
            pid: process.pid,
            host: hostname(),
            hasSession,
            lastsMs: LASTS_MS,
          });
          return taken ? hold(name, taken.term) : null;
        });
      return ask(`take the lease of the ${name}`, async (sql) => {
        for (;;) {
          const taken = await take(sql).catch((error: unknown) => {
            if (sqlstateOf(error) === LOCK_NOT_HAD && seen?.holder) return seen.holder;
            throw error;
          });
          // Null: another process took it between the look and the try.
          if (taken !== null) return taken;
        }
      });
    },
  };
}

interface Seen {
  /** The last one who took it; null where nobody ever did. */
  holder: Holder | null;
  isHeld: boolean;
  /** It was neither released nor renewed in time. */
  isSilent: boolean;
  hasSession: boolean;
}

type SeenRow = Omit<Seen, "holder" | "hasSession"> & Holder & { backendPid: number; isTaken: boolean };

async function look(tx: TransactionSql, name: LeaseName): Promise<Seen> {
  const rows = await LOOK_AT_LEASE(tx, { lockTimeout: LOCK_TIMEOUT, name });
  const [row] = rows;
  if (row === undefined) throw new Error("a look at a lease gave no row");
  const { backendPid, isTaken, isHeld, isSilent, term, instance, pid, host, since, renewed_at } = row;
  const holder = isTaken ? { term, instance, pid, host, since, renewed_at } : null;
  return { holder, isHeld, isSilent: isSilent && !isHeld, hasSession: rows.state.pid === backendPid };
}

/**
 * Ends what a process has that died, froze or was cut off: its sessions, which keep their transactions and the locks of rows, and its
 * other leases, so that its run ends with its lead.
 */
async function oust(tx: TransactionSql, name: LeaseName, { instance, pid, host }: Holder, log: Logger) {
  const who = { lease: name, pid, host };
  try {
    const ended = await tx.savepoint(
      (inner) => inner`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()
          and position(${` #${instance}`} in application_name) > 0`,
    );
    if (ended.count > 0) log.warn(who, "the process that had the lease was silent; ended its sessions");
  } catch (error) {
    if (sqlstateOf(error) !== NO_RIGHT) throw error;
    log.warn(
      who,
      "the process that had the lease is silent, and this role may not end its sessions: grant it pg_signal_backend",
    );
  }
  await tx`
    update sync.leases set term = term + 1, until = '-infinity'
    where instance = ${instance} and name <> ${name} and until > '-infinity'`;
}

/** The process that has it now; null where none has. A standby knows it too. */
export async function findHolder(sql: AnySql, name: LeaseName): Promise<Holder | null> {
  const [holder] = await sql<Holder[]>`
    select term, instance, pid, host, since, renewed_at from sync.leases as lease where name = ${name} and sync.is_held(lease)`;
  return holder ?? null;
}

/** The row of a lease that nobody ever took. Of several that add it at once one does; an upsert of two keys would fail in the others. */
const addRow = (tx: TransactionSql, name: LeaseName) => tx`
  insert into sync.leases (name, term, instance, pid, host, since, renewed_at, until)
  values (${name}, 0, '', 0, '', clock_timestamp(), clock_timestamp(), '-infinity') on conflict do nothing`;

/**
 * For a transaction that must meet no holder, as that of a migration: nobody has the lease, and nobody takes it before the transaction
 * ends. False where somebody has it. Older schemas have no leases: the migration that makes them ends the runs of older programs.
 */
export async function tryReserve(tx: TransactionSql, name: LeaseName): Promise<boolean> {
  const [made] = await tx`select where to_regclass('sync.leases') is not null`;
  if (made === undefined) return true;
  // The look comes first: the statement behind it would wait for the open transactions of a holder.
  if ((await findHolder(tx, name)) !== null) return false;
  await addRow(tx, name);
  const reserved = await tx`
    update sync.leases as lease set term = term + 1, instance = '', pid = ${process.pid}, host = ${hostname()}, until = '-infinity',
      since = clock_timestamp(), renewed_at = clock_timestamp(), backend_pid = null, backend_start = null
    where name = ${name} and not sync.is_held(lease)`;
  return reserved.count > 0;
}

/** For people, such as "process 4711 on host, since 2026-05-01 03:04:05Z". */
export function describeHolder({ pid, host, since }: Holder): string {
  return `process ${pid} on ${host}, since ${toSecond(since)}`;
}
