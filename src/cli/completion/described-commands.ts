import type { Argument, Command, Option } from "commander";
import { DICTIONARY } from "../../report/dictionary.ts";
import { RESOURCES } from "../../resources/resources.ts";
import { SEARCHES } from "../search/plan-search.ts";
import type { CommandEntry } from "../usage/create-command.ts";

/** What may be typed at a place: words, several of them behind commas, paths, or what no list can hold. */
export type Values =
  | { kind: "words" | "list"; words: readonly string[] }
  | { kind: "files" | "folders" | "other" };

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
  const shown = command.options.filter((option) => !option.hidden);
  const flags = shown.map((option) => describeFlag(name, option));
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

/** Words that a flag or a place takes, where its own definition does not list them. A `*` is any command. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  "report name": Object.keys(DICTIONARY),
  "get resource": RESOURCES,
  "explain resource": ["build"],
  "search what": SEARCHES,
  "quarantine --resource": RESOURCES,
  "* --log-level": ["fatal", "error", "warn", "info", "debug", "trace", "silent"],
  "* --log-format": ["auto", "pretty", "json"],
};

/**
 * What may be typed where `key` says, as in `report --format`. `placeholder` is the name of the value in the
 * help; `choices` are those that commander checks.
 */
function valuesOf(key: string, placeholder: string, choices?: readonly string[]): Values {
  if (key === "sync --resource") return { kind: "list", words: RESOURCES };
  const words = choices ?? WORDS[key] ?? WORDS[key.replace(/^\S+/, "*")];
  if (words !== undefined) return { kind: "words", words };
  if (placeholder.includes("|")) return { kind: "words", words: placeholder.split("|") };
  if (placeholder === "folder" || key.endsWith(" --data-dir")) return { kind: "folders" };
  return { kind: placeholder === "path" || placeholder === "file" ? "files" : "other" };
}
