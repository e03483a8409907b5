/** Completion for three shells, written from the same declarations as the help. */
import type { Option } from "commander";
import { flagOf, type Setting } from "../src/base/config/setting.ts";
import { SETTING_KEYS, SETTINGS } from "../src/base/config/settings.ts";
import { COMMANDS } from "../src/cli/commands.ts";
import { type CommandEntry, createCommand } from "../src/cli/usage/create-command.ts";

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };
export const SHELLS = Object.keys(SCRIPTS) as (keyof typeof SCRIPTS)[];

export async function completionScript(shell: keyof typeof SCRIPTS): Promise<string> {
  return SCRIPTS[shell](await Promise.all(COMMANDS.map(describe)));
}

async function describe(entry: CommandEntry): Promise<DescribedCommand> {
  const { command: declaration } = await entry.load();
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

/** What may be typed at a place: words, several of them behind commas, paths, or what no list can hold. */
type Values = { kind: "words" | "list"; words: readonly string[] } | { kind: "files" | "folders" | "other" };

interface DescribedFlag {
  /** With its two dashes. */
  name: string;
  does: string;
  /** Null where the flag stands alone. */
  values: Values | null;
  isValueOptional: boolean;
}

interface DescribedCommand {
  name: string;
  does: string;
  flags: readonly DescribedFlag[];
  /** What each place behind the command takes, in order. */
  places: readonly Values[];
}

/** The script for bash, from version 3.2 on. It starts no program. */
function bashScript(commands: readonly DescribedCommand[]): string {
  const valued = commands.flatMap(({ name, flags }) =>
    flags.flatMap((flag) => (flag.values === null ? [] : [{ ...flag, name: `${name} ${flag.name}` }])),
  );
  const needy = valued.filter(({ isValueOptional }) => !isValueOptional);
  const cases = (lines: readonly string[]) => lines.map((line) => `    ${line} ;;\n`).join("");
  const flags = commands.map((one) => `${one.name}) flags='${one.flags.map(({ name }) => name).join(" ")}'`);
  const places = commands.flatMap(({ name, places }) =>
    places.map((values, index) => `'${name} ${index}') ${setValues(values)}`),
  );
  return `# Completion of docmirror for bash, made by \`docmirror completion bash\`.
_docmirror() {
  local cur=\${COMP_WORDS[COMP_CWORD]} at=$((COMP_CWORD - 1)) command= place=0 kind= words= flags= i word line
  # Readline makes a word of its own of the sign in --flag=value.
  if [[ $cur == '=' ]]; then cur=; elif [[ \${COMP_WORDS[at]} == '=' ]]; then at=$((at - 1)); fi
  for ((i = 1; i <= at; i++)); do
    word=\${COMP_WORDS[i]}
    case "$command $word" in
${needy.map(({ name }) => `      '${name}'`).join("|\\\n")})
        if ((i < at)); then [[ \${COMP_WORDS[i + 1]} == '=' ]] && i=$((i + 1)); i=$((i + 1)); fi ;;
      *' -'*|*' =') ;;
      *) if [[ -z $command ]]; then command=$word; else place=$((place + 1)); fi ;;
    esac
  done
  case $command in
    '') kind=words words='${commands.map(({ name }) => name).join(" ")} help' flags='--help --version --verbose --no-color' ;;
    help) kind=words words='${commands.map(({ name }) => name).join(" ")}' ;;
${cases(flags)}  esac
  case "$command $place" in
${cases(places)}  esac
  case "$command \${COMP_WORDS[at]}" in
${cases(valued.map(({ name, values, isValueOptional }) => `'${name}') ${setValues(values as Values)}${isValueOptional ? "" : " flags="}`))}  esac
  COMPREPLY=()
  if [[ $cur == -* || -z $kind ]]; then kind=words words=$flags; fi
  case $kind in
    words) COMPREPLY=($(compgen -W "$words" -- "$cur")) ;;
    list)
      local before=
      [[ $cur == *,* ]] && before=\${cur%,*},
      COMPREPLY=($(compgen -P "$before" -W "$words" -- "\${cur##*,}")) ;;
    files|folders)
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(
        if [[ $kind == files ]]; then compgen -f -- "$cur"; else compgen -d -- "$cur"; fi
      ) ;;
  esac
}
complete -F _docmirror docmirror
`;
}

