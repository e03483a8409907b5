import { existsSync, statSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { makeFolder } from "../../src/base/make-folder.ts";
import { useFolder } from "../support/folder.ts";

const folder = useFolder();

describe("makeFolder", () => {
  it("makes those above it too, and takes one that is there", () => {
    const deep = folder.at("a", "b", "c");
    makeFolder(deep, 0o700);
    makeFolder(deep, 0o700);
    expect(statSync(deep).mode & 0o777).toBe(0o700);
  });

  it("fails where a file is in the way", () => {
    writeFileSync(folder.at("file"), "");
    expect(() => makeFolder(folder.at("file"))).toThrow("EEXIST");
    expect(() => makeFolder(folder.at("file", "x"))).toThrow("ENOTDIR");
  });

  it.skipIf(!existsSync("/proc/self"))(
    "fails where a folder takes no other, and does not try for ever",
    () => {
      expect(() => makeFolder("/proc/x")).toThrow("ENOENT");
      expect(() => makeFolder("/proc/x/y")).toThrow("ENOENT");
    },
  );
});
