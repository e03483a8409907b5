import type { Option } from "commander";
import { flagOf } from "../src/base/config/setting.ts";
import { SETTING_KEYS, SETTINGS, type SettingKey, settingsFor } from "../src/base/config/settings.ts";
import { EXIT, type ExitName } from "../src/base/errors.ts";
import { COMMANDS } from "../src/cli/commands.ts";
import {
  type CommandDeclaration,
  type CommandEntry,
  createCommand,
} from "../src/cli/usage/create-command.ts";

/** Every command may end with these. */
const COMMON: readonly ExitName[] = ["done", "bug", "usage", "interrupted", "terminated"];

/** `docs/cli.md`: every command with its flags and examples, from the commands themselves. */
export async function cliPage(): Promise<string> {
  return `# Commands

For users of the command line: each command with its flags, examples and exit codes. \`npm run docs:cli\` writes this page from the code, and
\`--help\` of a command prints the same.

Results go to stdout, the log and progress to stderr. [Settings](settings.md) are flags of the commands that read them, and may be in the
environment too. The words of the exit codes are in [contract.md](contract.md#exit-codes). Each command may end with ${codes(COMMON)}, and has these flags:

- \`--verbose\`: stack traces, and a debug log unless \`--log-level\` says otherwise
- \`--no-color\`: no colours; also \`NO_COLOR\`, while \`FORCE_COLOR\` asks for them
- \`--log-level\`, \`--log-format\`: [the log](settings.md#docmirror_log_level)
- \`--help\`: flags, settings and defaults

In a checkout and in a project that depends on docmirror, type \`npx docmirror\` instead of \`docmirror\`.

## Completion

\`docmirror completion\` prints a script for a shell, made from the same commands. Once, and again after an upgrade:

| shell | install it by |
| --- | --- |
| bash, with bash-completion | \`docmirror completion bash > ~/.local/share/bash-completion/completions/docmirror\` |
| bash, without | \`docmirror completion bash >> ~/.bashrc\` |
| zsh | \`docmirror completion zsh > ~/.zfunc/_docmirror\`, with \`fpath=(~/.zfunc $fpath)\` before \`compinit\` in \`~/.zshrc\` |
| fish | \`docmirror completion fish > ~/.config/fish/completions/docmirror.fish\` |

The folders must be there. The scripts complete the name \`docmirror\`, so they serve an install where that is the name to type.

${(await Promise.all(COMMANDS.map(section))).join("\n")}`;
}

/** The settings that a command has as flags, without those of the log, which every command has. */
export const settingsOf = ({ settings }: CommandDeclaration): SettingKey[] =>
  settingsFor(...settings).filter((key) => !isOfLog(key));

export const isOfLog = (key: SettingKey): boolean => settingsFor("log").includes(key);

const flagsOf = (keys: readonly SettingKey[]) => keys.map((key) => `--${flagOf(SETTINGS[key])}`);

async function section(entry: CommandEntry): Promise<string> {
  const { name, summary } = entry;
  const { command: declaration } = await entry.load();
  const command = createCommand(entry, declaration);
  const settings = settingsOf(declaration);
  const shared = ["--verbose", "--no-color", ...flagsOf(SETTING_KEYS)];
  const places = command.registeredArguments.map((place) => {
    const dots = place.variadic ? "..." : "";
    const word = place.required ? `<${place.name()}${dots}>` : `[${place.name()}${dots}]`;
    return { word, does: withChoices(place.description, place.argChoices) };
  });
  const flags = command.options.filter((option) => !option.hidden && !shared.includes(option.long ?? ""));
  const own = [
    ...places.map(({ word, does }) => `- \`${word}\`: ${does}`),
    ...flags.map((option) => `- \`${option.flags}\`: ${flagWords(option)}`),
  ];
  const flagList = flagsOf(settings)
    .map((flag) => `\`${flag}\``)
    .join(", ");
  const examples = declaration.examples.map(([line, does]) => `# ${does}\ndocmirror ${line}`);
  const paragraphs = [
    `## ${name}`,
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`,
    `\`docmirror ${[name, ...places.map(({ word }) => word), "[flags]"].join(" ")}\``,
    own.join("\n"),
    settings.length === 0 ? "" : `Settings: ${flagList}.`,
    `\`\`\`sh\n${examples.join("\n")}\n\`\`\``,
    `Exit codes: ${codes([...COMMON, ...exitsOf(settings), ...(declaration.exits ?? [])])}.`,
  ];
  return `${paragraphs.filter((text) => text !== "").join("\n\n")}\n`;
}

/** What follows from the settings. */
function exitsOf(settings: readonly SettingKey[]): ExitName[] {
  const database: ExitName[] = settings.includes("databaseUrl") ? ["database", "schemaVersion"] : [];
  const upstream: ExitName[] = settings.includes("baseUrl") ? ["upstream", "interfaceChanged"] : [];
  return [...database, ...upstream];
}

function codes(keys: readonly ExitName[]): string {
  return [...new Set(keys.map((key) => EXIT[key]))].toSorted((a, b) => a - b).join(", ");
}

function flagWords({ description, argChoices, defaultValue }: Option): string {
  const fallback = defaultValue === undefined ? "" : ` [default: ${defaultValue}]`;
  return `${withChoices(description, argChoices)}${fallback}`;
}

function withChoices(text: string, choices: readonly string[] | undefined): string {
  return choices === undefined || choices.every((choice) => text.includes(choice))
    ? text
    : `${text}: ${choices.join(", ")}`;
}
