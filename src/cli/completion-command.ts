import { Argument, type Command } from "commander";
import type { CommandEntry } from "./command-entry.ts";
import { bashScript } from "./completion/bash.ts";
import { describeCommands } from "./completion/described-commands.ts";
import { fishScript } from "./completion/fish.ts";
import { zshScript } from "./completion/zsh.ts";
import { createCommand } from "./create-command.ts";
import { runCommand } from "./run-command.ts";

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
