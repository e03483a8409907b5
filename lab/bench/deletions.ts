/**
 * `npm run bench:deletions`: how many requests find deleted builds. First the search alone against a list in memory, of up to a million builds; then
 * nightly syncs of a simulated service that counts, `--builds 20000` of them, each with its share of a seventh: requests, and whether mirror and
 * service are equal.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { bisect, type DatedPage, type DateRange, shownWhole } from "../../src/mirror/walk/bisection.ts";
import { readDefinitions } from "../../src/report/definitions.ts";
import { QUIET } from "../../src/simulate/settings.ts";
import { withSql } from "../../src/store/connection/connect.ts";
import { openEmbedded } from "../../src/store/embedded/open-embedded.ts";
import { migrate } from "../../src/store/migrate/migrate.ts";
import { createRandom } from "../../test/support/model-list.ts";
import { createWorld, startSimulation } from "../../test/support/simulation.ts";
import { syncOnce } from "../../test/support/sync.ts";

const { values } = parseArgs({ options: { builds: { type: "string", default: "20000" } } });
const say = (line: string) => process.stdout.write(`${line}\n`);
const SEEDS = 3;
/** The builds of a cluster. */
const CLUSTER = 100;

/** So many places of a list, alone or side by side in clusters. */
function chooseGone(size: number, count: number, isClustered: boolean, seed: number): Set<number> {
  const random = createRandom(seed);
  const gone = new Set<number>();
  while (gone.size < count) {
    const start = Math.floor(random() * (size - CLUSTER));
    const end = isClustered ? start + Math.min(CLUSTER, count - gone.size) : start + 1;
    for (let at = start; at < end; at++) gone.add(at);
  }
  return gone;
}

/** The requests of a search in a list whose dates are the numbers below `size`, without those that are gone. */
async function searchModel(size: number, limit: number, gone: ReadonlySet<number>): Promise<number> {
  const text = (date: number) => String(date).padStart(12, "0");
  const list = Array.from({ length: size }, (_, at) => size - 1 - at).filter((date) => !gone.has(date));
  const missing = new Set<number>();
  const take = (offset: number, count: number): DatedPage => {
    const page = list.slice(offset, offset + count);
    const behind = page.length < count ? 0 : null;
    const dated = { offset, places: list.length, dates: page.map(text), behind };
    const range = shownWhole(dated);
    const shown = new Set(page);
    const from = Math.min(size, Number(range?.olderThan ?? size));
    for (let date = Number(range?.newerThan ?? -1) + 1; date < from; date++)
      if (!shown.has(date)) missing.add(date);
    return dated;
  };
  const count = async (ranges: readonly DateRange[]) =>
    ranges.map(({ newest, oldest }) => {
      const [from, to] = [Number(newest), Number(oldest ?? 0)];
      let hidden = 0;
      for (const date of missing) if (date <= from && date >= to) hidden += 1;
      return from - to + 1 - hidden;
    });
  const head = take(0, 20);
  const newest = head.dates.at(-1) ?? "";
  const top = { newest, below: list.length - 19, places: list.length };
  const parts = { read: async (offset: number, most: number) => take(offset, most), count };
  const { requests, isDone } = await bisect(top, parts, { limit, budget: Number.POSITIVE_INFINITY });
  if (!isDone || missing.size !== gone.size || [...gone].some((date) => !missing.has(date)))
    throw new Error(`of ${gone.size} deletions ${missing.size} were found`);
  return requests;
}

const CASES = [
  [1, false],
  [10, false],
  [100, true],
  [100, false],
  [1000, true],
  [1000, false],
] as const;

say("requests of a search, means of 3; c: in clusters of 100, s: scattered");
say(["builds", "page", "full walk", ...CASES.map(([count, c]) => `${count} ${c ? "c" : "s"}`)].join("\t"));
for (const [size, limit] of [
  [20_000, 100],
  [200_000, 100],
  [200_000, 1000],
  [1_000_000, 100],
  [1_000_000, 1000],
] as const) {
  const cells: number[] = [];
  for (const [count, isClustered] of CASES) {
    let sum = 0;
    for (let seed = 1; seed <= SEEDS; seed++)
      sum += await searchModel(size, limit, chooseGone(size, count, isClustered, seed));
    cells.push(Math.round(sum / SEEDS));
  }
  say([size, limit, size / limit, ...cells].join("\t"));
}

const builds = Number(values.builds);
const dataDir = await mkdtemp(join(tmpdir(), "docmirror-bench-deletions-"));
const world = createWorld({
  users: 20,
  projects: 50,
  versions: 200,
  files: 50,
  builds,
  outputBytes: 50,
  rates: QUIET,
  hiddenShare: 0,
  stuckShare: 0,
  clockSteps: false,
});
const service = await startSimulation({ world });
const database = await openEmbedded({ dataDir, log: silentLog });
try {
  await migrate(database.url, readDefinitions());
  await runAll();
} finally {
  await service.close();
  await database.close();
  await rm(dataDir, { recursive: true, force: true });
}

async function runAll(): Promise<void> {
  const clock = { now: () => world.now(), sleep: systemClock.sleep };
  const settings = {
    pageSize: 100,
    replicaLagMs: 0,
    maxDeleteRatio: 0.2,
    fullEveryDays: 7,
    retries: 0,
    sourceTimezone: world.settings.timeZone,
  };
  const sync = (kind: "full" | null) =>
    syncOnce(database.url, new URL(service.url), { clock, kind, settings });
  const read = async (): Promise<string[]> =>
    withSql(database.url, { applicationName: "docmirror bench", max: 1 }, async (sql) =>
      (await sql<{ id: string }[]>`select id from mirror.builds where deleted_at is null`)
        .map(({ id }) => id)
        .sort(),
    );
  say(`\nnightly syncs, ${builds} builds in pages of 100`);
  const first = await sync("full");
  say(`first sync: ${first.summary.requests} requests`);
  for (const [count, isClustered] of CASES) {
    const live = [...world.truth().records("build")].map(({ record }) => record.id);
    for (const at of chooseGone(live.length, count, isClustered, count))
      world.deleteRecord("build", live[at] ?? "");
    world.advance(60_000);
    const { summary } = await sync(null);
    const { build } = summary.resources;
    const truth = [...world.truth().records("build")].map(({ record }) => record.id).sort();
    const ours = await read();
    const isEqual = truth.length === ours.length && truth.every((id, at) => ours[at] === id);
    say(
      `${count} ${isClustered ? "in clusters" : "scattered"}: ${summary.status}, ${build?.pages} pages of builds, ${build?.deleted} deleted, ` +
        `${summary.requests} requests, equal: ${isEqual}`,
    );
  }
}
