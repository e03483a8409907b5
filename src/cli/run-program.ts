import { Command } from "commander";
import { spellProgram } from "../base/config/program.ts";
import { readVersion } from "../base/version.ts";
import { COMMANDS } from "./commands.ts";
import { listenForTheUnexpected, printError } from "./output/print-error.ts";
import {
  addCommonOptions,
  createCommand,
  type Example,
  examplesText,
  failOnUsage,
  usageError,
} from "./usage/create-command.ts";

/** Runs one command line (without node and script). Sets `process.exitCode`; never rejects. */
export async function runProgram(args: readonly string[]): Promise<void> {
  const verbose = args.includes("--verbose");
  listenForTheUnexpected(verbose);
  const chosen = chosenCommand(args);
  try {
    const program = await createProgram(chosen);
    if (args.length === 0) {
      process.stderr.write(spellProgram(program.helpInformation()));
      process.exitCode = 2;
      return;
    }
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    const usage = usageError(error, COMMANDS.some(({ name }) => name === chosen) ? chosen : undefined);
    if (usage !== undefined) process.exitCode = printError(usage, verbose);
  }
}

const EXAMPLES: readonly Example[] = [
  ["demo", "the whole product, offline"],
  ["sync --base-url https://docs.example.org", "one run against a real service"],
  ["config", "the settings in force"],
  ["sync --help", "flags, settings and defaults of a command"],
];

/** The program with all commands. Only the chosen one is loaded and knows its flags. */
async function createProgram(chosen: string | undefined): Promise<Command> {
  const program = failOnUsage(new Command("docmirror"))
    .description(
      "A faithful, queryable mirror of a documentation hosting service's public v1 API in Postgres.",
    )
    .usage("<command> [flags]")
    .version(readVersion(), "--version", "print the version")
    .enablePositionalOptions()
    .addHelpText("after", () => examplesText(EXAMPLES));
  addCommonOptions(program);
  for (const entry of COMMANDS) {
    const { name, summary, load } = entry;
    const isChosen = name === chosen;
    program.addCommand(
      isChosen ? createCommand(entry, (await load()).command) : new Command(name).description(summary),
    );
  }
  return program;
}

/** The first word that is not a flag: no flag before the command takes a value. `help sync` is about sync. */
function chosenCommand(args: readonly string[]): string | undefined {
  const [first, second] = args.filter((arg) => !arg.startsWith("-"));
  return first === "help" ? second : first;
}
