import { describe, expect, it } from "vitest";
import { why } from "../../../src/page/now/rail.ts";

const AT = new Date("2025-06-30T12:00:00Z");

/** The bars of kinds, of a mirror that knows four weeks, or that knows no day. */
async function draw(
  kinds: readonly (readonly [failures: number, usual: number, kind?: string])[],
  isNew = false,
) {
  const rows = kinds.map(([failures, usual, kind = "docs_source"]) => {
    return { error_class: kind, failures, usual };
  });
  const found = { rows };
  const of = { short: "24 h", words: "last 24 hours" };
  const said = { isQuiet: false, of, facts: { finishedLately: 9, usualDays: Array(isNew ? 0 : 28) } };
  const asks = { at: AT, day: undefined } as never;
  const { draw } = await why.read({} as never, async () => found as never, asks);
  return String((await draw(said as never))?.body);
}
const widths = (drawn: string) =>
  [...drawn.matchAll(/<rect class="m-bad" width="([^"]*)"/g)].map(([, width]) => width);

describe("the bars of kinds", () => {
  it("are as long as their counts, the longest or its usual one filling the place", async () => {
    const two = [[8, 2] as const, [2, 1] as const];
    expect(widths(await draw(two))).toEqual(["100.0%", "25.0%"]);
    const drawn = await draw([[5, 20]]);
    expect(widths(drawn)).toEqual(["25.0%"]);
    expect(drawn).toContain('<line class="base" x1="100.0%"');
  });

  it("say in words what they show", async () => {
    const drawn = await draw([[1200, 11.6]]);
    expect(drawn).toContain('aria-label="1,200 failed, 12 on a usual day"');
    expect(drawn).toContain('<span class="n">1,200</span>');
  });

  it("have no line, and no key of it, where nothing is usual yet", async () => {
    const drawn = await draw([[3, 1]], true);
    expect(drawn).not.toContain('class="base"');
    expect(drawn).not.toContain('class="key"');
    expect(drawn).toContain('aria-label="3 failed"');
  });

  it("escape their labels", async () => {
    expect(await draw([[1, 1, "<script>"]])).toContain("&lt;script&gt;");
  });
});
