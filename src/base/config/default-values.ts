import type { Surroundings } from "./setting-values.ts";
import { SETTING_KEYS, SETTINGS, type Setting, type SettingKey, type SettingValues } from "./settings.ts";

/** The value of every setting where nothing is set. */
export function defaultValues({
  cwd = process.cwd(),
  isTty = false,
}: Partial<Surroundings> = {}): SettingValues {
  const values = SETTING_KEYS.map((key) => [key, defaultValue(key, { cwd, isTty })]);
  return Object.fromEntries(values) as SettingValues;
}

function defaultValue(key: SettingKey, surroundings: Surroundings): unknown {
  const setting: Setting = SETTINGS[key];
  if (setting.default === null) return null;
  const parsed = setting.parse(setting.default, surroundings);
  if ("value" in parsed) return parsed.value;
  throw new Error(`the default of ${setting.name} ${parsed.fault}`);
}
