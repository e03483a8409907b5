import { withSql } from "../../src/store/connection/connect.ts";
import { isRecoveryConflict } from "../../src/store/connection/recovery-conflict.ts";
import { freePort } from "./free-port.ts";
import { PLANTED_SECRET } from "./planted-secret.ts";
import { createSystemPostgres, type SystemServer } from "./system-postgres.ts";

type Which = "primary" | "replica";

/** In every URL of the two servers. */
export { PLANTED_SECRET as PASSWORD } from "./planted-secret.ts";

const SETTINGS = {
  fsync: "off",
  max_connections: 30,
  // A query that holds up the replay is cancelled soon, not after half a minute.
  max_standby_streaming_delay: "100ms",
  wal_retrieve_retry_interval: "100ms",
};

export interface Replicated extends AsyncDisposable {
  primaryUrl: string;
  replicaUrl: string;
  /** Runs SQL at one of the two, and returns its rows. */
  ask(at: Which, statement: string): Promise<Record<string, unknown>[]>;
  stop(which: Which): Promise<void>;
  /** Its connections stay, and are silent, until it is stopped. */
  freeze(which: Which): void;
  /** Starts one again that was stopped. */
  start(which: Which): Promise<void>;
}

/** A primary and a streaming replica of it, both empty. Call it only where there is a POSTGRES_BIN. */
export async function startReplicated(): Promise<Replicated> {
  const postgres = createSystemPostgres(PLANTED_SECRET);
  const ports = { primary: await freePort(), replica: await freePort() };
  const servers = new Map<Which, SystemServer>();

  async function start(which: Which): Promise<void> {
    servers.set(which, await postgres.start(which, ports[which], SETTINGS));
  }

  async function stop(which: Which): Promise<void> {
    await servers.get(which)?.stop();
  }

  async function end(): Promise<void> {
    await stop("replica");
    await stop("primary");
    postgres.remove();
  }

  try {
    postgres.init("primary");
    await start("primary");
    postgres.copy(ports.primary, "replica");
    await start("replica");
  } catch (error) {
    await end();
    throw error;
  }
  return {
    primaryUrl: postgres.url(ports.primary),
    replicaUrl: postgres.url(ports.replica),
    ask: (which, statement) =>
      withSql(postgres.url(ports[which]), { applicationName: "docmirror test", max: 1 }, (sql) =>
        untilNoConflict(async () => [...(await sql.unsafe(statement))]),
      ),
    start,
    stop,
    freeze: (which) => servers.get(which)?.freeze(),
    [Symbol.asyncDispose]: end,
  };
}

/** A replica that catches up after a pause cancels a query at once, and may do so several times. */
async function untilNoConflict<T>(read: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await read();
    } catch (error) {
      if (!isRecoveryConflict(error) || tries === 20) throw error;
    }
  }
}
