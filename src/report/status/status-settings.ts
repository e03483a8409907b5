import type { SettingKey } from "../../base/config/settings.ts";
import type { Config } from "../../base/config.ts";

/** The settings that the document of the mirror's state depends on. Each command that gives it takes all their flags. */
export const STATUS_SETTINGS = [
  "stuckAfterMs",
  "staleAfterMs",
  "sourceTimezone",
  "syncCron",
  "watchCron",
  "timezone",
] as const satisfies readonly SettingKey[];

export type StatusSettings = Pick<Config, (typeof STATUS_SETTINGS)[number]>;
