import { describe, expect, it } from "vitest";
import { checkClock } from "../../../src/cli/doctor/finding.ts";

const DAY_MS = 86_400_000;

describe("checkClock", () => {
  it.each([
    [-1500, 1800, "ok", "its clock agrees with ours to within 1.8 s"],
    [2100, 3100, "warning", "its clock is 2.1 s to 3.1 s ahead of ours: it matters"],
    [-601_000, -600_000, "warning", "its clock is 600.0 s to 601.0 s behind ours: it matters"],
    [-7_201_000, -7_100_000, "warning", "its clock is 1h 58m to 2h 0m behind ours: it matters"],
    [920 * DAY_MS, 920 * DAY_MS + 1000, "warning", "its clock is 920d 0h ahead of ours: it matters"],
  ])("of %i to %i ms says %s: %s", (minMs, maxMs, status, finding) => {
    expect(checkClock("its", { minMs, maxMs }, "it matters")).toMatchObject({ status, finding });
  });
});
