import { type Client, createClient } from "../api/client.ts";
import type { Clock } from "../clock.ts";
import type { Logger } from "../log.ts";
import type { SyncSettings } from "./sync-settings.ts";

/** The client that a run's settings ask for. */
export function createUpstreamClient(
  { settings, clock, log }: { settings: SyncSettings; clock: Clock; log: Logger },
  signal: AbortSignal,
): Client {
  return createClient({
    baseUrl: settings.baseUrl,
    concurrency: settings.concurrency,
    ratePerSecond: settings.rate,
    timeoutMs: settings.timeoutMs,
    retries: settings.retries,
    maxBodyBytes: settings.maxBodyMb * 1024 * 1024,
    clock,
    log,
    signal,
  });
}
