import { describe, expect, it } from "vitest";
import { StoreError } from "../../../src/base/errors.ts";
import { isRecoveryConflict, repeatAfterConflict } from "../../../src/store/connection/transaction.ts";

const conflict = () => new StoreError("could not read", { sqlstate: "40001" });

/** Fails so many times, then answers how often it was asked. */
function failing(times: number, error: () => Error): () => Promise<number> {
  let asked = 0;
  return async () => {
    if (asked++ < times) throw error();
    return asked;
  };
}

describe("a read that a standby cancelled", () => {
  it("is done once more, and not a third time", async () => {
    expect(await repeatAfterConflict(failing(1, conflict))).toBe(2);
    await expect(repeatAfterConflict(failing(2, conflict))).rejects.toThrow("could not read");
  });

  it("is not done again where that would send rows twice", async () => {
    await expect(repeatAfterConflict(failing(1, conflict), () => false)).rejects.toThrow("could not read");
  });

  it("is told from other failures, which are not done again", async () => {
    expect(
      ["40001", "40P01", "57014", "08006"]
        .map((sqlstate) => new StoreError("", { sqlstate }))
        .map(isRecoveryConflict),
    ).toEqual([true, true, false, false]);
    await expect(repeatAfterConflict(failing(1, () => new Error("a bug")))).rejects.toThrow("a bug");
  });
});
