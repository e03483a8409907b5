import type { Command } from "commander";

export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  /** Loads the command's own file, and all that it imports. */
  load(): Promise<(summary: string) => Command>;
}
