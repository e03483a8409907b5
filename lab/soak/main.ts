/**
 * `npm run test:soak`: a living service with random faults is mirrored for an hour, run after run, a third of them rounds of the watch, some
 * of them killed, stopped, robbed of their lock, dated by a wrong clock, or sent through a bad proxy. For some runs in a row the service has
 * a replica that is behind, counts from a cache, or pages that are filtered. After each run its verdict is held against the truth. Then the
 * faults end, the world stands still, and after two quiet full runs (the first goes on where one was broken off) the mirror is compared
 * with the truth. Half of the time the service keeps an order in its lists, half of the time records that nothing orders come shuffled.
 *
 * Options: `--minutes 60`, `--seed 1`, `--calm` (no request goes wrong), `--json`. Ctrl-C ends the faults early. Exits 1 on any difference,
 * false verdict, wrong deletion, bug or growth of memory.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { EXIT } from "../../src/base/errors.ts";
import type { Resource } from "../../src/resources/resources.ts";
import { createRandom } from "../../src/simulate/random.ts";
import type { WorldOptions } from "../../src/simulate/settings.ts";
import { withSql } from "../../src/store/connection/connect.ts";
import { startCli } from "../../test/support/cli.ts";
import { startDatabaseServer } from "../../test/support/database-server.ts";
import { startProxy, type TestProxy } from "../../test/support/proxy.ts";
import { replaceDatabase } from "../../test/support/replace-database.ts";
import { startSimulation, type World } from "../../test/support/simulation.ts";
import { judgeMemory } from "../judge/memory.ts";
import { countVanished, findDifferences, findFalselyVanished, findWrongDeletions } from "../judge/records.ts";
import { createVerdicts } from "../judge/verdicts.ts";
import { createFaults } from "./faults.ts";
import type { RunOrder, RunReport } from "./mirror-process.ts";
import { createOddWorld, type OddWorld } from "./odd-world.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "60" },
    seed: { type: "string", default: "1" },
    calm: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});
/** A virtual day in three minutes. */
const SPEED = 480;
/** How far a replica is behind at most, and what the mirror takes for that: 40 virtual minutes. */
const REPLICA_LAG_MS = 5000;
const SIZES = { users: 200, projects: 150, versions: 700, files: 500, builds: 2000 };
/** The shares of requests that go wrong in a run, from a good day to a bad one. */
const SHARES = values.calm ? [0] : [0, 0.005, 0.02, 0.1];
/** What runs, one after the other. */
const KINDS = ["full", "watch", "incremental"] as const;
/** Clocks that are wrong, in milliseconds ahead: some minutes, an hour back, days, ten years. */
const CLOCKS = [400_000, -3_600_000, 3 * 86_400_000, 3650 * 86_400_000] as const;
/** What a service without an order shuffles. */
const UNORDERED = new Set<Resource>(["user", "version", "file"]);
const ROUNDS: NonNullable<WorldOptions["ties"]>[] = ["stable", "shuffled"];

/** What a proxy does with a request on a bad day. */
const BAD_PROXY = [502, 504, "hang up"] as const;

const minutes = Number(values.minutes);
const seed = Number(values.seed);
if (!(minutes > 0) || !Number.isInteger(seed))
  throw new Error("--minutes takes a number above 0, --seed a whole number");
const print = (line: string) => process.stderr.write(`${line}\n`);

const random = createRandom(seed);
const faults = createFaults(random);
const stopped = new AbortController();
process.once("SIGINT", () => stopped.abort());

const found = {
  runs: {} as Record<string, number>,
  requests: 0,
  kills: 0,
  stops: 0,
  wrongClocks: 0,
  robbedLocks: 0,
  proxied: 0,
  /** Replies of a service that was odd, by kind. */
  odd: {} as Record<string, number>,
  /** Verdicts that were held against the truth. */
  judged: 0,
  missedWithoutOrder: 0,
  retired: 0,
  /** Open builds whose details were gone, and those among them that came back. */
  vanished: 0,
  returned: 0,
  /** Of deleted records that are not marked as such, until the mirror marks any. */
  notRetired: 0,
  differences: [] as string[],
  heapMb: [] as number[],
  residentMb: [] as number[],
};
const note = (status: string) => {
  found.runs[status] = (found.runs[status] ?? 0) + 1;
};
/** Says at once where the mirror differs from the truth. */
const differ = (place: string, lines: readonly string[]) => {
  for (const line of lines) {
    found.differences.push(`${place}: ${line}`);
    print(`  ${place}: ${line}`);
  }
};

