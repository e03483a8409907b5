/**
 * Backups and restores of an embedded mirror that are killed at random moments, while its worker runs. A killed backup
 * leaves the one before, or a new one, whole. A killed restore leaves a place that takes the next restore, unless it had
 * ended. Then each row of the backup is there.
 */
import { createHash } from "node:crypto";
import { readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createRandom } from "../../src/simulate/random.ts";
import type { WorldOptions } from "../../src/simulate/settings.ts";
import { checkBackup, readBackup } from "../../src/store/backup/read-backup.ts";
import { type RunningCli, startCli } from "../../test/support/cli.ts";
import { createWorld, startSimulation } from "../../test/support/simulation.ts";

export interface KilledBackupsOptions {
  /** An empty folder for all files. */
  folder: string;
  world: WorldOptions;
  /** Of each of the two commands. */
  kills: number;
  seed: number;
  print?: (line: string) => void;
}

/** Of commands that ran to their end. */
export interface Took {
  /** The least: other work on the machine only makes it longer. */
  seconds: number;
  /** Of its resident memory; 0 where the system does not tell. */
  peakMb: number;
}

export interface KilledBackups {
  /** Rows of all tables in the last backup. */
  rows: number;
  bytes: number;
  backup: Took;
  restore: Took;
  /** How many killed commands had ended before their kill. */
  late: number;
  /** What must not be. */
  faults: string[];
}

const HOUR_MS = 3_600_000;
/** An hour of the service in a minute, so that each round of the watch finds something. It began that much earlier. */
const SPEED = 60;
const { signal } = new AbortController();
/**
 * Runs that were under way have ended, and nobody leads, so only the number of rows is the same. Answers of reports that
 * were behind the records are computed anew. `test/store/backup` compares all of these where nothing is under way.
 */
const SETTLED = ["sync.runs", "sync.leases"];
const COMPUTED = /^(?:rollup\..*|sync\.touched_records)$/;

export async function killBackups(options: KilledBackupsOptions): Promise<KilledBackups> {
  const { folder, kills, print = () => {} } = options;
  const random = createRandom(options.seed);
  const at = (name: string) => join(folder, name);
  const file = at("mirror.backup");
  const world = createWorld({ startAt: new Date(Date.now() - 24 * HOUR_MS), ...options.world });
  const service = await startSimulation({ world, speed: SPEED });
  const env = { DOCMIRROR_BASE_URL: service.url, DOCMIRROR_RATE: "0", DOCMIRROR_SYNC_CRON: "* * * * *" };
  const start = (data: string, ...args: string[]) =>
    startCli([...args, "--data-dir", at(data)], { env, cwd: folder });
  const backUp = (data: string, to: string) => start(data, "backup", to, "--json");
  const restore = (data: string) => start(data, "restore", file, "--json");
  const found: KilledBackups = {
    rows: 0,
    bytes: 0,
    late: 0,
    faults: [],
    backup: { seconds: 0, peakMb: 0 },
    restore: { seconds: 0, peakMb: 0 },
  };

  /** Restores where a restore may have ended, and compares each row that is there with the file. */
  async function restoreWhole(data: string): Promise<Took> {
    const took = await run(restore(data), (error) => error.includes(" already: "));
    const again = at("again.backup");
    await run(backUp(data, again));
    const [wanted, restored] = [await printsOf(file), await printsOf(again)];
    for (const name of Object.keys(wanted).filter((table) => !COMPUTED.test(table))) {
      const isSame = SETTLED.includes(name)
        ? wanted[name]?.rows === restored[name]?.rows
        : wanted[name]?.print === restored[name]?.print;
      if (!isSame) found.faults.push(`${name} is not as it was in ${data}`);
    }
    rmSync(again);
    return took;
  }

  try {
    await run(start("mirror", "sync"));
    await using worker = start("mirror", "worker", "--http-port", "0");
    await worker.waitFor("stderr", /the worker is up/);
    found.backup = await run(backUp("mirror", file));
    found.restore = await restoreWhole("restored");
    for (let kill = 1; kill <= kills; kill++) {
      rmSync(at("restored"), { recursive: true });
      const killAfter = async (took: Took, command: () => RunningCli) => {
        const ms = random.next() * took.seconds * 1000;
        const lateAfterMs = await runAndKill(command(), ms);
        if (lateAfterMs !== null) {
          found.late++;
          took.seconds = Math.min(took.seconds, lateAfterMs / 1000);
        }
        print(`  killed after ${(ms / 1000).toFixed(1)} s${lateAfterMs === null ? "" : ", too late"}`);
      };
      const takenAt = async () => (await checkBackup(file, { signal })).header.taken_at;

      print(`kill ${kill} of a backup`);
      const before = await takenAt();
      await killAfter(found.backup, () => backUp("mirror", file));
      if ((await takenAt()) < before) found.faults.push(`an older backup came back after kill ${kill}`);
      print(`kill ${kill} of a restore`);
      await killAfter(found.restore, () => restore("restored"));
      await restoreWhole("restored");
    }
    const { rows } = await checkBackup(file, { signal });
    found.rows = Object.values(rows).reduce((sum, count) => sum + count, 0);
    found.bytes = statSync(file).size;
    worker.signal("SIGTERM");
    await worker.ended;
    return found;
  } finally {
    await service.close();
    for (const name of ["mirror", "restored"]) stopServer(at(name));
  }
}

