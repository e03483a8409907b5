import { describe, expect, it } from "vitest";
import { parseHttpDate } from "../../../src/mirror/api/http-date.ts";

describe("parseHttpDate", () => {
  it.each([
    ["Wed, 15 May 2024 12:02:00 GMT"],
    ["Wednesday, 15-May-24 12:02:00 GMT"],
    ["Wed May 15 12:02:00 2024"],
    [" Wed, 15 May 2024 12:02:00 GMT "],
  ])("reads %j, in whatever zone it runs", (header) => {
    expect(parseHttpDate(header)).toEqual(new Date("2024-05-15T12:02:00Z"));
  });

  it.each([
    [undefined],
    [""],
    ["12"],
    ["today 5"],
    ["2024-05-15T12:02:00Z"],
    ["Wed, 99 May 2024 12:02:00 GMT"],
    ["Wed, 15 May 2024 12:02:00 +0200"],
  ])("has nothing to read in %j", (header) => {
    expect(parseHttpDate(header)).toBeNull();
  });
});
