import { expect, test } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { createSummaryPrinter } from "../../../src/cli/sync/print-summary.ts";
import { createHostPace } from "../../../src/mirror/api/host-pace.ts";
import type { RunSummary } from "../../../src/mirror/lists/summary.ts";
import { exitCodeOfRun } from "../../../src/mirror/run/close-run.ts";
import { createWarnings } from "../../../src/mirror/run/warnings.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { startQuickWorld } from "../../support/quick-world.ts";

const SETTINGS = { retries: 5, concurrency: 4 };
const WARNING = /^paused all requests for 30 s after 6 failures in a row: GET .* got no answer/;

/** A world whose service answers so from the 21st request on; null: as ever. */
async function startTroubled(answer: () => Response | "hang up" | null) {
  let asked = 0;
  const quick = await startQuickWorld({}, (_request, next) => {
    asked += 1;
    return (asked > 20 ? answer() : null) ?? next();
  });
  return Object.assign(quick, { asked: () => asked });
}
const PAUSE = expect.stringMatching(
  /^the service asks for a pause for 24 hours; no request is sent before .*Z: GET .* answered 429/,
);
const AWAY_FOR_A_DAY = () => new Response("", { status: 429, headers: { "retry-after": "86400" } });

/** What `sync` prints of a run. */
async function printed(run: RunSummary): Promise<string> {
  let text = "";
  const write = async (more: string) => {
    text += more;
  };
  const printSummary = await createSummaryPrinter(false);
  await printSummary(run, {
    isTty: false,
    hasWritten: false,
    colour: false,
    columns: undefined,
    write,
    json: async () => {},
  });
  return text;
}

test("a service that is away for a while is left alone; the run says so", { tags: ["long"] }, async () => {
  const clock = createFakeClock();
  await using quick = await startTroubled(() => (clock.sleeps.includes(30_000) ? null : "hang up"));
  const result = await quick.sync({ clock, settings: SETTINGS });
  const warnings = [expect.stringMatching(WARNING)];
  expect(result.summary).toMatchObject({ status: "succeeded", warnings });
  const [row] = await quick.sql`select warnings from sync.runs`;
  expect(row?.warnings).toEqual(result.summary.warnings);
  expect(await printed(result.summary)).toContain(`\n  ${result.summary.warnings?.[0]}\n`);
  expect((await quick.sync({ clock, settings: SETTINGS })).summary).not.toHaveProperty("warnings");
});

test("a service that asks to be left alone for a day ends the run at once with what it has", async () => {
  const clock = createFakeClock();
  await using quick = await startTroubled(AWAY_FOR_A_DAY);
  const result = await quick.sync({ clock, settings: SETTINGS });
  expect(result.summary).toMatchObject({ status: "partial", error: PAUSE });
  expect(exitCodeOfRun(result)).toBe(5);
  // Those that were under way may have arrived, and nobody asked after them.
  expect(quick.asked()).toBeLessThanOrEqual(20 + SETTINGS.concurrency);
});

test("a run with the pace of an earlier one asks nothing while the service wants to be left alone", {
  tags: ["long"],
}, async () => {
  const clock = createFakeClock();
  const pace = createHostPace({ ratePerSecond: 0, clock });
  let isBusy = true;
  await using quick = await startQuickWorld({ builds: 40 }, (_request, next) =>
    isBusy ? AWAY_FOR_A_DAY() : next(),
  );
  const run = () => quick.sync({ clock, pace, settings: SETTINGS });
  await run();
  isBusy = false;
  quick.simulation.resetRequests();
  const second = await run();
  expect(second.summary).toMatchObject({ status: "failed", requests: 0, error: PAUSE });
  expect(exitCodeOfRun(second)).toBe(5);
  expect(quick.simulation.requests().total).toBe(0);
  await clock.sleep(3_500_000);
  const third = await run();
  expect(third.summary).toMatchObject({
    status: "succeeded",
    warnings: [expect.stringMatching(/^requests were held back for \d+ s: the service answered 429$/)],
  });
});

test("of many warnings the first 20 are kept and the others counted", () => {
  const { warn, list } = createWarnings(silentLog);
  expect(list()).toEqual([]);
  for (let number = 1; number <= 23; number++) warn(`warning ${number}`);
  expect(list()).toHaveLength(21);
  expect(list().slice(-2)).toEqual(["warning 20", "3 more warnings were left out"]);
});
