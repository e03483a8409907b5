import { readdirSync, readFileSync } from "node:fs";
import type { Sql } from "../../src/store/connection/sql.ts";

/** Linux counts in hundredths of a second. */
const TICK_MS = 10;

/**
 * The processor time that the server of this connection has used, in milliseconds, without this connection. Processes that
 * have ended are counted too. Null where the server is not a process of this machine that may be looked at.
 */
export async function readServerCpu(sql: Sql): Promise<number | null> {
  const [own] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const backend = statOf(own?.pid ?? 0);
  if (backend === null) return null;
  const children = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => statOf(Number(pid)) ?? [])
    .filter(({ pid, parent }) => parent === backend.parent && pid !== backend.pid);
  const server = statOf(backend.parent);
  return (
    (children.reduce((sum, { ticks }) => sum + ticks, 0) + (server?.ticks ?? 0) + (server?.reaped ?? 0)) *
    TICK_MS
  );
}

function statOf(pid: number): { pid: number; parent: number; ticks: number; reaped: number } | null {
  try {
    // The name of a process may have spaces and brackets.
    const [, rest = ""] = /\) (.*)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    const fields = rest.split(" ").map(Number);
    const [parent = 0, user = 0, system = 0, reapedUser = 0, reapedSystem = 0] = [1, 11, 12, 13, 14].map(
      (at) => fields[at],
    );
    return { pid, parent, ticks: user + system, reaped: reapedUser + reapedSystem };
  } catch {
    return null;
  }
}
