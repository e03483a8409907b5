import { open } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { StoreError, toOutputError, withOutputErrors } from "../../src/base/errors.ts";

describe("withOutputErrors", () => {
  it.each([
    ["/proc/no/such", "its folder is not there, or takes no files (ENOENT)"],
    ["/dev/null/x", "a file is in the way (ENOTDIR)"],
    ["/", "it is a folder (EISDIR)"],
    [`/tmp/${"x".repeat(300)}`, "its name is too long (ENAMETOOLONG)"],
  ])("says of %s that %s, exit code 2", async (place, says) => {
    const error = { exitCode: 2, message: `could not write to ${place}: ${says}`, hint: expect.any(String) };
    await expect(withOutputErrors(place, () => open(place, "w"))).rejects.toMatchObject(error);
  });

  it("leaves all else as it is", () => {
    for (const error of [new Error("a bug"), new StoreError("gone"), "text", null])
      expect(toOutputError(error, "x")).toBe(error);
  });
});
