/**
 * Thirty nights of a living service whose builds are read again in rounds of three. Each night is a process of its own,
 * under the clock of the world; some are killed at a random request and run again. A failing test tells its seed:
 * NIGHTS_SEED=<seed> draws the same nights again.
 */
import { expect, test } from "vitest";
import { findDifferences, findWrongDeletions } from "../../../lab/judge/records.ts";
import type { RunSummary } from "../../../src/mirror/lists/summary.ts";
import type { BuildRecord } from "../../../src/resources/resources.ts";
import { createRandom, hash } from "../../../src/simulate/random.ts";
import { findReadSince } from "../../../src/store/ledger/list-freshness.ts";
import { arrangeBuilds } from "../../support/arranged-builds.ts";
import { startCli } from "../../support/cli.ts";
import { createTestDatabase } from "../../support/database.ts";
import { createWorld, startSimulation } from "../../support/simulation.ts";
import { wireBuild } from "../../support/wire-records.ts";

const SEED = Number(process.env.NIGHTS_SEED ?? Date.now() % 1_000_000);
const DAY_MS = 86_400_000;
const NIGHTS = 30;
const DAYS = 3;
/** Loaded before the program, whose clock it moves. */
const MOVED_CLOCK = `data:text/javascript,${encodeURIComponent(`
  const Real = Date, now = () => Real.now() + Number(process.env.AHEAD_MS);
  globalThis.Date = class extends Real {
    constructor(...parts) { super(...(parts.length > 0 ? parts : [now()])); }
    static now = now;
  };`)}`;

/** What became of a build after so many nights, at a moment of the world. A birth has an old date, and is an edit too. */
type Edit = { error: string; nights: number; at: number };

/** A service that lives by day and by night. Beyond what it does by itself, the text of old builds changes, and as many come as go. */
async function startLivingService() {
  const random = createRandom(hash(SEED, 1, 17));
  const world = createWorld({
    seed: SEED,
    users: 8,
    projects: 10,
    versions: 24,
    files: 12,
    builds: 220,
    outputBytes: 100,
    hiddenShare: 0,
    stuckShare: 0.02,
    closeStuckAfterMs: 2.4 * DAY_MS,
    rates: {
      builds: 10,
      buildDeletions: 1.5,
      projectChanges: 3,
      administratorChanges: 0,
      hides: 0,
      logins: 4,
      newUsers: 1,
      userDeletions: 0.3,
      newProjects: 0.4,
      projectDeletions: 0,
      versionChanges: 3,
      newVersions: 1,
      versionDeletions: 0.5,
      newFiles: 1,
      fileDeletions: 0.3,
    },
  });
  const arranged = Object.assign(arrangeBuilds(), { world });
  const edits = new Map<string, Edit>();
  const added: BuildRecord[] = [];
  arranged.arrange = (builds) =>
    [...builds, ...added]
      .map((build) => ({ ...build, error: edits.get(build.id)?.error ?? build.error }))
      .sort((one, other) => ((one.date ?? "") < (other.date ?? "") ? 1 : -1));
  const listed = async () =>
    arranged.arrange((await world.catalog().list("build", { filters: [], offset: 0, limit: 9999 })).records);

  /** A build that has ended, for good. */
  async function draw(): Promise<BuildRecord> {
    const ended = (await listed()).filter(({ state }) => state === "finished");
    return ended[random.int(ended.length)] as BuildRecord;
  }

  return Object.assign(await startSimulation({ world, intercept: arranged.intercept }), {
    world,
    arranged,
    edits,
    random,
    listed,
    async change(nights: number): Promise<void> {
      const at = world.now().getTime();
      for (let left = 8; left > 0; left--)
        edits.set((await draw()).id, { error: `edited ${nights} ${left}`, nights, at });
      if (random.chance(0.5) && world.deleteRecord("build", (await draw()).id)) {
        const { date } = await draw();
        const id = String(900_000 + nights);
        // It refers to a project that never was.
        added.push(wireBuild(id, { project: "/api/v1/project/99999/", version: null, date }) as never);
        edits.set(id, { error: `added ${nights}`, nights, at });
      }
      const shown = await listed();
      const ids = new Set(shown.map(({ id }) => id));
      for (const id of edits.keys()) if (!ids.has(id)) edits.delete(id);
      arranged.details.clear();
      for (const build of shown) if (edits.has(build.id)) arranged.details.set(build.id, build as never);
    },
  });
}

