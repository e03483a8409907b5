import { type Client, createClient } from "../api/client.ts";
import type { HostPace } from "../api/host-pace.ts";
import type { Clock } from "../clock.ts";
import type { Logger } from "../log.ts";
import type { SyncSettings } from "./sync-settings.ts";

/**
 * Creates the client of a run from its settings. `onWarning` is called with warnings for the summary of the
 * run.
 */
export function createUpstreamClient(
  { settings, clock, log, pace }: { settings: SyncSettings; clock: Clock; log: Logger; pace?: HostPace },
  signal: AbortSignal,
  onWarning: (message: string) => void,
): Client {
  return createClient({
    ...settings,
    ...(pace && { pace }),
    clock,
    log,
    signal,
    onWarning,
  });
}
