import { expect, test } from "vitest";
import { requestBehind } from "../../../src/mirror/walk/request-behind.ts";
import { firstRequest, type NextLink } from "../../../src/resources/page-request.ts";

/** How many of 100 records are read again behind a page whose last ones share their date. */
function readAgain(tied: number): number {
  const at = firstRequest("/api/v1/build/", 100);
  const ties = Array.from({ length: tied - 1 }, (_, index) => 101 - tied + index);
  const meta = { limit: 100, offset: 0, next: "more", totalCount: 3000, count: 100, showsOrder: true, ties };
  const next = { leads: "on", offset: 100 } as NextLink;
  const { offset } = requestBehind({
    ...{ at, meta, next, aim: 100 },
    ...{ isOverlapping: true, shiftAt: 0, isRepeated: false },
  });
  return 100 - offset;
}

test("reads again past the records that share the last date", () => {
  expect(readAgain(40)).toBe(41);
});

test("goes on where nearly all records of a page share one date, so that it comes on faster than records come at the head", () => {
  expect(readAgain(99)).toBe(2);
});
