import { flagOf, type Setting } from "../src/base/config/setting.ts";
import { SETTING_KEYS, SETTINGS, type SettingKey } from "../src/base/config/settings.ts";
import { COMMANDS } from "../src/cli/commands.ts";
import { isOfLog, settingsOf } from "./cli-page.ts";

/** What a value is counted in, by the word for it in the help. */
const UNITS: Readonly<Record<string, string>> = {
  ms: "milliseconds",
  MB: "megabytes",
  days: "days",
  minutes: "minutes",
  duration: "a number with its unit, ms s m h d or w, as in 1h30m",
  cron: "five fields of cron: minute, hour, day of the month, month, day of the week; with both day fields it is due on either",
  zone: "an IANA name, such as Etc/UTC or America/Chicago",
  ratio: "a share, 0 to 1",
};

/** `docs/settings.md`: every setting, and the commands that read it. */
export async function settingsPage(): Promise<string> {
  const readers = new Map<SettingKey, string[]>(SETTING_KEYS.map((key) => [key, []]));
  for (const { name, load } of COMMANDS) {
    // It prints all settings and uses none.
    if (name === "config") continue;
    for (const key of settingsOf((await load()).command)) readers.get(key)?.push(name);
  }
  return `# Settings

For operators: each setting with its flag, default and readers. \`npm run docs:settings\` writes this page and \`.env.example\` from the code.

A setting comes from the first of these that has it:

1. its flag,
2. its name in the environment, or \`NAME_FILE\` there, which names a file that holds the value, as is usual for passwords,
3. the file \`.env\` in the working directory, where \`NAME_FILE\` works too,
4. its default.

In \`.env\` a \`#\` begins a comment at the start of a line and after a blank; a value in quotes is taken as it is. The file may be in UTF-8 or UTF-16.

A wrong name or value stops the program before it does anything, and a name with \`NAME_FILE\` beside it is wrong too. So does a line of \`.env\` that
cannot be read, or a name there that is almost one of these.
\`docmirror config\` prints the values in force and where each came from, with secrets masked. [.env.example](../.env.example) is a file to copy.

The variables \`HTTP_PROXY\`, \`HTTPS_PROXY\` and \`NO_PROXY\` are read as well ([how](operations.md#through-a-proxy)).

${SETTING_KEYS.map((key) => section(SETTINGS[key], isOfLog(key) ? null : (readers.get(key) ?? []))).join("\n")}`;
}

/** `readers` is null for a setting of every command. */
function section(setting: Setting, readers: readonly string[] | null): string {
  const { name, value, bare, default: fallback, without, meaning } = setting;
  const links = readers?.map((command) => `[${command}](cli.md#${command})`).join(", ");
  const lines = [
    `- flag: \`--${flagOf(setting)} ${bare === undefined ? `<${value}>` : `[${value}]`}\`${bare === undefined ? "" : `; alone it is \`${bare}\``}`,
    `- default: ${fallback === null ? without : `\`${fallback}\``}`,
    ...(UNITS[value] === undefined ? [] : [`- value: ${UNITS[value]}`]),
    `- read by: ${links === undefined ? "every command" : links === "" ? "no command yet" : links}`,
  ];
  return `## ${name}

${meaning.charAt(0).toUpperCase()}${meaning.slice(1)}.

${lines.join("\n")}
`;
}
