import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** The mode of a file with the texts of builds, which may hold secrets: only the user who runs the command reads it. */
export const PRIVATE_FILE = 0o600;

/**
 * Makes a folder, and those above it that are missing. The recursive mkdir of Node never ends where an existing folder
 * cannot have subfolders, such as /proc.
 */
export function makeFolder(path: string, mode = 0o755): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && statSync(path).isDirectory()) return;
    if (code !== "ENOENT" || existsSync(dirname(path))) throw error;
    makeFolder(dirname(path));
    mkdirSync(path, { mode });
  }
}
