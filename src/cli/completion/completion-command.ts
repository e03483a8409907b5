/**
 * Completion for three shells, written from the same commands and flags as the help. `described-commands.ts` reads them;
 * a file for each shell writes its script.
 */
import { Argument, type Command } from "commander";
import { runCommand } from "../context/run-command.ts";
import { type CommandEntry, createCommand } from "../usage/create-command.ts";
import { bashScript } from "./bash.ts";
import { describeCommands } from "./described-commands.ts";
import { fishScript } from "./fish.ts";
import { zshScript } from "./zsh.ts";

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
