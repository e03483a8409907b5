import { programName } from "../../base/config/program.ts";

/** A command line without the program's name, and what it does. */
export type Example = readonly [commandLine: string, does: string];

/** Examples as the help shows them, each as it is typed here. */
export function examplesText(examples: readonly Example[]): string {
  const width = Math.max(...examples.map(([line]) => line.length));
  const lines = examples.map(([line, does]) => `  $ ${programName()} ${line.padEnd(width)}  # ${does}`);
  return `\nExamples:\n${lines.join("\n")}`;
}
