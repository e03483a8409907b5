import { describe, expect, it } from "vitest";
import { toCsv } from "../../src/report/csv.ts";

describe("toCsv", () => {
  it("writes RFC 4180: CRLF, quotes where they are needed, null apart from an empty text", () => {
    const rows = [
      ["day", "name"],
      ["2026-11-03", 'a "b", c'],
      ["line\nbreak", "ü ❤"],
      [null, ""],
      [true, false],
      [0, -0.5],
    ];
    expect(toCsv(rows)).toBe(
      'day,name\r\n2026-11-03,"a ""b"", c"\r\n"line\nbreak",ü ❤\r\n,""\r\ntrue,false\r\n0,-0.5\r\n',
    );
  });

  it.each([
    ...["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\tx", "\rx", "＝1", "-", "-1e5"],
  ])("puts an apostrophe in front of the formula %j", (text) => {
    expect(toCsv([[text, 1]])).toMatch(/^"?'/);
  });

  it.each(["-1", "-0.25", "4711", "a=b", "1-2", "'=x"])("leaves %j as it is", (text) => {
    expect(toCsv([[text, 1]])).toBe(`${text},1\r\n`);
  });
});
