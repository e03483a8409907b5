/** Writes the page of commands and the scripts of completion, which are made from the commands. */
import { writeFileSync } from "node:fs";
import { cliPage } from "./cli-page.ts";
import { completionScript, SHELLS } from "./completion-scripts.ts";

writeFileSync(new URL("../docs/cli.md", import.meta.url), await cliPage());
for (const shell of SHELLS)
  writeFileSync(
    new URL(`../src/cli/completion/docmirror.${shell}`, import.meta.url),
    await completionScript(shell),
  );
