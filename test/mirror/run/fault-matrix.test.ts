/**
 * Plays every fault of the matrix on a mirror of its own: the run with the fault ends as its row says, and the run after it, without the
 * fault, succeeds and leaves the very mirror that an undisturbed run makes.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Clock, systemClock } from "../../../src/base/clock.ts";
import { NOTHING_UNFINISHED } from "../../../src/mirror/lists/summary.ts";
import { exitCodeOfRun } from "../../../src/mirror/run/close-run.ts";
import { RESOURCES, type Resource } from "../../../src/resources/resources.ts";
import { QUIET } from "../../../src/simulate/settings.ts";
import type { Sql } from "../../../src/store/connection/sql.ts";
import { createTestDatabase, withTestSql } from "../../support/database.ts";
import { mirrorRows } from "../../support/mirror-rows.ts";
import { type Intercept, startQuickWorld } from "../../support/quick-world.ts";
import { type ScriptedServer, startScriptedServer } from "../../support/scripted-server.ts";
import { createWorld, startSimulation, type World } from "../../support/simulation.ts";
import { syncOnce } from "../../support/sync.ts";
import { FAULTS, type FaultCase, LEFT, SHOWN_ELSEWHERE } from "./fault-cases.ts";

vi.setConfig({ maxConcurrency: 3 });

type MirrorRows = Awaited<ReturnType<typeof mirrorRows>>;

const SIZES = { users: 12, projects: 10, versions: 30, files: 20, builds: 120 };
const WORLD = { ...SIZES, outputBytes: 200, rates: QUIET };
const DOC = new URL("../../../docs/internals/reliability.md", import.meta.url);
/** What follows it is written by this test: UPDATE_DOCS=1 npx vitest run test/mirror/run/fault-matrix.test.ts */
const HEADING = "## The faults, one by one";

const SETTINGS = { pageSize: 10, retries: 2, concurrency: 2 };
/** A wait in which a run that is not held back sends many requests. */
const HELD_MS = 300;

let elsewhere: ScriptedServer;
let undisturbed: MirrorRows;

beforeAll(async () => {
  elsewhere = await startScriptedServer([{ body: {} }]);
  await using quick = await startQuickWorld(WORLD);
  const { summary } = await quick.sync({ kind: "full", settings: SETTINGS });
  expect(summary.status).toBe("succeeded");
  undisturbed = await mirrorRows(quick.databaseUrl);
});

afterAll(() => elsewhere[Symbol.asyncDispose]());

/** Words in front of a colon, and how it ends: the first of a kind is in `.ci/run`, the first of a group in the short suite. */
const kindOf = ({ fault, exit, walk, left }: FaultCase) => [fault.split(":")[0], exit, walk, left].join();

describe.concurrent.for(FAULTS)("$title", ({ cases }) => {
  const kinds = cases.map(kindOf);
  for (const [place, one] of cases.entries()) {
    const isFirst = kinds.indexOf(kindOf(one)) === place;
    const tags = place === 0 ? [] : isFirst ? ["long"] : ["long", "exhaustive"];
    test(one.fault, { tags }, () => play(one));
  }
});

test("docs/internals/reliability.md ends with these cases", () => {
  const text = readFileSync(DOC, "utf8");
  const start = text.indexOf(HEADING);
  expect(start).toBeGreaterThan(0);
  const wanted = `${text.slice(0, start)}${HEADING}\n\n${renderMatrix()}`;
  if (process.env.UPDATE_DOCS) writeFileSync(DOC, wanted);
  expect(wanted).toBe(readFileSync(DOC, "utf8"));
});

test.for(Object.entries(SHOWN_ELSEWHERE))("%s shows what the matrix says", ([file, shown]) => {
  const text = readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8");
  for (const name of Object.keys(shown)) expect(text).toContain(`"${name}"`);
});

async function play(fault: FaultCase): Promise<void> {
  await using database = await createTestDatabase();
  const world = createWorld({ ...WORLD, ...fault.world });
  let intercept: Intercept = (_request, next) => next();
  const simulation = await startSimulation({ world, intercept: (request, next) => intercept(request, next) });
  try {
    await playOn({ world, databaseUrl: database.url, baseUrl: new URL(simulation.url) }, fault, (next) => {
      intercept = next;
    });
  } finally {
    await simulation.close();
  }
}