function setValues(values: Values): string {
  return `kind=${values.kind}${"words" in values ? ` words='${values.words.join(" ")}'` : ""}`;
}

/** The script for zsh: to be sourced after `compinit`, or as the file `_docmirror` in a folder of `fpath`. */
function zshScript(commands: readonly DescribedCommand[]): string {
  const names = commands.map(({ name, does }) => `      ${zshQuoted(`${name}:${does}`)}`);
  const cases = commands.map(({ name, flags, places }) => {
    const placeSpecs = places.map((values, index) => zshQuoted(`${index + 1}: :${zshAction(values)}`));
    const specs = [...flags.map(flagSpec), ...placeSpecs];
    return `        ${name})\n          _arguments ${specs.join(" \\\n            ")} ;;`;
  });
  return `#compdef docmirror
# Completion of docmirror for zsh, made by \`docmirror completion zsh\`.
_docmirror() {
  local curcontext=$curcontext state line
  typeset -A opt_args
  local -a commands
  commands=(
${names.join("\n")}
      ${zshQuoted("help:shows the help of a command")}
  )
  _arguments -C "(- *)--help[shows the help]" "(- *)--version[prints the version]" "1: :->command" "*:: :->rest"
  case $state in
    command) _describe -t commands command commands ;;
    rest)
      case $words[1] in
${cases.join("\n")}
        help) _arguments '1: :_docmirror_commands' ;;
      esac ;;
  esac
}
_docmirror_commands() { _values command ${commands.map(({ name }) => name).join(" ")}; }
if [[ $funcstack[1] == _docmirror ]]; then _docmirror "$@"; else compdef _docmirror docmirror; fi
`;
}

function flagSpec({ name, does, values, isValueOptional }: DescribedFlag): string {
  const says = `[${does.replace(/[[\]\\:]/g, "\\$&")}]`;
  if (values === null) return zshQuoted(`${name}${says}`);
  // With an equals sign, the value may stand behind the flag in both ways.
  return zshQuoted(`${name}=${says}${isValueOptional ? "::" : ":"} :${zshAction(values)}`);
}

function zshAction(values: Values): string {
  switch (values.kind) {
    case "words":
      return `(${values.words.join(" ")})`;
    case "list":
      return `_values -s , word ${values.words.join(" ")}`;
    case "files":
      return "_files";
    case "folders":
      return "_directories";
    default:
      return " ";
  }
}

const zshQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The script for fish. */
function fishScript(commands: readonly DescribedCommand[]): string {
  const lines = commands.flatMap(({ name, does, flags, places }) => [
    `complete -c docmirror -n __fish_use_subcommand -a ${name} -d ${fishQuoted(does)}`,
    ...flags.map((flag) => {
      const takes = flag.values === null ? "" : ` ${fishAction(flag.values)}`;
      return `complete -c docmirror -n ${seen(name)} -l ${flag.name.slice(2)}${takes} -d ${fishQuoted(flag.does)}`;
    }),
    ...places.slice(0, 1).flatMap((values) => {
      if (!("words" in values)) return [];
      const words = values.words.join(" ");
      const isOpen = fishQuoted(
        `__fish_seen_subcommand_from ${name}; and not __fish_seen_subcommand_from ${words}`,
      );
      return [`complete -c docmirror -n ${isOpen} -a ${fishQuoted(words)}`];
    }),
  ]);
  const names = commands.map(({ name }) => name).join(" ");
  return `# Completion of docmirror for fish, made by \`docmirror completion fish\`.
complete -c docmirror -f
complete -c docmirror -n __fish_use_subcommand -a help -d 'shows the help of a command'
complete -c docmirror -n __fish_use_subcommand -l version -d 'prints the version'
complete -c docmirror -n __fish_use_subcommand -l help -d 'shows the help'
complete -c docmirror -n ${seen("help")} -a ${fishQuoted(names)}
${lines.join("\n")}
`;
}

const seen = (name: string): string => fishQuoted(`__fish_seen_subcommand_from ${name}`);

function fishAction(values: Values): string {
  switch (values.kind) {
    case "files":
      return "-r -F";
    case "folders":
      return "-x -a '(__fish_complete_directories)'";
    case "other":
      return "-x";
    default:
      return `-x -a ${fishQuoted(values.words.join(" "))}`;
  }
}

const fishQuoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
