import type { DescribedCommand, Values } from "./described-commands.ts";

/** The script for fish. */
export function fishScript(commands: readonly DescribedCommand[]): string {
  const lines = commands.flatMap(({ name, does, flags, places }) => [
    `complete -c docmirror -n __fish_use_subcommand -a ${name} -d ${quoted(does)}`,
    ...flags.map((flag) => {
      const takes = flag.values === null ? "" : ` ${action(flag.values)}`;
      return `complete -c docmirror -n ${seen(name)} -l ${flag.name.slice(2)}${takes} -d ${quoted(flag.does)}`;
    }),
    ...places.slice(0, 1).flatMap((values) => {
      if (!("words" in values)) return [];
      const words = values.words.join(" ");
      const isOpen = quoted(
        `__fish_seen_subcommand_from ${name}; and not __fish_seen_subcommand_from ${words}`,
      );
      return [`complete -c docmirror -n ${isOpen} -a ${quoted(words)}`];
    }),
  ]);
  const names = commands.map(({ name }) => name).join(" ");
  return `# Completion of docmirror for fish, made by \`docmirror completion fish\`.
complete -c docmirror -f
complete -c docmirror -n __fish_use_subcommand -a help -d 'shows the help of a command'
complete -c docmirror -n __fish_use_subcommand -l version -d 'prints the version'
complete -c docmirror -n __fish_use_subcommand -l help -d 'shows the help'
complete -c docmirror -n ${seen("help")} -a ${quoted(names)}
${lines.join("\n")}
`;
}

const seen = (name: string): string => quoted(`__fish_seen_subcommand_from ${name}`);

function action(values: Values): string {
  switch (values.kind) {
    case "files":
      return "-r -F";
    case "folders":
      return "-x -a '(__fish_complete_directories)'";
    case "other":
      return "-x";
    default:
      return `-x -a ${quoted(values.words.join(" "))}`;
  }
}

const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