test("thirty nights in rounds of three lose nothing, whatever happens in them", {
  tags: ["long", "exhaustive"],
  timeout: 3_600_000,
}, async (context) => {
  const told: string[] = [`NIGHTS_SEED=${SEED}`];
  context.onTestFailed(() => void process.stderr.write(`${told.join("\n")}\n`));
  const service = await startLivingService();
  const { world, arranged, edits, random } = service;
  context.onTestFinished(service.close);
  await using database = await createTestDatabase();
  const { sql, url } = database;
  let requests = 15;
  /** Builds that were triggered while the head may have been read already. */
  const born = new Set<string>();

  /** One night, which may be killed and run again. */
  async function night(kills: number): Promise<{ summary: RunSummary; wasKilled: boolean }> {
    const ahead = world.now().getTime() - Date.now();
    for (let killed = 0; ; ) {
      const env = {
        DATABASE_URL: url,
        DOCMIRROR_FULL_EVERY_DAYS: String(DAYS),
        DOCMIRROR_REPLICA_LAG: "0s",
        NODE_OPTIONS: `--import=${MOVED_CLOCK}`,
        AHEAD_MS: String(ahead),
      };
      const flags = ["--json", "--base-url", service.url, "--rate", "0", "--page-size", "20"];
      const cli = startCli(["sync", ...flags], { env });
      const last = killed < kills ? 1 + random.int(requests) : Number.POSITIVE_INFINITY;
      born.clear();
      arranged.asked.length = 0;
      arranged.fails = (path) => {
        if (path.startsWith("/api/v1/build/?") && random.chance(0.2))
          for (const id of world.triggerBuilds(1)) born.add(id);
        if (arranged.asked.length < last) return false;
        cli.signal("SIGKILL");
        return true;
      };
      const { code, signal, stdout, stderr } = await cli.ended;
      if (signal === "SIGKILL") killed += 1;
      // Postgres has not yet noticed that the process before was killed.
      if (signal === "SIGKILL" || code === 10) continue;
      expect([0, 3], stderr).toContain(code);
      requests = arranged.asked.length;
      return { summary: JSON.parse(stdout) as RunSummary, wasKilled: killed > 0 };
    }
  }

  let changes = 0;
  let readSince = 0;
  for (let nights = 0; nights < NIGHTS; nights++) {
    const began = world.now().getTime();
    const { summary, wasKilled } = await night(random.chance(0.4) ? 1 + random.int(2) : 0);
    const { build } = summary.resources;
    told.push(JSON.stringify({ nights, wasKilled, ...summary, resources: { build } }));
    const reasons = Object.values(summary.resources).flatMap(({ reason }) => reason ?? []);
    expect(summary.status, told.at(-1)).toBe(reasons.length > 0 ? "partial" : "succeeded");
    if (build?.walk === "head" && !wasKilled) expect(build.round?.records, told.at(-1)).toBeGreaterThan(0);

    // No record is lost, none is marked as deleted by mistake, and builds have their newest state.
    const wrong = await findWrongDeletions(url, world, changes, new Set());
    changes = wrong.upTo;
    expect(wrong.wrong, told.at(-1)).toEqual([]);
    const added = await sql`select id from mirror.builds where id like '9_____' and deleted_at is not null`;
    expect(added, told.at(-1)).toEqual([]);
    const before = readSince;
    readSince = Date.parse((await findReadSince(sql, "build")) ?? "");
    expect(readSince).toBeGreaterThanOrEqual(before);
    expect(began - readSince, told.at(-1)).toBeLessThan(2 * DAYS * DAY_MS);
    const isOver = (await sql`select 1 from sync.rounds where checkpoint is not null`).length === 0;
    const deletions = world.truth().deletions();
    const left = (await findDifferences(url, world)).filter((difference) => {
      const [resource, id = ""] = difference.split(" ");
      if (resource !== "build") return true;
      if (difference.endsWith("is missing")) return !born.has(id);
      if (edits.has(id)) return false;
      // The end of a round marks each deletion from before its begin.
      const isGone = difference.endsWith("is gone but not marked as deleted");
      return !isGone || (isOver && deletions.some((one) => one.id === id && one.atMs < readSince));
    });
    expect(left, told.at(-1)).toEqual([]);

    // Each edit is met within a round, and each that is older than what the mirror says.
    const stored = await sql<{ id: string; error: string }[]>`
      select build_id as id, error from mirror.build_logs where error is not null`;
    const errors = new Map(stored.map(({ id, error }) => [id, error]));
    const unmet = [...edits].filter(([id, { error }]) => errors.get(id) !== error);
    // One night later where new builds pushed it into the next part.
    const late = unmet.filter(([, edit]) => nights >= edit.nights + DAYS || edit.at < readSince);
    expect(late, told.at(-1)).toEqual([]);

    world.advance(DAY_MS / 2);
    await service.change(nights + 1);
    world.advanceTo(new Date(began + DAY_MS));
  }
});