const server = await startDatabaseServer(process.env.TEST_DATABASE_URL);
print(`on ${server.description}, ${minutes} minutes, seed ${seed}`);
const mirror = fork(fileURLToPath(new URL("mirror-process.ts", import.meta.url)), {
  execArgv: ["--import", "tsx"],
});
// Ctrl-C in a terminal reaches the child as well, which has to end its run.
mirror.on("exit", (code) => {
  if (code !== 0) print(`the mirror's process ended with ${code}`);
  stopped.abort();
});

async function run(order: RunOrder): Promise<RunReport> {
  mirror.send(order);
  const [report] = (await once(mirror, "message", { signal: AbortSignal.timeout(600_000) })) as [RunReport];
  note(`${order.kind} ${report.status}`);
  found.heapMb.push(report.heapMb);
  found.residentMb.push(report.residentMb);
  if (report.exitCode === EXIT.bug || report.exitCode === EXIT.database)
    differ(order.kind, [`exit code ${report.exitCode}: ${report.error}`]);
  return report;
}

/** A run in a process of its own that is killed, if it has not ended by then. */
async function runAndKill(
  { databaseUrl, baseUrl, kind, replicaLagMs }: RunOrder,
  afterMs: number,
): Promise<void> {
  const command = kind === "watch" ? ["watch", "--once"] : ["sync", `--${kind}`];
  const args = [
    ...command,
    "--base-url",
    baseUrl,
    "--rate",
    "0",
    "--page-size",
    "50",
    "--timeout-ms",
    "2000",
    "--replica-lag",
    `${replicaLagMs}ms`,
  ];
  await using cli = startCli(args, { env: { DATABASE_URL: databaseUrl } });
  await Promise.race([delay(afterMs), cli.ended]);
  cli.signal("SIGKILL");
  const { signal, code } = await cli.ended;
  if (signal === "SIGKILL") found.kills += 1;
  note(signal === "SIGKILL" ? `${kind} killed` : `${kind} exit ${code}`);
}

/** Ends the session that holds the run's lease, as a server or a network does; half of the time another run is there to take it. */
async function robLock(order: RunOrder, afterMs: number): Promise<void> {
  await delay(afterMs);
  found.robbedLocks += 1;
  await withSql(
    order.databaseUrl,
    { applicationName: "docmirror soak", max: 1 },
    (sql) =>
      sql`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name like '% lease #%' and datname = current_database()`,
  );
  if (random.chance(0.5)) await runAndKill({ ...order, kind: "watch" }, 3000);
}

/** What is wrong with the surroundings of a run, beside what its requests meet. */
function drawTrouble(world: OddWorld, proxy: TestProxy): Partial<RunOrder> {
  const trouble: Partial<RunOrder> = { pageSize: random.pick<number | "auto">([20, 50, "auto"]) };
  if (random.chance(0.15) && !world.hasReplica()) {
    trouble.clockAheadMs = CLOCKS[random.int(CLOCKS.length)] ?? 0;
    if (random.chance(0.3)) trouble.clockRightAfterMs = random.int(1000);
    found.wrongClocks += 1;
  }
  if (random.chance(0.2)) {
    trouble.proxy = proxy.url.href;
    found.proxied += 1;
  }
  return trouble;
}

/** From then on its detail answers 404, and no list shows it. */
function deleteOpenBuild(world: World): void {
  const open = [...world.truth().records("build")].filter(({ record }) => record.state !== "finished");
  const drawn = open[random.int(open.length)];
  if (drawn) world.deleteRecord("build", drawn.record.id);
}

