import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";

const make = (name: string) => mkdtempSync(join(tmpdir(), name));
const remove = (path: string) => rmSync(path, { recursive: true, force: true });

/** A new folder, which is gone at the end of its scope. */
export function createFolder(name = "docmirror-test-") {
  const path = make(name);
  return { path, at: (...steps: string[]) => join(path, ...steps), [Symbol.dispose]: () => remove(path) };
}

/** A folder for all tests of a file, there in hooks that are declared after it. */
export function useFolder(name = "docmirror-test-") {
  let path = "";
  beforeAll(() => {
    path = make(name);
  });
  afterAll(() => remove(path));
  return {
    get path() {
      return path;
    },
    at: (...steps: string[]) => join(path, ...steps),
  };
}
