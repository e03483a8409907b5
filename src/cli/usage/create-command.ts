import { Command, CommanderError, Option } from "commander";
import { programName, spellProgram } from "../../base/config/program.ts";
import type { Setting } from "../../base/config/setting.ts";
import { SETTINGS, type SettingKey } from "../../base/config/settings.ts";
import { ConfigError } from "../../base/errors.ts";

/** A command line without the program's name, and what it does. */
export type Example = readonly [commandLine: string, does: string];

export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  /** Loads the command's own file, and all that it imports. */
  load(): Promise<(summary: string) => Command>;
}

interface CommandFacts {
  name: string;
  /** One line, as in the list of commands. */
  summary: string;
  /** The settings that the command reads; each becomes a flag. Every command also has the two of the log. */
  settings: readonly SettingKey[];
  examples: readonly Example[];
}

/** The examples of each command, for the pages that are made from the commands. */
export const examplesOf = new WeakMap<Command, readonly Example[]>();

/** A command with the flags that all commands share. The caller adds its own options and its action. */
export function createCommand(facts: CommandFacts): Command {
  const command = failOnUsage(new Command(facts.name)).description(facts.summary).allowExcessArguments(false);
  // Who connects by a URL may have its password apart from it.
  const password: SettingKey[] = facts.settings.includes("databaseUrl") ? ["databasePassword"] : [];
  for (const key of new Set<SettingKey>([...facts.settings, ...password, "logLevel", "logFormat"])) {
    command.addOption(settingOption(SETTINGS[key]));
  }
  addCommonOptions(command);
  examplesOf.set(command, facts.examples);
  return command.addHelpText("after", () => examplesText(facts.examples));
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
    `--${setting.flag} ${value}`,
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

/**
 * How commands declare flags and help with commander. Flags of settings come from `base/config`, so that a name and a
 * default stand once. The docs of the command line are written from these declarations.
 */

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
  const suggestion = /^\(Did you mean (.*)\?\)$/.exec(near)?.[1];
  const help = `\`docmirror ${commandName === undefined ? "" : `${commandName} `}--help\``;
  return new ConfigError(suggestion === undefined ? complaint : `${complaint}; did you mean ${suggestion}?`, {
    cause: error,
    hint: `see ${help}`,
  });
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
