import type { SettingsFor } from "../../base/config/settings.ts";

/** The settings that the document of the mirror's state depends on. */
export type StatusSettings = SettingsFor<"status">;
