import type { SettingsFor } from "../../base/config/settings.ts";

/** The settings that the stored answers depend on. */
export type RefreshSettings = SettingsFor<"reports">;