async function playOn(
  { world, databaseUrl, baseUrl }: { world: World; databaseUrl: string; baseUrl: URL },
  fault: FaultCase,
  setIntercept: (intercept: Intercept) => void,
): Promise<void> {
  const { list = "build", settings } = fault;
  const sleeps: number[] = [];
  /** How many requests there were, and how many came during each wait. */
  let requests = 0;
  const during: number[] = [];
  const clock: Clock = {
    now: () => world.now(),
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      sleeps.push(ms);
      const before = requests;
      await (fault.isHeld ? systemClock.sleep(HELD_MS) : new Promise(setImmediate));
      during.push(requests - before);
    },
  };
  /** Every night is later than the one before: the world's clock stands still by itself. */
  const night = (options: NonNullable<Parameters<typeof syncOnce>[2]> = {}) => {
    world.advance(1);
    const ours = { ...SETTINGS, ...options.settings };
    return syncOnce(databaseUrl, baseUrl, { clock, kind: "full", ...options, settings: ours });
  };

  if (fault.afterNight) expect((await night()).summary.status).toBe("succeeded");
  const before = fault.afterNight ? await mirrorRows(databaseUrl) : null;
  sleeps.length = 0;
  const play = fault.play({ world, sleeps, elsewhere: elsewhere.url.href });
  setIntercept((request, next) => {
    requests += 1;
    return play(request, next);
  });
  const allowMassDelete = fault.allowMassDelete ?? false;
  const result = await night({ allowMassDelete, ...(settings && { settings }) });
  const { summary } = result;
  const walk = summary.resources[list];
  const said = walk?.reason ?? summary.error;
  const came = { exit: exitCodeOfRun(result), run: summary.status, walk: walk?.walk ?? "none" };
  expect(came, said).toEqual({ exit: fault.exit, run: fault.run, walk: fault.walk });
  if (fault.says) expect(said).toMatch(fault.says);
  else expect(said).toBeUndefined();
  if (fault.warns) expect(summary.warnings).toContainEqual(expect.stringMatching(fault.warns));
  if (fault.unfinished || fault.run === "succeeded")
    expect(summary.unfinished).toEqual({ ...NOTHING_UNFINISHED, ...fault.unfinished });
  const [from, to] = fault.waits ?? [0, Number.POSITIVE_INFINITY];
  if (fault.waits)
    expect(
      sleeps.some((ms) => ms >= from && ms <= to),
      String(sleeps),
    ).toBe(true);
  // What was under way when the service refused comes all the same.
  if (fault.isHeld) expect(Math.max(...during)).toBeLessThan(SETTINGS.concurrency);
  expect(elsewhere.requests).toEqual([]);

  await withTestSql(databaseUrl, async (sql) => {
    await checkLeft(fault, sql, await mirrorRows(databaseUrl), { before, world });
    setIntercept((_request, next) => next());
    const next = await night();
    expect(next.summary, next.summary.error).toMatchObject({ status: "succeeded" });
    expect(exitCodeOfRun(next)).toBe(0);
    const holes = await sql`
      select list_offset from sync.quarantine where list_offset is not null and resolved_at is null`;
    expect(holes, "a whole walk closes the holes that an earlier one left").toEqual([]);
    if (fault.left === "moved") {
      const ids = await liveIds(sql);
      for (const resource of RESOURCES) expect(ids[resource].sort()).toEqual(idsOf(world, resource).sort());
      return;
    }
    const rows = await mirrorRows(databaseUrl);
    // That a build was once shown in another state stays written down.
    if (fault.left === "stored") rows.build_transitions = undisturbed.build_transitions ?? [];
    expect(rows).toEqual(undisturbed);
  });
}

function idsOf(world: World, resource: Resource): string[] {
  return [...world.truth().records(resource)].map(({ record }) => String(record.id));
}

