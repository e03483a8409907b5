import { mkdir, readdir, rename, utimes, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { createUpkeepJob, createUpkeepJobs } from "../../../src/cli/worker/upkeep-jobs.ts";
import { createWorker } from "../../../src/cli/worker/worker.ts";
import type { StatusDocument } from "../../../src/report/status/read-status.ts";
import { checkBackup } from "../../../src/store/backup/read-backup.ts";
import type { Made } from "../../../src/store/ledger/jobs.ts";
import { keptDatabase } from "../../support/connections.ts";
import { createTestDatabase } from "../../support/database.ts";
import { createHandClock } from "../../support/fake-clock.ts";
import { useFolder } from "../../support/folder.ts";
import { createReportedMirror } from "../../support/reported-mirror.ts";
import { startService, TINY } from "../../support/service.ts";
import { awaitLeader, startWorker } from "../../support/several-workers.ts";
import { useDatabase } from "../../support/use-database.ts";
import { startWebhookReceiver, WEBHOOK_SECRET } from "../../support/webhook-receiver.ts";

const folder = useFolder("docmirror-upkeep-");
const { signal } = new AbortController();

describe("a job that writes files", () => {
  const mirror = useDatabase(createTestDatabase, "test");
  const stored = async () => (await mirror.sql`select * from sync.jobs`)[0];

  /** One at a quarter to four, whose next runs end so. */
  function createJob(clock = createHandClock("2026-11-28T12:00:00Z")) {
    const ends: (Made | Error)[] = [];
    const job = createUpkeepJob({
      name: "backup",
      cron: "45 3 * * *",
      timezone: "Etc/UTC",
      clock,
      log: silentLog,
      database: keptDatabase(mirror.url),
      async make() {
        const end = ends.shift() ?? new Error("one run too many");
        if (end instanceof Error) throw end;
        return end;
      },
    });
    return { job, ends, clock };
  }

  it("is missed until a run began after its due time, and one that a wrong clock dated ahead does not count", async () => {
    const { job, ends, clock } = createJob();
    expect(await job.lastGoodAt?.(signal)).toBeNull();
    ends.push({ what: "/backups/a", bytes: 7 });
    expect(await job.run(signal)).toMatchObject({ outcome: "done" });
    expect(await job.lastGoodAt?.(signal)).toEqual(clock.now());
    expect(await createJob(createHandClock("2026-01-01T00:00:00Z")).job.lastGoodAt?.(signal)).toBeNull();
  });

  it("notes failures since the first one, and keeps the last good run, until one is good again", async () => {
    const { job, ends, clock } = createJob();
    ends.push(
      { what: "/backups/a", bytes: 7 },
      new Error("the disk is full"),
      new Error("the disk is fuller"),
    );
    await job.run(signal);
    await clock.advance(60_000);
    await expect(job.run(signal)).rejects.toThrow("full");
    await clock.advance(60_000);
    await expect(job.run(signal)).rejects.toThrow("fuller");
    const good = { job: "backup", good_at: "2026-11-28 12:00:00+00", what: "/backups/a", bytes: 7 };
    const failed = { failed_at: "2026-11-28 12:01:00+00", error: "the disk is fuller", failures: 2 };
    expect(await stored()).toEqual({ ...good, ...failed });
    ends.push({ what: "/backups/b", bytes: null });
    await job.run(signal);
    const now = { good_at: "2026-11-28 12:02:00+00", what: "/backups/b", bytes: null };
    expect(await stored()).toEqual({ job: "backup", ...now, failed_at: null, error: null, failures: 0 });
  });

  it("takes a stop for no failure", async () => {
    const { job, ends } = createJob();
    const stop = new AbortController();
    stop.abort(new Error("stopped"));
    ends.push(new Error("cut off"));
    await expect(job.run(stop.signal)).rejects.toThrow();
    expect(await stored()).toBeUndefined();
  });

  it("is made at the start where it was missed, and tried again after 15 and 60 minutes", {
    tags: ["long"],
  }, async () => {
    const { job, ends, clock } = createJob();
    ends.push(new Error("first"), new Error("second"), new Error("third"), { what: "/backups/a", bytes: 7 });
    const worker = createWorker({ jobs: [job], clock, log: silentLog });
    worker.start();
    const state = () => worker.states().backup;
    try {
      for (const [left, minutes] of [
        [3, 14],
        [3, 1],
        [2, 59],
        [2, 1],
      ] as const) {
        await expect.poll(state).toBe("backing off");
        expect(ends).toHaveLength(left);
        await clock.advance(minutes * 60_000);
      }
      await expect.poll(state).toBe("waiting");
      expect(ends).toHaveLength(1);
      await clock.moveTo("2026-11-29T03:45:00Z");
      await expect.poll(async () => (await stored())?.what).toBe("/backups/a");
    } finally {
      await worker.stop();
    }
  });
});

describe("a prune as a job", () => {
  const mirror = useDatabase(createTestDatabase, "test");
  const NOW = new Date();
  const KEPT = { backupCron: null, backupDir: null, backupKeep: 14, exportCron: null };
  const prune = async (historyKeepMs: number | null, now = NOW) => {
    const settings = { ...KEPT, exportDir: null, exportLogsDir: null, pruneCron: "@daily", historyKeepMs };
    const [job, ...others] = createUpkeepJobs(
      { ...settings, timezone: "Etc/UTC", sourceTimezone: "Etc/UTC" },
      { database: keptDatabase(mirror.url), clock: createHandClock(now.toISOString()), log: silentLog },
    );
    expect(others).toEqual([]);
    expect(await job?.run(signal)).toMatchObject({ outcome: "done" });
    return (await mirror.sql`select job, what, failures from sync.jobs`)[0];
  };
  const addRun = (kind: string, daysAgo: number) => mirror.sql`
    insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host, clock_ahead_min_ms, clock_ahead_max_ms)
    select ${kind}, 'succeeded', at, at, now(), 1, 'h', 0, 900
    from (select ${NOW.toISOString()}::timestamptz - ${daysAgo} * interval '1 day' as at) as moment`;

  it("removes rounds of the watch from over 400 days ago, and the history only where a setting says so", async () => {
    for (const daysAgo of [500, 401, 399, 300, 0]) {
      await addRun("full", daysAgo);
      await addRun("watch", daysAgo);
    }
    const removed = (what: string) => ({ job: "prune", what, failures: 0 });
    expect(await prune(null)).toEqual(removed("0 changes and 2 runs removed"));
    expect(await prune(350 * 86_400_000)).toEqual(removed("0 changes and 4 runs removed"));
    expect(
      await mirror.sql`select kind, count(*) as runs from sync.runs group by kind order by kind`,
    ).toEqual([
      { kind: "full", runs: 2 },
      { kind: "watch", runs: 2 },
    ]);
  });

  it("removes nothing by a clock that jumped ahead", async () => {
    await addRun("watch", 1);
    await addRun("watch", 0);
    const inTenYears = new Date(NOW.getTime() + 3650 * 86_400_000);
    await mirror.sql`update sync.runs set finished_at = finished_at - interval '30 days'`;
    expect((await prune(86_400_000, inTenYears))?.what).toMatch(/^nothing: no run of two days agrees/);
    expect(await mirror.sql`select from sync.runs`).toHaveLength(2);
  });

  it("removes nothing where the newest run heard no time of the service, as by clocks years ahead that end its certificate", async () => {
    for (const daysAgo of [5000, 4000, 3900]) await addRun("watch", daysAgo);
    await mirror.sql`
      insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host) values ('full', 'failed', now(), now(), now(), 1, 'h')`;
    expect((await prune(86_400_000))?.what).toMatch(/^nothing: no run of two days agrees/);
    expect(await mirror.sql`select from sync.runs`).toHaveLength(4);
  });

  it("removes nothing where the clocks of the newest run and of the service are decades apart", async () => {
    for (const clockAheadMs of [-(2 ** 31), 2 ** 31 - 1]) {
      await addRun("watch", 0);
      await mirror.sql`update sync.runs set clock_ahead_min_ms = ${clockAheadMs}, clock_ahead_max_ms = ${clockAheadMs}`;
      expect((await prune(86_400_000))?.what).toMatch(/^nothing: no run of two days agrees/);
    }
  });
});

describe("an export as a job", () => {
  it("writes builds and logs, and each of them also where the other one fails", async () => {
    await using mirror = await createReportedMirror();
    const run = (exportDir: string | null, exportLogsDir: string | null) => {
      const settings = {
        backupCron: null,
        backupDir: null,
        backupKeep: 14,
        exportCron: "@daily",
        exportDir,
        exportLogsDir,
        pruneCron: null,
        historyKeepMs: null,
      };
      const clock = createHandClock("2026-11-28T12:00:00Z");
      const [job, ...others] = createUpkeepJobs(
        { ...settings, timezone: "Etc/UTC", sourceTimezone: "Etc/UTC" },
        { database: keptDatabase(mirror.url), clock, log: silentLog },
      );
      expect(others).toEqual([]);
      return job?.run(signal);
    };
    const [builds, logs, foreign] = [folder.at("builds"), folder.at("logs"), folder.path];
    await run(builds, null);
    expect(await readdir(builds)).toContain("fact_builds");
    await writeFile(folder.at("mine"), "");
    await expect(run(foreign, logs)).rejects.toThrow("was not made by an export");
    expect(await readdir(logs)).toContain("build_logs");
    await run(builds, logs);
    const [row] = await mirror.sql`select job, what, failures from sync.jobs`;
    expect(row).toEqual({ job: "export", what: `${builds}, ${logs}`, failures: 0 });
  });
});

describe("the backups of workers", { tags: ["long"], timeout: 300_000 }, () => {
  const NEVER = ["--sync-cron", "0 0 29 2 *", "--watch-cron", "0 0 29 2 *", "--rate", "0"];
  const backups = async (path: string) => (await readdir(path)).filter((name) => !name.startsWith("."));

  it("are made by the leader alone; a folder that is gone is noticed once, and a kill in the middle of one leaves no draft", async () => {
    await using mirror = await createTestDatabase();
    await using service = await startService(TINY);
    await using receiver = await startWebhookReceiver();
    const [place, away] = [folder.at("both"), folder.at("away")];
    await mkdir(place);
    const every = ["--backup-cron", "*/2 * * * * *", "--backup-dir", place, "--backup-keep", "2"];
    const hook = ["--webhook-url", receiver.url.href, "--webhook-secret", WEBHOOK_SECRET];
    const start = () => startWorker(mirror.url, [...NEVER, ...every, ...hook, "--base-url", service.url]);
    await using first = await start();
    await awaitLeader(mirror.sql);
    await using second = await start();
    const made = () => first.cli.stderr().split('"job":"backup","what":').length - 1;
    await expect.poll(made).toBeGreaterThan(3);
    expect(second.cli.stderr()).not.toContain('"job":"backup"');
    await first.cli.waitFor("stderr", /notices begin here/);

    await rename(place, away);
    await first.cli.waitFor("stderr", /is not there/);
    const statusOf = async () =>
      ((await (await fetch(`${second.page}/status.json`)).json()) as StatusDocument).jobs;
    await expect.poll(statusOf).toMatchObject([
      { job: "backup", error: `the folder ${place} is not there` },
      { job: "prune", failures: 0 },
    ]);
    const kept = (await backups(away)).length;
    expect(kept).toBeLessThanOrEqual(3);
    const metrics = async () => (await fetch(`${second.page}/metrics`)).text();
    await expect.poll(metrics).toMatch(/^docmirror_job_failures_in_a_row\{command="backup"\} [1-9]/m);
    expect(await metrics()).toMatch(/^docmirror_job_last_good_timestamp_seconds\{command="backup"\} \d+/m);
    await receiver.arrived(1);

    await rename(away, place);
    const good = async () => (await statusOf())[0]?.failures;
    await expect.poll(good).toBe(0);
    expect(receiver.notices.map(({ type, data }) => [type, data.job])).toEqual([["job.failed", "backup"]]);

    const draft = await mirror.sql.begin(async (tx) => {
      await tx`lock table mirror.builds in access exclusive mode`;
      const drafts = async () => (await readdir(place)).filter((name) => name.includes(".partial-"));
      await expect.poll(async () => (await drafts()).length).toBe(1);
      await first.cli.stop("SIGKILL");
      for (const name of await backups(place)) await checkBackup(`${place}/${name}`, { signal });
      const [draft = ""] = await drafts();
      await utimes(`${place}/${draft}`, 0, 0);
      return draft;
    });
    await second.cli.waitFor("stderr", /"job":"backup","what":/);
    expect(await readdir(place)).not.toContain(draft);
    await second.cli.stop();
    for (const name of await backups(place)) await checkBackup(`${place}/${name}`, { signal });
  });
});
