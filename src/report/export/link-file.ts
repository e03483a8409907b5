import { constants, copyFile, link } from "node:fs/promises";

/** File systems that have no second names for a file, or no more of them. */
const NO_LINKS = ["EPERM", "EXDEV", "EMLINK", "ENOSYS", "ENOTSUP", "EOPNOTSUPP"];

/** Gives a file a second name, which costs no space; copies it where the file system cannot. */
export async function linkFile(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (!NO_LINKS.includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  }
}
