/**
 * A command is declared once: what it takes, what it does, how it may end. Its help, its completion and its section of
 * docs/cli.md are made from that. Flags of settings come from `base/config`, so that a name and a default stand once.
 */
import { Command, CommanderError, Option } from "commander";
import { programName, spellProgram } from "../../base/config/program.ts";
import { flagOf, type Setting, type SettingUse } from "../../base/config/setting.ts";
import { SETTINGS, type SettingKey, settingsFor } from "../../base/config/settings.ts";
import { ConfigError, type ExitName } from "../../base/errors.ts";
import type { CommandBody } from "../context/run-command.ts";

/** A command line without the program's name, and what it does. */
export type Example = readonly [commandLine: string, does: string];

export interface CommandEntry {
  readonly name: string;
  /** One line, as in the list of commands. */
  readonly summary: string;
  /** Loads the command's own file, and all that it imports. */
  load(): Promise<{ readonly command: CommandDeclaration }>;
}

export interface CommandDeclaration<Options = object> extends CommandBody<Options> {
  /** The settings that it reads, by their uses or one by one. Each becomes a flag; those of the log are every command's. */
  readonly settings: readonly (SettingUse | SettingKey)[];
  /** The exits that do not follow from its settings. */
  readonly exits?: readonly ExitName[];
  readonly examples: readonly Example[];
  /** Adds its arguments and its own flags. @default it has none */
  flags?(command: Command): Command;
  /** It prints one JSON document with `--json`. @default false */
  readonly hasJson?: boolean;
  /** The words that a place or a flag takes where commander does not check them, by their names: for the completion. */
  readonly words?: Readonly<Record<string, readonly string[]>>;
}

/** The command for commander, with the flags that all commands share. */
export function createCommand(
  { name, summary }: Pick<CommandEntry, "name" | "summary">,
  declaration: CommandDeclaration,
): Command {
  const { settings, examples, flags, hasJson = false } = declaration;
  const command = failOnUsage(new Command(name)).description(summary).allowExcessArguments(false);
  for (const key of settingsFor(...settings, "log")) command.addOption(settingOption(SETTINGS[key]));
  addCommonOptions(command);
  flags?.(command);
  if (hasJson) command.option("--json", "print one JSON document");
  return command
    .addHelpText("after", () => examplesText(examples))
    .action(async () => {
      // The help needs none of what runs a command.
      const { runCommand } = await import("../context/run-command.ts");
      await runCommand(command, declaration);
    });
}

/** Flags that are allowed before the command's name too. */
export function addCommonOptions(command: Command): Command {
  return command
    .addOption(new Option("--verbose", "stack traces, and a debug log unless --log-level says otherwise"))
    .addOption(new Option("--no-color", "no colours (setting: NO_COLOR; FORCE_COLOR asks for them)"));
}

function settingOption(setting: Setting): Option {
  const fallback = setting.default === null ? setting.without : `default ${setting.default}`;
  const value = setting.bare === undefined ? `<${setting.value}>` : `[${setting.value}]`;
  const option = new Option(
    `--${flagOf(setting)} ${value}`,
    `${setting.meaning} [${setting.name}; ${fallback}]`,
  ).helpGroup("Settings:");
  return setting.bare === undefined ? option : option.preset(setting.bare);
}

/** Examples as the help shows them, each as it is typed here. */
export function examplesText(examples: readonly Example[]): string {
  const width = Math.max(...examples.map(([line]) => line.length));
  const lines = examples.map(([line, does]) => `  $ ${programName()} ${line.padEnd(width)}  # ${does}`);
  return `\nExamples:\n${lines.join("\n")}`;
}

/** Makes commander throw instead of ending the process, and leave the message to `usageError`. */
export function failOnUsage(command: Command): Command {
  return command.exitOverride().configureOutput({
    writeOut: (text) => process.stdout.write(spellProgram(text)),
    outputError: () => undefined,
  });
}

/** Commander's error as a ConfigError, any other as it is. Undefined when only the help or the version was printed. */
export function usageError(error: unknown, commandName: string | undefined): unknown {
  if (!(error instanceof CommanderError)) return error;
  if (error.exitCode === 0) return undefined;
  const [complaint = "", near = ""] = plain(error.message.replace(/^error: /, "")).split("\n");
  // Commander writes "(Did you mean --rate?)" on a line of its own.
  if (complaint === "unknown command 'search'")
    return new ConfigError(complaint, {
      cause: error,
      hint: "`docmirror get --search` searches: see `docmirror get --help`",
    });
  const suggestion = /^\(Did you mean (.*)\?\)$/.exec(near)?.[1];
  const message = suggestion === undefined ? complaint : `${complaint}; did you mean ${suggestion}?`;
  const hint = `see \`docmirror ${commandName === undefined ? "" : `${commandName} `}--help\``;
  return new ConfigError(message, { cause: error, hint });
}

/** Shortens Commander's sentence about an invalid value to the flag or argument, the value, and its fault. */
function plain(message: string): string {
  const flag = /^option '(?:-\w, )?(--[\w-]+)[^']*' argument '(.*)' is invalid\. (.*)$/s;
  const argument = /^command-argument value '(.*)' is invalid for argument '(.*?)'\. (.*)$/s;
  return message
    .replace(flag, (_, name: string, value: string, why: string) => `${name} ${value}: ${lowered(why)}`)
    .replace(
      argument,
      (_, value: string, name: string, why: string) => `${name} '${value}': ${lowered(why)}`,
    );
}

function lowered(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, "");
}
