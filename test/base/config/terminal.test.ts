import { describe, expect, it } from "vitest";
import { canRedraw, wantsColour } from "../../../src/base/config/environment.ts";

describe("colour and redrawing", () => {
  it.each([
    [{}, true, true],
    [{}, false, false],
    [{ NO_COLOR: "1" }, true, false],
    [{ NO_COLOR: "" }, true, true],
    [{ FORCE_COLOR: "1" }, false, true],
    [{ FORCE_COLOR: "0" }, true, false],
    [{ NO_COLOR: "1", FORCE_COLOR: "1" }, true, false],
    [{ TERM: "dumb" }, true, false],
  ])("%j on a terminal (%s) gives colour: %s", (env, isTty, expected) => {
    expect(wantsColour({ isTty }, env)).toBe(expected);
  });

  it("--no-color beats FORCE_COLOR", () => {
    expect(wantsColour({ isTty: true, noColorFlag: true }, { FORCE_COLOR: "1" })).toBe(false);
  });

  it("bars are drawn on a real terminal outside CI", () => {
    expect(canRedraw({ isTty: true }, {})).toBe(true);
    expect(canRedraw({ isTty: true }, { CI: "true" })).toBe(false);
    expect(canRedraw({ isTty: true }, { TERM: "dumb" })).toBe(false);
  });
});
