import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeFolder } from "../../src/base/make-folder.ts";

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "docmirror-folder-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("makeFolder", () => {
  it("makes those above it too, and takes one that is there", () => {
    const deep = join(folder, "a", "b", "c");
    makeFolder(deep, 0o700);
    makeFolder(deep, 0o700);
    expect(statSync(deep).mode & 0o777).toBe(0o700);
  });

  it("fails where a file is in the way", () => {
    writeFileSync(join(folder, "file"), "");
    expect(() => makeFolder(join(folder, "file"))).toThrow("EEXIST");
    expect(() => makeFolder(join(folder, "file", "x"))).toThrow("ENOTDIR");
  });

  it.skipIf(!existsSync("/proc/self"))(
    "fails where a folder takes no other, and does not try for ever",
    () => {
      expect(() => makeFolder("/proc/x")).toThrow("ENOENT");
      expect(() => makeFolder("/proc/x/y")).toThrow("ENOENT");
    },
  );
});
