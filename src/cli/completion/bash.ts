import type { DescribedCommand, Values } from "./described-commands.ts";

/** The script for bash, from version 3.2 on. It starts no program. */
export function bashScript(commands: readonly DescribedCommand[]): string {
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
