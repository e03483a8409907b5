import { describe, expect, it } from "vitest";
import { cleanLine } from "../../../src/page/build/log-tail.ts";
import { cpuMsOf } from "../../support/cpu-time.ts";

describe("a line of a log", () => {
  it.each([
    ["\u001b[31;1mred\u001b[0m and plain", "red and plain"],
    ["\u001b[2K\u001b[1Gprogress", "progress"],
    ["\u001b]8;;https://x.example/\u001b\\link\u001b]8;;\u001b\\", "link"],
    ["\u001b]0;title\u0007text", "text"],
    ["\u009b31mred", "red"],
    ["\u001b(Bcharset", "charset"],
    ["a\tb", "a    b"],
    ["bell\u0007, null\u0000, delete\u007f", "bell, null, delete"],
    ["[31m stays", "[31m stays"],
    ["ünï ❤", "ünï ❤"],
  ])("%j is shown as %j", (line, shown) => {
    expect(cleanLine(line)).toBe(shown);
  });

  it("of any length is cleaned in time that grows with it alone", async () => {
    const ms = await cpuMsOf(() => {
      cleanLine("\u001b[".repeat(200_000));
      cleanLine(`\u001b]${"x".repeat(200_000)}`);
    });
    expect(ms).toBeLessThan(2000);
  });
});
