import type { SettingKey } from "../../base/config/settings.ts";
import type { Config } from "../../base/config.ts";

/** The settings for requests to the service. */
export const REQUEST_SETTINGS = [
  "pageSize",
  "ratePerSecond",
  "concurrency",
  "timeoutMs",
  "retries",
  "maxBodyBytes",
] as const satisfies readonly SettingKey[];

/** The settings that a sync reads. Each command that syncs takes the flags of all of them. */
export const SYNC_SETTINGS = [
  ...REQUEST_SETTINGS,
  "fullEveryDays",
  "maxDeleteRatio",
  "sourceTimezone",
  "stuckAfterMs",
  "replicaLagMs",
  "content",
  "docsUrl",
  "contentBudgetMs",
] as const satisfies readonly SettingKey[];

/** The settings of a run, with the service and the database. In a `Config` these two may be null. */
export interface SyncSettings extends Pick<Config, (typeof SYNC_SETTINGS)[number] | "proxies"> {
  readonly databaseUrl: string;
  readonly baseUrl: URL;
}
