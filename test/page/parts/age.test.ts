import { describe, expect, it } from "vitest";
import * as ages from "../../../src/page/parts/marks.ts";

const { age, momentMs, momentTag, when } = ages;
const NOW = new Date("2026-11-22T01:25:00Z");
const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
const plain = (text: string) => text.replaceAll("\u00a0", " ");

describe("a span", () => {
  it.each([
    [0, "< 1 min"],
    [MINUTE - 1, "< 1 min"],
    [MINUTE, "1 min"],
    [HOUR - 1, "59 min"],
    [HOUR, "1 h"],
    [2 * DAY - 1, "47 h"],
    [2 * DAY, "2 d"],
    [1234 * DAY, "1,234 d"],
    [-HOUR, "< 1 min"],
  ])("of %d ms is %s", (ms, words) => {
    expect(plain(ages.span(ms))).toBe(words);
  });
});

describe("a moment of Postgres", () => {
  it.each([
    ["2026-11-22 01:12:30+00", "22 Nov 01:12"],
    ["2026-11-22 01:12:30.123456+00", "22 Nov 01:12"],
    ["2026-11-22T01:12:30Z", "22 Nov 01:12"],
    ["2025-12-31 23:59:59+00", "31 Dec 2025 23:59"],
  ])("%s is %s", (text, words) => {
    expect(when(momentMs(text), NOW)).toBe(words);
    expect(when(momentMs(text), NOW)).toBe(
      `${ages.dayWords(momentMs(text), NOW)} ${ages.clockWords(momentMs(text))}`,
    );
  });

  const NEVER = ["infinity", "-infinity", "", "4713-01-01 00:00:00+00 BC", null, undefined];
  it.each(NEVER)("%s has no age", (text) => {
    expect(momentMs(text)).toBeNaN();
    expect([ages.ago(text, NOW), ages.forLong(text, NOW)]).toEqual([null, null]);
  });

  it("has its age, with the moment itself behind it", async () => {
    expect(plain(String(await age("2026-11-21 20:25:00+00", NOW)))).toBe(
      '<time class="age" datetime="2026-11-21T20:25:00.000Z" title="21 Nov 20:25 UTC">5 h</time>',
    );
    expect(String(await momentTag("2026-11-21 20:25:00+00", NOW))).toContain(">21 Nov 20:25</time>");
  });

  it("has words that a file can keep in place of its age", async () => {
    const at = "2026-11-21 20:25:00+00";
    const [said, kept] = [(page: string) => page, ages.withoutAges].map((of) =>
      [age(at, NOW), ages.ago(at, NOW), ages.ago(at, NOW, "before its end"), ages.forLong(at, NOW)].map(
        (one) => plain(of(String(one)).replace(/<[^>]*>/g, "")),
      ),
    );
    expect(said).toEqual(["5 h", "5 h ago", "5 h before its end", "for 5 h"]);
    expect(kept).toEqual(["21 Nov 20:25", "at 21 Nov 20:25", "at 21 Nov 20:25", "since 21 Nov 20:25"]);
  });

  it("is a dash where there is none, and its own text where JavaScript has no such moment", async () => {
    expect(String(await age(null, NOW))).toBe('<span class="quiet">–</span>');
    expect(String(await momentTag(undefined, NOW))).toContain("–");
    expect(String(await momentTag("infinity<", NOW))).toBe("<span>infinity&lt;</span>");
  });
});
