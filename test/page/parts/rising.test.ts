import { expect, it } from "vitest";
import { sayingOf, sayRising } from "../../../src/page/parts/changes.ts";
import type { BlockRow } from "../../support/block-offers.ts";
import { openMirrorPages } from "../../support/mirror-pages.ts";
import { seedDays } from "../../support/seeded-days.ts";

const NOON = "(date_trunc('day', now() at time zone 'utc') + interval '12 hours')";
/** An hour ago, in the minutes of a day of `seedDays`. */
const MINUTE = `(extract(epoch from now() at time zone 'utc' - ${NOON}) / 60)::int - 60`;

/** Builds that fail with a line: so many a day in the days before, and so many today, of eight projects. */
const failing = (line: string, before: number, days: number, today: number) => `
  select '${line}-' || ago || '-' || n as id, ago, n as minute, 'html' as type, (1 + n % 8)::text as project, false as success,
    'Error: no ${line}' as error
  from generate_series(2, ${days}) as ago, generate_series(1, ${before}) as n
  union all select '${line}-0-' || n, 0, ${MINUTE} + n / 10, 'html', (1 + n % 8)::text, false, 'Error: no ${line}' from generate_series(1, ${today}) as n`;

async function risenOf(days: number, goodADay: number, ...lines: string[]): Promise<unknown[]> {
  const first = `select 'first' as id, ${days} as ago, 0 as minute, 'html' as type, '9' as project, true as success, null as error
    union all select 'good-' || ago || '-' || n, ago, ${MINUTE}, 'html', '9', true, null
    from generate_series(0, ${days} - 1) as ago, generate_series(1, ${goodADay}) as n`;
  await using pages = await openMirrorPages((url) => seedDays(url, [first, ...lines].join(" union all ")));
  const rows = (await (await pages.get("/files/errors/risen.json")).json()) as BlockRow[];
  return rows.map(({ error_line, failures, failures_before, projects }) => [
    String(error_line).replace("Error: no ", ""),
    failures,
    failures_before,
    projects,
  ]);
}

it("a line rises that is new, or comes more often than chance explains, in five projects or more", async () => {
  const lines = [failing("alpha", 0, 28, 9), failing("beta", 1, 28, 8)];
  const others = [failing("gamma", 8, 28, 10), failing("delta", 0, 28, 4)];
  expect(await risenOf(40, 60, ...lines, ...others)).toEqual([
    ["alpha", 9, 0, 8],
    ["beta", 8, 27, 8],
  ]);
});

it("a line that came as often on each of few days does not rise, and in less than a week none does", {
  tags: ["long"],
}, async () => {
  expect(await risenOf(12, 20, failing("alpha", 3, 11, 8))).toEqual([]);
  expect(await risenOf(7, 20, failing("alpha", 0, 6, 50))).toEqual([]);
});

it("a line that came with as many more builds does not rise", { tags: ["long"] }, async () => {
  // Ten times as many builds came today, and the same share of them failed.
  const more = `select 'more-' || n as id, 0 as ago, ${MINUTE} as minute, 'html' as type, '9' as project, true as success, null as error
    from generate_series(1, 540) as n`;
  expect(await risenOf(40, 60, more, failing("alpha", 2, 28, 20))).toEqual([]);
});

const rowOf = (failures: number, failures_before: number) => ({
  error_line_id: "1",
  error_line: "ModuleNotFoundError: No module named 'foo'",
  projects: 40,
  failures,
  failures_before,
  finished: 400,
  finished_before: 9000,
  since: "2026-11-22 03:10:00+00",
  first_build_id: "7",
});
const NOW = new Date("2026-11-22T12:00:00Z");
const wordsOf = (failures: number, before: number, isNow = true) =>
  sayRising(rowOf(failures, before), { now: NOW, at: NOW, isNow }).sentence;

it("a line that rises is named by what it says, without the class of its exception", () => {
  expect(wordsOf(52, 0)).toBe("“No module named 'foo'” began at 22 Nov 03:10 and hit 40 projects.");
  expect(wordsOf(52, 3)).toBe("“No module named 'foo'” rises: it hit 40 projects since 22 Nov 03:10.");
  expect(wordsOf(52, 3, false)).toBe("“No module named 'foo'” rose: it hit 40 projects since 22 Nov 03:10.");
  const lines = ["a.b.ConfigError: no x", "fatal: no x", "error:", "make: no x"];
  expect(lines.map((line) => sayingOf(line))).toEqual(["no x", "no x", "error:", "make: no x"]);
});
