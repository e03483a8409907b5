import type { Proxies } from "../config/proxies.ts";

/** What a run reads of the settings (`docs/contract.md`, "Settings"), and where it writes. */
export interface SyncSettings {
  databaseUrl: string;
  baseUrl: URL;
  /** @default the service is asked directly */
  proxies?: Proxies | undefined;
  pageSize: number;
  rate: number;
  concurrency: number;
  timeoutMs: number;
  retries: number;
  maxBodyMb: number;
  /** `auto` is every night where a full walk takes at most 30 minutes at this rate, else 7. */
  fullEveryDays: number | "auto";
  /** The share of the known records that a whole walk may miss, 0 to 1, before it deletes nothing. */
  maxDeleteRatio: number;
  sourceTimezone: string;
  /** From this age on an open build is stuck, and is asked for far more rarely. */
  stuckAfterMs: number;
}
