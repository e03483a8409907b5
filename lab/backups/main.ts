/**
 * `npm run test:backups`: backups of 100,000 builds and restores of them, each killed at ten random moments while the
 * worker runs, and each row compared. Says what one of both takes at least. Takes 6 to 20 minutes.
 *
 * Options: `--builds 100000`, `--kills 10`, `--seed 1`. Exits 1 on any fault.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { killBackups, type Took } from "./killed-backups.ts";

const { values } = parseArgs({
  options: {
    builds: { type: "string", default: "100000" },
    kills: { type: "string", default: "10" },
    seed: { type: "string", default: "1" },
  },
});
const builds = Number(values.builds);
const print = (line: string) => void process.stdout.write(`${line}\n`);
const say = (what: string, { seconds, peakMb }: Took) =>
  print(`${what}: ${seconds.toFixed(0)} s, at most ${peakMb.toFixed(0)} MB of memory`);

const folder = mkdtempSync(join(tmpdir(), "docmirror-backups-"));
try {
  const found = await killBackups({
    folder,
    world: { builds, projects: builds / 40, versions: builds / 5, files: builds / 5 },
    kills: Number(values.kills),
    seed: Number(values.seed),
    print,
  });
  print(
    `${found.rows.toLocaleString("en-US")} rows of ${values.builds} builds in ${Math.ceil(found.bytes / 1e6)} MB`,
  );
  say("a backup", found.backup);
  say("a restore", found.restore);
  print(`${found.late} of the ${2 * Number(values.kills)} killed commands had ended before`);
  print(found.faults.length === 0 ? "each row of each backup came back" : found.faults.join("\n"));
  if (found.faults.length > 0) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
