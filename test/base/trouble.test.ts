import { expect, it } from "vitest";
import { createTrouble } from "../../src/base/trouble.ts";

const MINUTE_MS = 60_000;

function setup() {
  let nowMs = Date.parse("2026-03-10T02:00:00Z");
  const trouble = createTrouble({ now: () => new Date(nowMs) });
  const pass = (minutes: number) => {
    nowMs += minutes * MINUTE_MS;
  };
  return { trouble, pass };
}

/** How many of so many failures, one a minute, are news. */
function newsOf({ trouble, pass }: ReturnType<typeof setup>, minutes: number, why: (nth: number) => string) {
  let news = 0;
  for (let nth = 0; nth < minutes; nth++) {
    if (trouble.failed(why(nth)).isNews) news++;
    pass(1);
  }
  return news;
}

it.each<[what: string, why: (nth: number) => string, news: number]>([
  ["one cause with other numbers", (nth) => `answered 503 after ${nth} ms`, 3],
  ["two causes in turn", (nth) => (nth % 2 ? "no answer" : "answered 503"), 4],
  ["causes that all differ", (nth) => "x".repeat(nth + 1), 24],
])("of three hours of failures, the log has few: %s", (_what, why, news) => {
  expect(newsOf(setup(), 180, why)).toBeLessThanOrEqual(news);
});

it("says how often and since when with each line after the first", () => {
  const { trouble, pass } = setup();
  expect(trouble.failed("gone")).toEqual({ isNews: true, again: {} });
  pass(1);
  const again = { failures: 2, since: "2026-03-10T02:00:00.000Z" };
  expect(trouble.failed("gone")).toEqual({ isNews: false, again });
  expect(trouble.failed("another")).toEqual({ isNews: true, again: { ...again, failures: 3 } });
});

it("is over once, when all was well for some minutes: what fails every now and then is not", () => {
  const { trouble, pass } = setup();
  expect(trouble.over()).toBeNull();
  trouble.failed("gone");
  pass(1);
  expect(trouble.over()).toBeNull();
  expect(trouble.failed("gone").isNews).toBe(false);
  pass(5);
  expect(trouble.over()).toEqual({ failures: 2, since: "2026-03-10T02:00:00.000Z" });
  expect(trouble.over()).toBeNull();
  expect(trouble.failed("gone")).toEqual({ isNews: true, again: {} });
});

it("is said also by a clock that was set back", () => {
  const { trouble, pass } = setup();
  trouble.failed("gone");
  pass(-600);
  expect(trouble.failed("gone").isNews).toBe(true);
});
