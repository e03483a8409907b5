import { expect, test } from "vitest";
import { SETTING_KEYS, settingsFor } from "../../src/base/config/settings.ts";
import { COMMANDS } from "../../src/cli/commands.ts";

test("each setting is a flag of a command that uses it", async () => {
  const users = COMMANDS.filter(({ name }) => name !== "config");
  const used = await Promise.all(
    users.map(async ({ load }) => settingsFor(...(await load()).settings, "log")),
  );
  expect(new Set(used.flat())).toEqual(new Set(SETTING_KEYS));
});
