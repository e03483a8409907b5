import { systemClock } from "../../src/clock.ts";
import { silentLog } from "../../src/log.ts";
import { runSync, type SyncOptions, type SyncResult, type SyncSettings } from "../../src/sync/run.ts";

/** Runs one sync against a server on loopback, as fast as it goes unless told otherwise. */
export function syncOnce(
  databaseUrl: string,
  baseUrl: URL,
  options: Partial<Omit<SyncOptions, "settings">> & { settings?: Partial<SyncSettings> } = {},
): Promise<SyncResult> {
  const { settings, ...rest } = options;
  return runSync({
    clock: systemClock,
    log: silentLog,
    signal: new AbortController().signal,
    ...rest,
    settings: {
      databaseUrl,
      baseUrl,
      pageSize: 100,
      rate: 0,
      concurrency: 4,
      timeoutMs: 10_000,
      retries: 2,
      maxBodyMb: 64,
      fullEveryDays: 7,
      maxDeleteRatio: 0.05,
      sourceTimezone: "Etc/UTC",
      stuckAfterMs: 7_200_000,
      ...settings,
    },
  });
}
