import { describe, expect, it } from "vitest";
import { renderBars } from "../../../src/page/now/rail.ts";

const draw = async (bars: Parameters<typeof renderBars>[0]) => String(await renderBars(bars, "a usual day"));
const bar = (count: number, usual: number | null, label = "Docs warning") => ({
  label,
  href: "/errors",
  count,
  usual,
});
const widths = (drawn: string) =>
  [...drawn.matchAll(/<rect class="m-bad" width="([^"]*)"/g)].map(([, width]) => width);

describe("bars", () => {
  it("are as long as their counts, the longest or its usual one filling the place", async () => {
    expect(widths(await draw([bar(8, 2), bar(2, 1)]))).toEqual(["100.0%", "25.0%"]);
    const drawn = await draw([bar(5, 20)]);
    expect(widths(drawn)).toEqual(["25.0%"]);
    expect(drawn).toContain('<line class="base" x1="100.0%"');
  });

  it("say in words what they show", async () => {
    const drawn = await draw([bar(1200, 11.6)]);
    expect(drawn).toContain('aria-label="1,200 now, 12 on a usual day"');
    expect(drawn).toContain('<span class="n">1,200</span>');
  });

  it("have no line, and no key of it, where nothing is usual yet", async () => {
    const drawn = await draw([bar(3, null)]);
    expect(drawn).not.toContain('class="base"');
    expect(drawn).not.toContain('class="key"');
    expect(drawn).toContain('aria-label="3 now"');
  });

  it("divide by no zero, and escape their labels", async () => {
    expect(widths(await draw([bar(0, 0)]))).toEqual(["0.0%"]);
    expect(await draw([bar(1, 1, "<script>")])).toContain("&lt;script&gt;");
  });
});
