import { randomInt } from "node:crypto";
import type { Logger } from "../../base/log.ts";
import { connect, nameInstance, renewConnections } from "../connection/connect.ts";
import { type Loan, lend } from "../connection/loan.ts";
import { createProbe, type Probe } from "../connection/probe.ts";
import type { Sql } from "../connection/sql.ts";
import { createLeases, type Leases } from "./leases.ts";

/** The connections that all work of a process shares. A run uses up to four at once, a refresh one, notices one. */
const MOST = 6;

/** The connections of a process to the mirror's database. They are opened when they are used first. */
export interface Connections {
  /** Shared by all work of the process. What it commits outlasts a crash of the server. */
  readonly sql: Sql;
  readonly leases: Leases;
  /** The connection of the leases. It finds out that a server that fell silent was replaced. */
  readonly probe: Probe;
  /** The name of the process, with which the application names of all its sessions end. */
  readonly instance: string;
  /** The URL, for sessions of another kind. They have the name too. */
  url(): string;
  /** Gives all connections up, because the server takes no writes any more: another one may have taken its place. */
  renew(): void;
  /** The pool for one piece of work, beside that of others. */
  lend(): Loan;
  /** Cancels the statements of this process that wait for a lock of another session. Never rejects. */
  cancelWaits(): Promise<void>;
  /** Ends them. Statements that run get 5 s. May be called twice. */
  end(): Promise<void>;
}

/**
 * `program` is shown in pg_stat_activity, such as "docmirror sync". `url` may be a function, where the URL may change while the process
 * lives: as where a password is rotated.
 */
export function createConnections(
  url: string | (() => string),
  { program, log }: { program: string; log: Logger },
): Connections {
  const instance = randomInt(36 ** 5, 36 ** 6).toString(36);
  const named = () => nameInstance(typeof url === "string" ? url : url(), instance);
  // A process may do nothing for hours. Its next statement would meet the end of a session that the server found idle for too long.
  const patient = { idle_session_timeout: "0" };
  // A run continues after the server has crashed and restarted, so all confirmed commits must still be there.
  const session = { ...patient, synchronous_commit: "on" };
  const sql = connect(named, { applicationName: program, max: MOST, session, log });
  const own = connect(named, { applicationName: `${program} lease`, max: 1, session: patient });
  const probe = createProbe(own);
  const renew = () => renewConnections(sql);

  async function cancelWaits(): Promise<void> {
    await own`
      select pg_cancel_backend(pid) from pg_stat_activity
      where datname = current_database() and usename = session_user and wait_event_type = 'Lock'
        and position(${` #${instance}`} in application_name) > 0`.catch(() => {});
  }

  return {
    sql,
    leases: createLeases(probe, { instance, log }),
    probe,
    instance,
    url: named,
    renew,
    lend: () => lend(sql, { cancelWaits, renew }),
    cancelWaits,
    async end() {
      await Promise.all([sql.end({ timeout: 5 }), own.end({ timeout: 5 })]);
    },
  };
}
