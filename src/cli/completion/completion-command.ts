/**
 * Completion for three shells, written from the same commands and flags as the help. `described-commands.ts` reads them;
 * a file for each shell writes its script.
 */
import { Argument, type Command, type Option } from "commander";
import { DICTIONARY } from "../../report/dictionary.ts";
import { RESOURCES } from "../../resources/resources.ts";
import { runCommand } from "../context/run-command.ts";
import { SEARCHES } from "../search/plan-search.ts";
import { type CommandEntry, createCommand } from "../usage/create-command.ts";
import {
  bashScript,
  type DescribedCommand,
  type DescribedFlag,
  fishScript,
  type Values,
  zshScript,
} from "./scripts.ts";

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };
type Shell = keyof typeof SCRIPTS;

/** `commands` are all commands, this one too. */
export function completionCommand(summary: string, commands: readonly CommandEntry[]): Command {
  return createCommand({
    name: "completion",
    summary,
    settings: [],
    examples: [
      ["completion bash > ~/.local/share/bash-completion/completions/docmirror", "for bash-completion"],
      ["completion zsh > ~/.zfunc/_docmirror", "for a folder that ~/.zshrc adds to fpath before compinit"],
      ["completion fish > ~/.config/fish/completions/docmirror.fish", "for fish"],
    ],
  })
    .addArgument(new Argument("<shell>", "the shell").choices(Object.keys(SCRIPTS)))
    .action(
      runCommand(async ({ out }, { args: [shell] }) => {
        await out.write(SCRIPTS[shell as Shell](await describeCommands(commands)));
        return 0;
      }),
    );
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
