import { describe, expect, test } from "vitest";
import { createZoneOffset } from "../../src/base/clock.ts";

describe("createZoneOffset", () => {
  test.each([
    ["Etc/UTC", "2025-06-01T00:00:00Z", 0],
    ["America/Chicago", "2025-03-09T07:59:59Z", -360],
    ["America/Chicago", "2025-03-09T08:00:00Z", -300],
    ["Asia/Kathmandu", "2025-06-01T00:00:00Z", 345],
    ["America/St_Johns", "2025-01-01T00:00:00Z", -210],
    ["Etc/GMT+6", "2025-06-01T00:00:00Z", -360],
  ])("is in %s at %s %i minutes", (zone, at, minutes) => {
    expect(createZoneOffset(zone)(new Date(at))).toBe(minutes);
  });

  test("is 0 and not -0 for UTC", () => {
    expect(Object.is(createZoneOffset("Etc/UTC")(new Date()), 0)).toBe(true);
  });
});
