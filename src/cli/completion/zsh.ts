import type { DescribedCommand, DescribedFlag, Values } from "./described-commands.ts";

/** The script for zsh: to be sourced after `compinit`, or as the file `_docmirror` in a folder of `fpath`. */
export function zshScript(commands: readonly DescribedCommand[]): string {
  const names = commands.map(({ name, does }) => `      ${quoted(`${name}:${does}`)}`);
  const cases = commands.map(({ name, flags, places }) => {
    const placeSpecs = places.map((values, index) => quoted(`${index + 1}: :${action(values)}`));
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
      ${quoted("help:shows the help of a command")}
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
  if (values === null) return quoted(`${name}${says}`);
  // With an equals sign, the value may stand behind the flag in both ways.
  return quoted(`${name}=${says}${isValueOptional ? "::" : ":"} :${action(values)}`);
}

function action(values: Values): string {
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

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
