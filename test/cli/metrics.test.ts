import { describe, expect, it } from "vitest";
import { hasPromtool, promtool, seriesOf, sumOf } from "../support/alert-firings.ts";
import { pageOf, type RunningCli, startCli } from "../support/cli.ts";
import { createTestDatabase } from "../support/database.ts";
import { startService, TINY } from "../support/service.ts";

/** Never in these years, so that nothing but the start begins a sync. */
const NEVER = ["--sync-cron", "0 0 29 2 *", "--watch-cron", "0 0 29 2 *", "--rate", "0", "--http-port", "0"];

async function scrape(cli: RunningCli): Promise<string> {
  const url = await pageOf(cli);
  return (await fetch(`${url}/metrics`)).text();
}
const figuresOf = (text: string) =>
  text
    .slice(text.indexOf("# HELP docmirror_database_up"), text.indexOf("# HELP docmirror_build_info"))
    .replace(/^.*docmirror_(?:is_|has_)?leader\b.*\n\n?/gm, "");

const leadOf = (text: string) => ({
  leader: seriesOf(text, "docmirror_is_leader"),
  hasLeader: seriesOf(text, "docmirror_has_leader"),
});

// By real processes: test/serve/http/metrics-route.test.ts has the same by function.
describe("/metrics", { tags: ["long", "exhaustive"] }, () => {
  it("of a worker agrees with its log and with what the service counted; a standby, `serve` and a restarted worker tell the same of the mirror", async () => {
    await using database = await createTestDatabase({ migrated: false });
    await using service = await startService(TINY);
    const args = [
      "worker",
      ...NEVER,
      "--verify-sample",
      "0",
      "--base-url",
      service.url,
      "--database-url",
      database.url,
    ];
    await using worker = startCli(args);
    const [line] = await worker.waitFor("stderr", /^.*sync succeeded.*$/m);
    const { requests, transitions } = JSON.parse(line);
    expect(transitions).toBeGreaterThanOrEqual(0);
    const ended = async () => seriesOf(await scrape(worker), "docmirror_last_run_status");
    await expect.poll(ended, { interval: 500 }).toMatchObject({ 'kind="full",status="succeeded"': 1 });
    const text = await scrape(worker);
    const round = seriesOf(text, "docmirror_last_run_requests")['kind="watch"'] ?? 0;
    expect(sumOf(text, "docmirror_http_requests_total")).toBe(requests + round);
    expect(service.requests().total).toBe(requests + round);
    expect(seriesOf(text, "docmirror_runs_total")).toMatchObject({ 'kind="full",status="succeeded"': 1 });
    const next = seriesOf(text, "docmirror_next_run_timestamp_seconds")['command="sync"'] ?? 0;
    expect(new Date(next * 1000).toISOString()).toMatch(/-02-29T00:00:00.000Z$/);
    expect(text).toContain("nodejs_eventloop_lag_p99_seconds");
    if (hasPromtool) expect(promtool(["check", "metrics"], text)).toEqual({ code: 0, output: "" });

    await using server = startCli(["serve", "--http-port", "0", "--database-url", database.url]);
    await server.waitFor("stdout", /http/);
    await expect.poll(async () => sumOf(await scrape(server), "docmirror_database_up")).toBe(1);
    expect(figuresOf(await scrape(server))).toBe(figuresOf(await scrape(worker)));

    expect(leadOf(text)).toEqual({ leader: { "": 1 }, hasLeader: { "": 1 } });
    expect(leadOf(await scrape(server))).toEqual({ leader: {}, hasLeader: { "": 1 } });
    await using standby = startCli(args);
    const lead = async () => leadOf(await scrape(standby));
    await expect.poll(lead).toEqual({ leader: { "": 0 }, hasLeader: { "": 1 } });
    const idle = await scrape(standby);
    expect(figuresOf(idle)).toBe(figuresOf(await scrape(worker)));
    expect(sumOf(idle, "docmirror_runs_total")).toBe(0);
    expect(seriesOf(idle, "docmirror_next_run_timestamp_seconds")['command="sync"']).toBe(next);
    await standby.stop();

    await worker.stop("SIGKILL");
    await using again = startCli(args);
    await again.waitFor("stderr", /the worker is up/);
    const restarted = await scrape(again);
    expect(sumOf(restarted, "docmirror_runs_total", 'kind="full"')).toBe(0);
    const lastGood = "docmirror_list_last_good_timestamp_seconds";
    const { 'resource="build"': _read, ...others } = seriesOf(restarted, lastGood);
    expect(seriesOf(text, lastGood)).toMatchObject(others);
  });
});
