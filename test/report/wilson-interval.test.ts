import { expect, it } from "vitest";
import { wilsonInterval } from "../../src/report/wilson-interval.ts";

it("is null of nothing, and within 0 and 1 elsewhere", () => {
  expect(wilsonInterval(0, 0)).toBeNull();
  // 1 / (1 + 1.96²)
  expect(wilsonInterval(1, 1)).toEqual({ low: expect.closeTo(1 / 4.8416, 12), high: 1 });
  expect(wilsonInterval(0, 1)).toEqual({ low: 0, high: expect.closeTo(3.8416 / 4.8416, 12) });
  expect(wilsonInterval(30, 40)).toEqual({ low: expect.closeTo(0.598, 3), high: expect.closeTo(0.858, 3) });
});