/** Runs a command to its end, and says what it took. Throws where it fails, but for what `mayFail` knows. */
async function run(cli: RunningCli, mayFail: (stderr: string) => boolean = () => false): Promise<Took> {
  const from = performance.now();
  let peakMb = 0;
  const look = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${cli.child.pid}/status`, "utf8");
      peakMb = Math.max(peakMb, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
    } catch {
      // It has ended, or this is no Linux.
    }
  }, 50);
  const { code, stderr } = await cli.ended;
  clearInterval(look);
  if (code !== 0 && !mayFail(stderr)) throw new Error(`${cli.child.spawnargs.join(" ")}: ${code}\n${stderr}`);
  return { seconds: (performance.now() - from) / 1000, peakMb };
}

/** Null where it was killed, else how long it took until its own end. */
async function runAndKill(cli: RunningCli, afterMs: number): Promise<number | null> {
  const from = performance.now();
  const took = cli.ended.then(() => performance.now() - from);
  await Promise.race([delay(afterMs), took]);
  cli.child.kill("SIGKILL");
  return (await cli.ended).signal === null ? took : null;
}

interface Print {
  rows: number;
  /** The sum of a hash of each row: their order does not matter. */
  print: bigint;
}

/** What tells the rows of each table of a backup from others. */
async function printsOf(file: string): Promise<Record<string, Print>> {
  const prints: Record<string, Print> = {};
  let open: Buffer[] = [];
  for await (const part of readBackup(file, signal)) {
    if (part.kind === "header") continue;
    const own = prints[part.table.name] ?? { rows: 0, print: 0n };
    prints[part.table.name] = own;
    if (part.kind === "end") continue;
    let begin = 0;
    for (let end = part.bytes.indexOf(10); end !== -1; end = part.bytes.indexOf(10, begin)) {
      const hash = createHash("sha256");
      for (const piece of [...open, part.bytes.subarray(begin, end)]) hash.update(piece);
      own.print = BigInt.asUintN(64, own.print + hash.digest().readBigUInt64BE());
      own.rows++;
      open = [];
      begin = end + 1;
    }
    open.push(part.bytes.subarray(begin));
  }
  return prints;
}

/** Ends what a fault left: each command that runs to its end stops the server that it leaves alone. */
function stopServer(data: string): void {
  try {
    process.kill(
      Number(readFileSync(join(data, "postgres", "postmaster.pid"), "utf8").split("\n", 1)[0]),
      "SIGINT",
    );
  } catch {
    // There is none.
  }
}
