import { expect, test } from "vitest";
import { SETTING_KEYS, SETTINGS } from "../../src/base/config/settings.ts";
import { COMMANDS } from "../../src/cli/commands.ts";

const load = () => Promise.all(COMMANDS.map(async ({ summary, load }) => (await load())(summary)));

test("each command that takes the URL of a database takes its password apart from it", async () => {
  for (const command of await load()) {
    const flags = command.options.map(({ long }) => long);
    expect(flags.includes("--database-password"), command.name()).toBe(flags.includes("--database-url"));
  }
});

test("each setting is a flag of a command that uses it", async () => {
  const users = COMMANDS.filter(({ name }) => name !== "config");
  const commands = await Promise.all(users.map(async ({ summary, load }) => (await load())(summary)));
  const flags = commands.flatMap(({ options }) => options.map(({ long }) => long));
  expect(flags).toEqual(expect.arrayContaining(SETTING_KEYS.map((key) => `--${SETTINGS[key].flag}`)));
});
