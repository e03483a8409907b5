import type { Setting } from "../base/config/setting.ts";
import { SETTING_KEYS, SETTINGS } from "../base/config/settings.ts";
import { renderTable } from "./output/table.ts";
import type { CommandDeclaration } from "./usage/create-command.ts";

export const command: CommandDeclaration = {
  settings: SETTING_KEYS,
  examples: [
    ["config", "every setting with its value and where it came from"],
    ["config --rate 2 --json", "the same as JSON, as if --rate 2 were given"],
  ],
  hasJson: true,
  run: async ({ settings, out, print }) => {
    const facts = settings.map(({ name, flag, value, source }) => [
      name,
      { value, source, flag: `--${flag}` },
    ]);
    await print(Object.fromEntries(facts), () => {
      const rows = settings.map(({ key, name, value, source }) => {
        const setting: Setting = SETTINGS[key];
        return [name, value ?? `(${setting.without})`, source];
      });
      return renderTable({ head: ["setting", "value", "from"], rows }, out);
    });
    return 0;
  },
};
