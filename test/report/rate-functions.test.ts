/** The intervals of rates that queries of users compute, for counts of each type that Postgres has. */
import { expect, test } from "vitest";
import { wilsonInterval } from "../../src/report/wilson-interval.ts";
import { useDatabase } from "../support/use-database.ts";

const TYPES = ["smallint", "int", "bigint", "numeric", "real", "float8"];

const { sql } = useDatabase();

async function ask(expression: string): Promise<number | null> {
  const [row] = await sql.unsafe<{ value: number | null }[]>(`select ${expression} as value`);
  return row?.value ?? null;
}

const { low, high } = wilsonInterval(3, 4) ?? { low: Number.NaN, high: Number.NaN };
const PAIRS = TYPES.flatMap((one) => TYPES.map((other) => [one, other] as const));

test.each(PAIRS)("the interval of a %s of a %s needs no cast", async (one, other) => {
  const counts = `3::${one}, 4::${other}`;
  expect(await ask(`report.wilson_low(${counts})`)).toBeCloseTo(low, 12);
  expect(await ask(`report.wilson_high(${counts})`)).toBeCloseTo(high, 12);
  const below = -Math.hypot(0.75 - low, high - 0.75);
  expect(await ask(`report.rate_difference_low(${counts}, ${counts})`)).toBeCloseTo(below, 12);
});

test("the interval of sums needs no cast, whatever is summed", async () => {
  for (const type of TYPES) {
    const from = `from (values (1::${type}, 2::${type}), (2, 2)) as counted (succeeded, finished)`;
    const counts = "sum(succeeded), sum(finished)";
    const askFor = (name: string, of: string) => ask(`(select report.${name}(${of}) ${from})`);
    expect(await askFor("wilson_low", counts)).toBeCloseTo(low, 7);
    expect(await askFor("wilson_high", counts)).toBeCloseTo(high, 7);
    expect(await askFor("rate_difference_high", `${counts}, ${counts}`)).toBeGreaterThan(0);
  }
});

test.each([
  "wilson_low",
  "wilson_high",
])("%s is null where a count is null, and where nothing finished", async (name) => {
  for (const counts of ["null, null", "null, 4", "null, 4::bigint", "3::numeric, null", "0, 0"])
    expect(await ask(`report.${name}(${counts})`), counts).toBeNull();
});

test("the planner replaces the functions by their expressions", async () => {
  const plan = await sql.unsafe<{ "QUERY PLAN": string }[]>(`
    explain (verbose, costs off)
    select report.wilson_low(sum(succeeded), sum(finished)), report.wilson_high(count(succeeded), count(*)),
      report.rate_difference_high(sum(succeeded), sum(finished), sum(failed), sum(builds))
    from rollup.days group by day`);
  const text = plan.map((line) => line["QUERY PLAN"]).join("\n");
  expect(text).toContain("sqrt");
  expect(text).not.toMatch(/wilson|rate_difference/);
});

// The examples of Newcombe's paper, method 10. It has four places, and a z of more than two.
test.each([
  [56, 70, 48, 80, 0.0524, 0.3339],
  [9, 10, 3, 10, 0.1705, 0.809],
  [6, 7, 2, 7, 0.0582, 0.8062],
  [5, 56, 0, 29, -0.0381, 0.1926],
  [0, 10, 0, 20, -0.1611, 0.2775],
  [0, 10, 0, 10, -0.2775, 0.2775],
  [10, 10, 0, 20, 0.6791, 1],
  [10, 10, 0, 10, 0.6075, 1],
])("the interval of %d/%d - %d/%d is that of the paper", async (...row) => {
  const counts = row.slice(0, 4).join(", ");
  for (const [place, end] of ["low", "high"].entries()) {
    const found = await ask(`report.rate_difference_${end}(${counts})`);
    expect(Math.abs((found ?? Number.NaN) - (row[4 + place] ?? Number.NaN))).toBeLessThan(1e-4);
  }
});

test("a difference from nothing is null", async () => {
  for (const counts of ["1, 2, 0, 0", "0, 0, 1, 2", "1, 2, null, null"])
    for (const end of ["low", "high"])
      expect(await ask(`report.rate_difference_${end}(${counts})`)).toBeNull();
});
