import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { Meters } from "../../base/metrics/meters.ts";
import { type Client, createClient } from "../api/client.ts";
import type { HostPace } from "../api/host-pace.ts";
import type { SyncSettings } from "../lists/sync-settings.ts";

/**
 * Creates the client of a run from its settings. `onWarning` is called with warnings for the summary of the
 * run.
 */
export function createUpstreamClient(
  {
    settings,
    clock,
    log,
    pace,
    meters,
  }: { settings: SyncSettings; clock: Clock; log: Logger; pace?: HostPace; meters?: Meters },
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
    meter: meters?.requests,
  });
}
