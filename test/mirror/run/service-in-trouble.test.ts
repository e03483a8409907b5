import { expect, test } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { createHostPace } from "../../../src/mirror/api/host-pace.ts";
import { exitCodeOfRun } from "../../../src/mirror/run/close-run.ts";
import { createWarnings } from "../../../src/mirror/run/warnings.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { startQuickWorld } from "../../support/quick-world.ts";

const SETTINGS = { retries: 5, concurrency: 4 };

const PAUSE = expect.stringMatching(
  /^the service asks for a pause for 24 hours; no request is sent before .*Z: GET .* answered 429/,
);
const AWAY_FOR_A_DAY = () => new Response("", { status: 429, headers: { "retry-after": "86400" } });

test("a service that asks to be left alone for a day ends the run at once with what it has", async () => {
  let asked = 0;
  await using quick = await startQuickWorld({}, (_request, next) => {
    asked += 1;
    return asked > 20 ? AWAY_FOR_A_DAY() : next();
  });
  const result = await quick.sync({ clock: createFakeClock(), settings: SETTINGS });
  expect(result.summary).toMatchObject({ status: "partial", error: PAUSE });
  expect(exitCodeOfRun(result)).toBe(5);
  // Those that were under way may have arrived, and nobody asked after them.
  expect(asked).toBeLessThanOrEqual(20 + SETTINGS.concurrency);
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
