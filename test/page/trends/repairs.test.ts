import { describe, expect, it } from "vitest";
import { dayNumber } from "../../../src/page/parts/period.ts";
import { repairs } from "../../../src/page/trends/unsteady.ts";
import { textOf } from "../../support/page-text.ts";

const AT = new Date("2026-11-22T12:00:00Z");
const [FIRST, LAST] = [dayNumber("2026-10-09"), dayNumber("2026-11-21")];
const PERIOD = {
  first: FIRST,
  last: LAST,
  start: FIRST,
  before: null,
  days: LAST - FIRST + 1,
  known: FIRST,
  usualLast: LAST,
};
const NEVER = { breaks_p25_hours: null, breaks_median_hours: null };

/** The lines about some months, as the reader sees them. */
async function linesOf(rows: readonly object[]): Promise<string[]> {
  const scope = { at: AT, period: PERIOD, type: undefined, choice: {} } as never;
  const { draw } = await repairs.read({} as never, async () => ({ rows }) as never, scope);
  const body = String((await draw(undefined))?.body);
  return [...body.matchAll(/<li>(.*?)<\/li>/gs)].map(([, line = ""]) =>
    textOf(line).replace(/\s+/g, " ").trim(),
  );
}

describe("the time to recover", () => {
  it("is that of breaks alone; what never worked is counted apart", async () => {
    const november = {
      month: "2026-11",
      streaks: 9,
      breaks: 4,
      breaks_recovered: 3,
      breaks_p25_hours: 0.5,
      breaks_median_hours: 50,
    };
    const october = { month: "2026-10", streaks: 1, breaks: 1, breaks_recovered: 0, ...NEVER };
    expect(await linesOf([november, october])).toEqual([
      "Broke in 2026-11half fixed within 2 d4 breaks, 1 not fixed; a quarter fixed within 30 min; 5 more failed from their first known build on",
      "Broke in 2026-10more than half not fixed1 break, 1 not fixed",
    ]);
  });
});
