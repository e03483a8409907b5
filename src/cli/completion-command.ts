import { readFileSync } from "node:fs";
import { Argument } from "commander";
import type { CommandDeclaration } from "./usage/create-command.ts";

/** Prints the script of a shell. `npm run docs:cli` writes the scripts from the declarations of all commands. */
export const command: CommandDeclaration = {
  settings: [],
  examples: [
    ["completion bash > ~/.local/share/bash-completion/completions/docmirror", "for bash-completion"],
    ["completion zsh > ~/.zfunc/_docmirror", "for a folder that ~/.zshrc adds to fpath before compinit"],
    ["completion fish > ~/.config/fish/completions/docmirror.fish", "for fish"],
  ],
  flags: (command) =>
    command.addArgument(new Argument("<shell>", "the shell").choices(["bash", "zsh", "fish"])),
  async run({ out }, { args: [shell] }) {
    await out.write(readFileSync(new URL(`completion/docmirror.${shell}`, import.meta.url), "utf8"));
    return 0;
  },
};