async function soak(ties: NonNullable<WorldOptions["ties"]>, untilMs: number): Promise<void> {
  const name = `docmirror_soak_${ties}`;
  const admin = (statement: string) =>
    withSql(server.adminUrl, { applicationName: "docmirror soak", max: 1 }, (sql) => sql.unsafe(statement));
  await admin(`drop database if exists ${name} with (force)`);
  await admin(`create database ${name} template ${server.template}`);
  const databaseUrl = replaceDatabase(server.adminUrl, name);
  const rates = {
    builds: 200,
    buildDeletions: 20,
    projectChanges: 30,
    hides: 2,
    newProjects: 20,
    projectDeletions: 3,
    newUsers: 60,
    userDeletions: 40,
    newVersions: 80,
    versionDeletions: 60,
    newFiles: 120,
    fileDeletions: 80,
  };
  // From today on, so that new builds are young to the watch; many hang for half a virtual day, or are deleted by then.
  const life = { startAt: new Date(), stuckShare: 0.2, closeStuckAfterMs: 43_200_000 };
  const lagMs = REPLICA_LAG_MS * SPEED;
  const world = createOddWorld({ ...SIZES, ...life, seed, ties, rates, outputBytes: 300, lagMs });
  faults.spares = world.wasHidden;
  let simulation = await startSimulation({ world, speed: SPEED, intercept: faults.intercept });
  const order = { databaseUrl, baseUrl: simulation.url, replicaLagMs: REPLICA_LAG_MS };
  // Bad as often as the service is.
  const proxy = await startProxy({
    port: Number(new URL(simulation.url).port),
    instead: () => (random.chance(faults.share) ? (BAD_PROXY[random.int(BAD_PROXY.length)] ?? null) : null),
  });
  const verdicts = createVerdicts(databaseUrl, world, new Set(ties === "shuffled" ? UNORDERED : []));
  try {
    let lastChange = 0;
    for (let count = 0; performance.now() < untilMs && !stopped.signal.aborted; count++) {
      if (random.chance(0.25)) {
        world.drawOddities();
        // The lag is counted on this machine's clock: what a wrong one dated must be older.
        if (world.hasReplica()) await delay(REPLICA_LAG_MS);
      }
      const hidden = world.hiddenProjects();
      const before = world.listed();
      const kind = KINDS[count % KINDS.length] ?? "full";
      if (kind === "watch" && random.chance(0.5)) deleteOpenBuild(world);
      faults.share = SHARES[random.int(SHARES.length)] ?? 0;
      if (faults.share > 0 && random.chance(0.15)) faults.drawPoison();
      const fate = random.next();
      const isKilled = fate < 0.15;
      const trouble = isKilled ? {} : drawTrouble(world, proxy);
      const place = `${ties} order, run ${count} (${world.oddities()}, clock ${(trouble.clockAheadMs ?? 0) / 1000} s ahead)`;
      if (isKilled) await runAndKill({ ...order, kind }, 200 + random.int(2500));
      else {
        const isStopped = fate < 0.25;
        if (isStopped) found.stops += 1;
        const ended = run({
          ...order,
          kind,
          ...trouble,
          ...(isStopped && { stopAfterMs: random.int(600) }),
        });
        const [{ summary }] = await Promise.all([
          ended,
          fate > 0.93 && robLock({ ...order, kind }, random.int(800)),
        ]);
        if (summary) {
          found.judged += 1;
          const wrong = await verdicts.judge(summary, before);
          if (faults.share === 0 && summary.run_id !== null)
            wrong.push(...(await findFalselyVanished(databaseUrl, world, summary.run_id)));
          differ(place, wrong);
        }
      }
      verdicts.forgetGone();
      faults.end();
      for (const id of world.hiddenProjects()) hidden.add(id);
      const retired = await findWrongDeletions(databaseUrl, world, lastChange, hidden);
      lastChange = retired.upTo;
      found.retired += retired.count;
      differ(place, retired.wrong);
    }
    found.missedWithoutOrder += verdicts.missedWithoutOrder();
    found.requests += simulation.requests().total;
    const port = Number(new URL(simulation.url).port);
    await simulation.close();
    world.end();
    for (const [kind, count] of Object.entries(world.met)) found.odd[kind] = (found.odd[kind] ?? 0) + count;
    simulation = await startSimulation({ world, port });
    // Where no walk was whole for long, many deletions are due at once.
    const last = { ...order, kind: "full", maxDeleteRatio: 1 } as const;
    // The first goes on with walks that were broken off, which owe nothing to what came since they began. Nothing is marked as deleted
    // within the lag of its last sighting, or of the first walk that missed it.
    await delay(REPLICA_LAG_MS);
    await run(last);
    await delay(REPLICA_LAG_MS);
    const quiet = await run(last);
    const reasons = Object.values(quiet.summary?.resources ?? {}).flatMap(({ reason }) => reason ?? []);
    print(`${ties} order: the quiet run ${quiet.status}${reasons.map((reason) => `; ${reason}`).join("")}`);
    // In shuffled lists a pass may well miss records; what that left out is in the comparison.
    if (ties === "stable" && quiet.status !== "succeeded")
      differ("the quiet run", [`it ended ${quiet.status}: ${quiet.error ?? reasons.join("; ")}`]);
    found.retired += (await findWrongDeletions(databaseUrl, world, lastChange, new Set())).count;
    const { vanished, returned } = await countVanished(databaseUrl);
    found.vanished += vanished;
    found.returned += returned;
    const differences = await findDifferences(databaseUrl, world);
    // Where the mirror marks nothing at all as deleted, that is no fault of this run.
    const isRetiring = found.retired > 0;
    const counted = differences.filter((line) => isRetiring || !line.endsWith("not marked as deleted"));
    found.notRetired += differences.length - counted.length;
    differ(`${ties} order, at the end`, counted);
  } finally {
    found.requests += simulation.requests().total;
    await proxy[Symbol.asyncDispose]();
    await simulation.close();
    await admin(`drop database if exists ${name} with (force)`);
  }
}

