import { relative } from "node:path";

/** An absolute path as people write it: relative where it is below the working directory. */
export function showPath(path: string): string {
  const near = relative(process.cwd(), path);
  return near === "" || near.startsWith("..") ? path : near;
}
