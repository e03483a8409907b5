/** The test of flips, and which series it calls flaky. */
import { expect, test } from "vitest";
import { useDatabase } from "../support/use-database.ts";
import { insertRows } from "./insert-rows.ts";
import { chanceOfFlips } from "./model/series.ts";

const { sql } = useDatabase();

test("the chance of flips is that of counting every order, for all counts up to 20 builds", async () => {
  const rows = await sql<{ succeeded: number; failed: number; flips: number; p: number | null }[]>`
    select succeeded, failed, flips, rollup.flips_p_value(succeeded, failed, flips) as p
    from generate_series(0, 20) as succeeded, generate_series(0, 20 - succeeded) as failed,
      generate_series(0, greatest(0, succeeded + failed - 1)) as flips`;
  expect(rows.length).toBe(3081);
  for (const { succeeded, failed, flips, p } of rows) {
    const chance = chanceOfFlips(succeeded, failed)
      .slice(flips)
      .reduce((sum, one) => sum + one, 0);
    const isTried = succeeded > 0 && failed > 0;
    expect(p, `${succeeded}, ${failed}, ${flips}`).toEqual(isTried ? expect.closeTo(chance, 12) : null);
  }
});

test("few of many series that flip by chance are called flaky, and those that take turns are", async () => {
  await insertRows(sql, "rollup.series", [
    ...Array.from({ length: 60 }, (_, index) => series(`chance-${index}`, 10, 7 + (index % 6))),
    series("takes-turns", 10, 19),
    series("nearly", 9, 17),
    series("steady", 20, 0),
    series("broke-once", 10, 1),
  ]);
  const rows = await sql`
    select project_id, p_value, p_value_adjusted from report.instability where is_flaky order by p_value`;
  // 2 of the 184,756 orders of ten and ten, and 90 + 10 of the 167,960 of nine and eleven; 63 series were tried, and the steady one was not.
  expect(rows.map((row) => Object.values(row))).toEqual([
    ["takes-turns", expect.closeTo(2 / 184_756, 12), expect.closeTo((2 * 63) / 184_756, 12)],
    ["nearly", expect.closeTo(100 / 167_960, 12), expect.closeTo((100 * 63) / 2 / 167_960, 12)],
  ]);
  const [steady] = await sql`
    select p_value, p_value_adjusted, is_flaky from report.instability where project_id = 'steady'`;
  expect(steady).toEqual({ p_value: null, p_value_adjusted: null, is_flaky: false });
});

function series(project_id: string, recent_succeeded: number, recent_flips: number) {
  const counts = { builds: 20, finished: 20, succeeded: recent_succeeded, failed: 20 - recent_succeeded };
  const recent = { recent_finished: 20, recent_succeeded, recent_flips };
  return { project_id, version_id: "1", type: "html", ...counts, ...recent };
}
