import type { Argument, Command, Option } from "commander";
import type { CommandEntry } from "../usage/command-entry.ts";
import { type Values, valuesOf } from "./values.ts";

export interface DescribedFlag {
  /** With its two dashes. */
  name: string;
  does: string;
  /** Null where the flag stands alone. */
  values: Values | null;
  isValueOptional: boolean;
}

export interface DescribedCommand {
  name: string;
  does: string;
  flags: readonly DescribedFlag[];
  /** What each place behind the command takes, in order. */
  places: readonly Values[];
}

/** All commands with what may be typed behind them. Loads every command. */
export async function describeCommands(commands: readonly CommandEntry[]): Promise<DescribedCommand[]> {
  return Promise.all(
    commands.map(async ({ name, summary, load }) => describe(name, summary, (await load())(summary))),
  );
}

function describe(name: string, does: string, command: Command): DescribedCommand {
  const flags = command.options
    .filter((option) => !option.hidden)
    .map((option) => describeFlag(name, option));
  const help = { name: "--help", does: "shows the help", values: null, isValueOptional: false };
  return {
    name,
    does,
    flags: [...flags, help],
    places: command.registeredArguments.map((place: Argument) =>
      valuesOf(`${name} ${place.name()}`, place.name(), place.argChoices),
    ),
  };
}

function describeFlag(command: string, option: Option): DescribedFlag {
  const { long, flags, description, optional, required, argChoices } = option;
  const name = long ?? flags;
  const [, placeholder = ""] = /[<[](.*)[>\]]/.exec(flags) ?? [];
  return {
    name,
    // Names of settings and defaults, in brackets at the end, make a line too long.
    does: description.replace(/ \[[^\]]*\]$/, ""),
    values: required || optional ? valuesOf(`${command} ${name}`, placeholder, argChoices) : null,
    isValueOptional: optional,
  };
}
