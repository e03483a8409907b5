import { describe, expect, expectTypeOf, it } from "vitest";
import * as labels from "../../../src/base/metrics/labels.ts";
import { createMeters } from "../../../src/base/metrics/meters.ts";
import { readVersion } from "../../../src/base/version.ts";
import { emptyCounts } from "../../../src/mirror/lists/summary.ts";
import { OPEN_STATES } from "../../../src/resources/build-states.ts";
import type { RunKind, RunStatus } from "../../../src/store/schema/runs.ts";
import { seriesOf, sumOf } from "../../support/alert-firings.ts";

describe("meters", () => {
  it("begin at 0 for every label that is known", async () => {
    const text = await createMeters().registry.metrics();
    const runs = seriesOf(text, "docmirror_runs_total");
    expect(Object.keys(runs)).toHaveLength(labels.RUN_KINDS.length * labels.RUN_STATUSES.length);
    expect(new Set(Object.values(runs))).toEqual(new Set([0]));
    for (const [metric, series] of [
      ["docmirror_http_requests_total", 'resource="build",code="200"'],
      ["docmirror_http_requests_total", 'resource="content",code="timeout"'],
      ["docmirror_http_retries_total", 'reason="503"'],
      ["docmirror_records_total", 'resource="file",outcome="deleted"'],
      ["docmirror_load_duration_seconds_count", 'resource="user"'],
    ] as const)
      expect(seriesOf(text, metric)).toMatchObject({ [series]: 0 });
    const program = `version="${readVersion()}",node="${process.version}"`;
    expect(seriesOf(text, "docmirror_build_info")).toEqual({ [program]: 1 });
    expect(seriesOf(text, "docmirror_next_run_timestamp_seconds")).toEqual({});
  });

  it("are not shared between two of them", async () => {
    const [one, other] = [createMeters(), createMeters()];
    one.runs.ended("full", "failed");
    expect(sumOf(await one.registry.metrics(), "docmirror_runs_total")).toBe(1);
    expect(sumOf(await other.registry.metrics(), "docmirror_runs_total")).toBe(0);
  });

  it("show what their queues hold now, and no queue that has ended", async () => {
    const { requests, registry } = createMeters();
    const leave = requests.watchQueue(() => ({ waiting: 3, running: 1 }));
    requests.watchQueue(() => ({ waiting: 2, running: 2 }));
    const depths = async () => seriesOf(await registry.metrics(), "docmirror_http_queue_requests");
    expect(await depths()).toEqual({ 'state="waiting"': 5, 'state="running"': 3 });
    leave();
    expect(await depths()).toEqual({ 'state="waiting"': 2, 'state="running"': 2 });
  });

  it("show when each schedule is due, and nothing for one that never is again", async () => {
    const { schedule, registry } = createMeters();
    let next: string | null = "2026-11-03T02:17:00Z";
    schedule.watch(() => [{ job: "sync", due_at: next }]);
    const due = async () => seriesOf(await registry.metrics(), "docmirror_next_run_timestamp_seconds");
    expect(await due()).toEqual({ 'command="sync"': Date.parse(next) / 1000 });
    next = null;
    expect(await due()).toEqual({});
  });

  it("count a walk by its totals, from where an earlier run left it, and never down", async () => {
    const { runs, registry } = createMeters();
    const follow = runs.followWalk("build", { inserted: 100, unchanged: 20 });
    // Pages that are read ahead look unchanged until they are stored.
    follow({ inserted: 110, unchanged: 90, updated: 0 }, false);
    follow({ inserted: 109, unchanged: 80, updated: 1 }, false);
    follow({ inserted: 115, unchanged: 30, updated: 1 }, true);
    expect(seriesOf(await registry.metrics(), "docmirror_records_total")).toMatchObject({
      'resource="build",outcome="inserted"': 15,
      'resource="build",outcome="unchanged"': 10,
      'resource="build",outcome="updated"': 1,
    });
  });
});

describe("labels", () => {
  const { answerLabel, OUTCOMES } = labels;

  it("name the kinds, statuses and outcomes that the program has", () => {
    expectTypeOf<labels.RunKindLabel>().toEqualTypeOf<RunKind>();
    expectTypeOf<labels.RunStatusLabel>().toEqualTypeOf<Exclude<RunStatus, "running">>();
    expect(Object.keys(emptyCounts())).toEqual(expect.arrayContaining([...OUTCOMES]));
    expect(labels.COMMAND_LABELS).toEqual(["sync", "watch", "backup", "export", "prune"]);
  });

  it.each([
    [200, "200"],
    [404, "404"],
    [503, "503"],
    [299, "2xx"],
    [522, "5xx"],
    [999, "9xx"],
    ["timeout", "timeout"],
  ] as const)("show the answer %s as %s", (answer, label) => {
    expect(answerLabel(answer)).toBe(label);
  });

  it("are few, whatever status a server makes up", () => {
    const all = Array.from({ length: 900 }, (_, index) => answerLabel(100 + index));
    expect(new Set(all).size).toBeLessThan(80);
  });

  const FOREIGN = ['building"} 1\nevil 1', "BUILDING", "", null, "x".repeat(10_000)];
  it.each(FOREIGN)("show the foreign state %j as other", (state) => {
    expect(labels.knownOr(OPEN_STATES, state)).toBe("other");
  });
});
