import type { SettingKey } from "../../base/config/settings.ts";
import type { Config } from "../../base/config.ts";

/** The settings that the stored answers depend on. Each command that may refresh them takes all their flags. */
export const REFRESH_SETTINGS = ["sourceTimezone", "stuckAfterMs"] as const satisfies readonly SettingKey[];

export type RefreshSettings = Pick<Config, (typeof REFRESH_SETTINGS)[number]>;
