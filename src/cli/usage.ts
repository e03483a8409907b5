import { type Command, CommanderError } from "commander";
import { ConfigError } from "../errors.ts";

/** Makes commander throw instead of ending the process, and leave the words to `usageError`. */
export function failOnUsage(command: Command): Command {
  return command.exitOverride().configureOutput({ outputError: () => undefined });
}

/**
 * Commander's complaint (unknown flag or command, with the nearest right one; missing value) as a ConfigError. Anything
 * else comes back as it is. Undefined when nothing was wrong: help and version were printed.
 */
export function usageError(error: unknown, commandName: string | undefined): unknown {
  if (!(error instanceof CommanderError)) return error;
  if (error.exitCode === 0) return undefined;
  const [complaint = "", near = ""] = error.message.replace(/^error: /, "").split("\n");
  // Commander writes "(Did you mean --rate?)" on a line of its own.
  const suggestion = /^\(Did you mean (.*)\?\)$/.exec(near)?.[1];
  const help = `docmirror ${commandName === undefined ? "" : `${commandName} `}--help`;
  return new ConfigError(suggestion === undefined ? complaint : `${complaint}; did you mean ${suggestion}?`, {
    cause: error,
    hint: `see ${help}`,
  });
}
