import { defaultsOf } from "./setting.ts";
import type { Surroundings } from "./setting-values.ts";
import { SETTINGS, type SettingValues } from "./settings.ts";

/** The value of every setting where nothing is set. */
export function defaultValues(surroundings: Partial<Surroundings> = {}): SettingValues {
  return defaultsOf(SETTINGS, surroundings);
}
