/** Writes the page of commands, which is made from the commands. */
import { writeFileSync } from "node:fs";
import { cliPage } from "./cli-page.ts";

writeFileSync(new URL("../docs/cli.md", import.meta.url), await cliPage());
