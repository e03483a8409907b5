import type { SettingsFor } from "../../base/config/settings.ts";
import type { Config } from "../../base/config.ts";

/** The settings of a run, with the service and the database. In a `Config` these two may be null. */
export interface SyncSettings extends SettingsFor<"requests" | "sync">, Pick<Config, "proxies"> {
  readonly databaseUrl: string;
  readonly baseUrl: URL;
}
