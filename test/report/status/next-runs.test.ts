import { expect, test } from "vitest";
import { createNextRuns } from "../../../src/report/status/read-status.ts";

test("the next runs name each job with its line, its zone and the next moment", () => {
  const findNextRuns = createNextRuns({
    syncCron: "17 2 * * *",
    watchCron: "*/5 * * * *",
    timezone: "Europe/Berlin",
  });
  const timezone = "Europe/Berlin";
  expect(findNextRuns(new Date("2026-03-28T12:01:00Z"))).toEqual([
    // The clocks jump over 02:17.
    { job: "sync", cron: "17 2 * * *", timezone, due_at: "2026-03-29T01:17:00.000Z" },
    { job: "watch", cron: "*/5 * * * *", timezone, due_at: "2026-03-28T12:05:00.000Z" },
  ]);
});

test("a line that never comes round has no moment", () => {
  const findNextRuns = createNextRuns({
    syncCron: "0 0 29 2 1#1",
    watchCron: "* * * * *",
    timezone: "Etc/UTC",
  });
  expect(findNextRuns(new Date("2026-01-01T00:00:00Z"))[0]?.due_at).toBeNull();
});

test("the next runs follow the clock, also when it is set back", () => {
  const findNextRuns = createNextRuns({
    syncCron: "0 * * * *",
    watchCron: "* * * * *",
    timezone: "Etc/UTC",
  });
  const at = (now: string) => findNextRuns(new Date(now)).map(({ due_at }) => due_at?.slice(11, 16));
  expect(at("2026-03-01T12:00:30Z")).toEqual(["13:00", "12:01"]);
  expect(at("2026-03-01T12:59:59Z")).toEqual(["13:00", "13:00"]);
  expect(at("2026-03-01T13:00:00Z")).toEqual(["14:00", "13:01"]);
  expect(at("2026-03-01T11:30:00Z")).toEqual(["12:00", "11:31"]);
});