/** Compares the database with what the row of the matrix says of it. */
async function checkLeft(
  { list = "build", ...fault }: FaultCase,
  sql: Sql,
  rows: MirrorRows,
  { before, world }: { before: MirrorRows | null; world: World },
): Promise<void> {
  const { places = [] } = fault;
  const stored = await liveIds(sql);
  const whole = undisturbed[`${list}s`]?.length ?? 0;
  const aside = await sql<{ offset: string | null; payload: unknown }[]>`
    select list_offset as offset, payload from sync.quarantine where resource = ${list} order by list_offset`;
  if (fault.left !== "holes" && fault.left !== "aside") expect(aside).toEqual([]);
  // What the fault did not touch is there whole.
  if (fault.left !== "lost" && fault.left !== "nothing" && fault.left !== "moved")
    for (const other of RESOURCES)
      if (other !== list) expect(stored[other], other).toHaveLength(undisturbed[`${other}s`]?.length ?? 0);

  switch (fault.left) {
    case "all":
      return expect(rows).toEqual(undisturbed);
    case "kept":
      return expect(rows).toEqual(before);
    case "nothing":
      return expect(Object.values(stored).flat()).toEqual([]);
    case "none":
      return expect(stored[list]).toEqual([]);
    case "lost":
    case "soFar":
      expect(stored[list].length).toBeGreaterThan(0);
      return expect(stored[list].length).toBeLessThan(whole);
    case "holes":
      expect(aside.map(({ offset }) => Number(offset))).toEqual(places);
      return expect(stored[list]).toHaveLength(whole - places.length);
    case "aside": {
      const { payload = expect.objectContaining({ state: "finished" }) } = fault;
      expect(aside).toEqual(places.map(() => ({ offset: null, payload })));
      return expect(stored[list]).toHaveLength(whole - places.length);
    }
    case "deleted":
      expect(stored[list]).toHaveLength(whole - (fault.deleted ?? 0));
      return expect(rows[`${list}s`]).toHaveLength(whole);
    case "stored": {
      const extras = await sql<{ extra: unknown }[]>`select extra from ${sql(`mirror.${list}s`)}`;
      if (fault.extra) expect(extras).toContainEqual({ extra: expect.objectContaining(fault.extra) });
      return expect(stored[list]).toHaveLength(whole);
    }
    case "moved":
      for (const resource of RESOURCES) {
        const gone = [...world.truth().deletions()].filter((one) => one.resource === resource);
        const met = new Set([...stored[resource], ...gone.map(({ id }) => id)]);
        const known = (undisturbed[`${resource}s`] ?? []).map((row) => String(JSON.parse(row).id));
        expect(
          known.filter((id) => !met.has(id)),
          resource,
        ).toEqual([]);
      }
  }
}

async function liveIds(sql: Sql): Promise<Record<Resource, string[]>> {
  const live = async (name: Resource) => {
    const rows = await sql.unsafe(`select id from mirror.${name}s where deleted_at is null`);
    return [name, rows.map(({ id }) => String(id))] as const;
  };
  return Object.fromEntries(await Promise.all(RESOURCES.map(live))) as Record<Resource, string[]>;
}

/** The matrix as it stands in the docs: the faults of a section by what comes of them, the mildest end first. */
function renderMatrix(): string {
  const intro = `Each line has the exit code, the result of the walk, what the mirror then holds, and the faults that end so.
\`test/mirror/run/fault-cases.ts\` has the details.\n`;
  const sections = FAULTS.map(({ title, cases }) => {
    const ended = cases
      .toSorted((one, other) => one.exit - other.exit)
      .map(({ fault, exit, walk, left }) => ({ fault, end: `${exit}, ${walk}; ${LEFT[left]}` }));
    return `### ${title}\n\n${byEnd(ended)}`;
  });
  const shown = Object.values(SHOWN_ELSEWHERE)
    .flatMap(Object.values<string>)
    .map((line) => {
      const [fault = "", end = ""] = line.split(" → ");
      return { fault, end };
    });
  return [intro, ...sections, `### Shown by tests of their own\n\n${byEnd(shown)}`].join("\n");
}

/** A line for each end. Faults with the same words in front of a colon share them. */
function byEnd(cases: readonly { fault: string; end: string }[]): string {
  const ends = gather(cases.map(({ end, fault }) => [end, fault]));
  return [...ends].map(([end, faults]) => `- **${end}**: ${joined(faults)}.\n`).join("");
}

function joined(faults: readonly string[]): string {
  const kinds = gather(
    faults.map((fault) => {
      const [, kind = fault, rest = ""] = /^(.*?): (.*)$/.exec(fault) ?? [];
      return [kind, rest];
    }),
  );
  return [...kinds].map(([kind, rests]) => [kind, rests.join(", ")].filter(Boolean).join(": ")).join("; ");
}

function gather(pairs: readonly (readonly [key: string, value: string])[]): Map<string, string[]> {
  const gathered = new Map<string, string[]>();
  for (const [key, value] of pairs) gathered.set(key, [...(gathered.get(key) ?? []), value]);
  return gathered;
}
