/**
 * How commands declare flags and help with commander. Flags of settings come from `base/config`, so that a name and a
 * default stand once. The docs of the command line are written from these declarations.
 */
import { type Command, CommanderError } from "commander";
import { ConfigError } from "../../base/errors.ts";
import { spellProgram } from "../../base/program.ts";

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
