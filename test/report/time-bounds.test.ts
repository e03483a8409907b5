import { describe, expect, it } from "vitest";
import { parseTime, readTimeBounds, resolveSpan } from "../../src/report/time-bounds.ts";

const NOW = new Date("2026-11-21T13:45:59.999Z");

describe("resolveSpan", () => {
  it.each([
    ["7d", "2026-11-14T13:45Z"],
    ["24h", "2026-11-20T13:45Z"],
    ["1h30m", "2026-11-21T12:15Z"],
    ["2w", "2026-11-07T13:45Z"],
    [" 90s ", "2026-11-21T13:44Z"],
    ["36500d", "1926-12-16T13:45Z"],
  ])("of %j is the moment that lies so long back, to the minute", (span, moment) => {
    const resolved = resolveSpan(span, NOW);
    expect(resolved).toBe(moment);
    const { from } = readTimeBounds({ since: resolved }, "moment");
    expect(from).toBe(new Date(moment).toISOString());
  });

  it.each([
    ...["2026-11-03", "2026-11-03T12:00Z", "", "yesterday", "7"],
    ...["0d", "-7d", "7 days", "37000d", `${"9".repeat(400)}d`],
  ])("leaves %j as it is", (text) => {
    expect(resolveSpan(text, NOW)).toBe(text);
  });
});

describe("parseTime", () => {
  it.each([
    ...["yesterday", "7", "0d", "-7d", "7 days", "2026-13-01", "2026-02-30", "12:00", ""],
  ])("of %j says what can be given, and where", (text) => {
    expect(() => parseTime("--since", text)).toThrow(
      `--since ${text}: give a day (2026-11-03), a time (2026-11-03T12:00Z) or a span (7d)`,
    );
  });

  it.each(["2026-11-03", "2026-11-03T12:00Z", "2026-11-03 12:00:30.5+01"])("takes %s", (text) => {
    expect(() => parseTime("--since", text)).not.toThrow();
  });
});
