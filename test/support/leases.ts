import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { createProbe } from "../../src/store/connection/probe.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import { createConnections } from "../../src/store/ledger/connections.ts";
import { createLeases, isLease, type Lease } from "../../src/store/ledger/leases.ts";
import { type RunLeaseOptions, takeRunLease } from "../../src/store/ledger/run-lease.ts";
import { startRun } from "../../src/store/ledger/run-ledger.ts";
import type { LeaseName } from "../../src/store/schema/leases.ts";
import type { RunKind } from "../../src/store/schema/runs.ts";

/** What another process says of itself. It lives as long as nobody ends it. */
export const HELD = (name: LeaseName, term = 1) => `
  insert into sync.leases (name, term, instance, pid, host, since, renewed_at, until)
  values ('${name}', ${term}, 'other1', 4711, 'host', clock_timestamp(), clock_timestamp(), 'infinity');`;

/** Another process of this database, with connections of its own. */
export function otherProcess(databaseUrl: string, program = "docmirror other") {
  const connections = createConnections(databaseUrl, { program, log: silentLog });
  return {
    ...connections,
    takeRun: (options: Partial<RunLeaseOptions> = {}) =>
      takeRunLease(connections, {
        clock: systemClock,
        signal: new AbortController().signal,
        log: silentLog,
        ...options,
      }),
    /** Ends its sessions from outside, as if it were killed. */
    kill: (sql: Sql) => sql`
      select pg_terminate_backend(pid, 10000) from pg_stat_activity
      where datname = current_database() and position(${` #${connections.instance}`} in application_name) > 0`,
    [Symbol.asyncDispose]: connections.end,
  };
}

/** The lease of a run for a process that comes after all others of this database. */
export async function nextLease(sql: Sql): Promise<Lease> {
  await sql`update sync.leases set until = '-infinity'`;
  const taken = await createLeases(createProbe(sql), { instance: "next01", log: silentLog }).take("run");
  if (isLease(taken)) return taken;
  throw new Error("a lease that was given up is held");
}

/** A run of that process. */
export const openRun = async (sql: Sql, kind: RunKind, startedAt: string) =>
  startRun(sql, kind, startedAt, await nextLease(sql));

/** Keeps refreshes of the reports waiting, until the connection, which is one, is rolled back. */
export const holdRefreshes = (sql: Sql) =>
  sql.unsafe("begin; lock table rollup.state in share row exclusive mode");