try {
  const startMs = performance.now();
  for (const [place, ties] of ROUNDS.entries())
    await soak(ties, startMs + ((place + 1) / ROUNDS.length) * minutes * 60_000);
} finally {
  mirror.disconnect();
  await server.stop();
}

const heap = judgeMemory(found.heapMb);
const resident = judgeMemory(found.residentMb);
const { differences, runs, requests, kills, stops, retired, notRetired, vanished, returned } = found;
const { wrongClocks, robbedLocks, proxied, judged, missedWithoutOrder } = found;
const isGood = differences.length === 0 && !heap.hasGrown;
if (values.json) {
  const report = {
    minutes,
    seed,
    runs,
    requests,
    faults: faults.counts,
    odd: found.odd,
    kills,
    stops,
    retired,
    notRetired,
    vanished,
    returned,
    wrongClocks,
    robbedLocks,
    proxied,
    judged,
    missedWithoutOrder,
  };
  process.stdout.write(`${JSON.stringify({ ...report, differences, heap, resident, isGood })}\n`);
} else {
  const list = (counts: Record<string, number>) =>
    Object.entries(counts)
      .map(([name, count]) => `${name}: ${count}`)
      .join(", ");
  const course = ({ startMb, middleMb, endMb, slopeMb }: typeof heap) =>
    `${[startMb, middleMb, endMb].map((mb) => mb.toFixed(1)).join(", ")} MB, ${slopeMb.toFixed(3)} MB a run`;
  process.stdout.write(
    [
      `runs         ${list(runs)}`,
      `requests     ${requests}`,
      `faults       ${list(faults.counts)}`,
      `odd replies  ${list(found.odd)}`,
      `kills        ${kills}, asked to stop ${stops}`,
      `troubles     ${wrongClocks} wrong clocks, ${robbedLocks} locks taken away, ${proxied} runs through the proxy`,
      `verdicts     ${judged} held against the truth; whole walks without an order missed ${missedWithoutOrder} records`,
      `deletions    ${retired} marked, ${notRetired} not marked (counted once any is)`,
      `vanished     ${vanished} open builds, ${returned} came back`,
      `heap         ${course(heap)} (start, middle, end, slope)${heap.hasGrown ? ": it grows" : ""}`,
      `resident     ${course(resident)}`,
      `differences  ${differences.length}`,
      ...differences.slice(0, 50).map((line) => `  ${line}`),
      "",
    ].join("\n"),
  );
}
process.exitCode = isGood ? 0 : 1;
