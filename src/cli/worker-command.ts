import type { Command } from "commander";
import { requireBaseUrl } from "../config.ts";
import { assertNotDemo } from "../db/demo-mark.ts";
import { openDatabase } from "../db/open.ts";
import { prepareDatabase } from "../db/prepare.ts";
import { EXIT, MirrorError } from "../errors.ts";
import { runSync } from "../sync/run.ts";
import { createKeptDatabase } from "../worker/kept-database.ts";
import { createNightlySync } from "../worker/nightly-sync.ts";
import { createWorker } from "../worker/worker.ts";
import { createCommand } from "./create-command.ts";
import { createProgress } from "./progress.ts";
import { type CommandContext, runCommand } from "./run-command.ts";
import { syncSettings } from "./sync-command.ts";
import { untilStopped } from "./until-stopped.ts";

/** Beyond this the process ends though something still hangs; whoever stopped it expects that within 10 s. */
const LEAVE_WITHIN_MS = 9500;

export function workerCommand(summary: string): Command {
  return createCommand({
    name: "worker",
    summary,
    settings: [
      "baseUrl",
      "databaseUrl",
      "dataDir",
      "syncCron",
      "timezone",
      "pageSize",
      "rate",
      "concurrency",
      "timeoutMs",
      "retries",
      "maxBodyMb",
      "fullEveryDays",
      "maxDeleteRatio",
      "sourceTimezone",
    ],
    examples: [
      [
        "worker --base-url https://docs.example.org",
        "syncs every night; at once when the last one was missed",
      ],
      ['worker --sync-cron "30 3 * * *" --timezone Europe/Berlin', "at half past three in Berlin"],
    ],
  }).action(runCommand(work));
}

async function work({ config, log, clock, signal }: CommandContext): Promise<never> {
  const baseUrl = requireBaseUrl(config);
  const { databaseUrl, dataDir, syncCron, timezone } = config;
  const database = createKeptDatabase({
    open: (openSignal) => openDatabase({ databaseUrl, dataDir, log, signal: openSignal }),
    async prepare(opened, prepareSignal) {
      await assertNotDemo(opened.url, baseUrl);
      await prepareDatabase(opened, log, prepareSignal);
    },
    clock,
    log,
  });
  const nightly = createNightlySync({
    cron: syncCron,
    timezone,
    settings: { ...syncSettings(config), baseUrl },
    database,
    runSync,
    watchRun() {
      // Log lines on a terminal too: bars would stand there from night to night.
      const look = { isTty: false, columns: 80, colour: false };
      const progress = createProgress({ stream: process.stderr, ...look, clock, log });
      return (resource, { pages, records }, totalCount) =>
        progress.update(resource, { pages, records, totalCount });
    },
    clock,
    log,
  });
  const worker = createWorker({ jobs: [nightly], clock, log });
  try {
    // A database that is down is waited for; one that refuses us for good ends the command here, with its own exit code.
    await database.ready(signal);
    log.info({ syncCron, timezone }, "the worker is up; Ctrl-C stops it");
    worker.start();
    return await untilStopped(signal);
  } finally {
    const code = signal.reason instanceof MirrorError ? signal.reason.exitCode : EXIT.bug;
    const force = setTimeout(() => process.exit(code), LEAVE_WITHIN_MS);
    await worker.stop(signal.reason);
    await database.close();
    clearTimeout(force);
  }
}
