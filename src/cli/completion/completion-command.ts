/** Completion for three shells, written from the same declarations as the help. `scripts.ts` has a script for each shell. */
import { Argument, type Option } from "commander";
import { flagOf, type Setting } from "../../base/config/setting.ts";
import { SETTING_KEYS, SETTINGS } from "../../base/config/settings.ts";
import { type CommandDeclaration, type CommandEntry, createCommand } from "../usage/create-command.ts";
import { bashScript, type DescribedCommand, fishScript, type Values, zshScript } from "./scripts.ts";

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** `commands` are all commands, this one too. */
export function completionCommand(commands: readonly CommandEntry[]): CommandDeclaration {
  return {
    settings: [],
    examples: [
      ["completion bash > ~/.local/share/bash-completion/completions/docmirror", "for bash-completion"],
      ["completion zsh > ~/.zfunc/_docmirror", "for a folder that ~/.zshrc adds to fpath before compinit"],
      ["completion fish > ~/.config/fish/completions/docmirror.fish", "for fish"],
    ],
    flags: (command) =>
      command.addArgument(new Argument("<shell>", "the shell").choices(Object.keys(SCRIPTS))),
    async run({ out }, { args: [shell] }) {
      await out.write(SCRIPTS[shell as keyof typeof SCRIPTS](await Promise.all(commands.map(describe))));
      return 0;
    },
  };
}

async function describe(entry: CommandEntry): Promise<DescribedCommand> {
  const declaration = await entry.load();
  const { options, registeredArguments } = createCommand(entry, declaration);
  const valuesOf = (name: string, placeholder: string, choices?: readonly string[]): Values => {
    const words = choices ?? declaration.words?.[name] ?? choicesOfSetting(name);
    if (words !== undefined) return { kind: placeholder === "names" ? "list" : "words", words };
    if (placeholder.includes("|")) return { kind: "words", words: placeholder.split("|") };
    if (placeholder === "folder") return { kind: "folders" };
    return { kind: placeholder === "path" || placeholder === "file" ? "files" : "other" };
  };
  const flags = options.map(({ long, flags, description, optional, required, argChoices }: Option) => {
    const name = long ?? flags;
    const [, placeholder = ""] = /[<[](.*)[>\]]/.exec(flags) ?? [];
    return {
      name,
      // Names of settings and defaults, in brackets at the end, make a line too long.
      does: description.replace(/ \[[^\]]*\]$/, ""),
      values: required || optional ? valuesOf(name, placeholder, argChoices) : null,
      isValueOptional: optional,
    };
  });
  const help = { name: "--help", does: "shows the help", values: null, isValueOptional: false };
  return {
    name: entry.name,
    does: entry.summary,
    flags: [...flags, help],
    places: registeredArguments.map((place) => valuesOf(place.name(), place.name(), place.argChoices)),
  };
}

function choicesOfSetting(flag: string): readonly string[] | undefined {
  const setting: Setting | undefined = SETTING_KEYS.map((key) => SETTINGS[key]).find(
    (one) => `--${flagOf(one)}` === flag,
  );
  return setting?.parse.choices;
}
