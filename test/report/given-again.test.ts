/**
 * Ids that are given to one build after another, seen by replies of which some come from a cache, through the real loader into the
 * reports: each bound and each rate is held against the truth. A failure names the seed: LIVES_SEED=… plays it again.
 */
import { randomInt } from "node:crypto";
import { describe, expect, test } from "vitest";
import { findTimeFaults } from "../../lab/judge/time-fault.ts";
import { cacheAgeMs } from "../../src/mirror/api/reply-times.ts";
import { refreshReport } from "../../src/report/refresh/refresh.ts";
import { createRandom, type Random } from "../../src/simulate/random.ts";
import { type Loading, setUpLoading } from "../support/loading.ts";
import { wireBuild, wireProject, wireVersion } from "../support/wire-records.ts";
import { groupBy } from "./model/group-by.ts";

const SEED = Number(process.env.LIVES_SEED ?? randomInt(1_000_000));
const BEGAN = Date.UTC(2024, 4, 1);
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** Ids of a project, which are given again about as often. */
const IDS = 60;
const REPLIES = 60;
const TYPES = ["html", "pdf", "epub"];
const SETTINGS = { sourceTimezone: "Etc/UTC", stuckAfterMs: 3650 * DAY_MS };

/** A build, on the true clock, in milliseconds. */
interface Life {
  id: string;
  /** Of the builds with its id, the number of this one. */
  number: number;
  project: string;
  type: string;
  success: boolean;
  end: "finished" | "cancelled";
  /** When each state was entered; Infinity for never. */
  triggered: number;
  building: number;
  ended: number;
  /** When it was deleted; the next build with its id comes then, or later. */
  gone: number;
}

/** What the replies have shown of an id: the builds that the mirror took for the newest, in their order, and the last state of each. */
type Shown = { lives: Life[]; state: Map<Life, string> };

function livesOf(random: Random, id: string, project: string, type: string, began: number): Life[] {
  const lives: Life[] = [];
  let triggered = began + random.int(6 * 60 * MINUTE_MS);
  for (let number = 1; number <= 1 + random.int(4); number++) {
    const building = triggered + 1 + random.int(random.pick([2000, 20 * MINUTE_MS]));
    const ended = random.chance(0.1)
      ? Infinity
      : building + 1 + random.int(random.pick([2000, 60 * MINUTE_MS]));
    const gone = Math.min(ended, building + 60 * MINUTE_MS) + 1 + random.int(90 * MINUTE_MS);
    const end = random.chance(0.1) ? "cancelled" : "finished";
    const success = random.chance(0.6);
    lives.push({
      id,
      number,
      project,
      type,
      success,
      end,
      triggered,
      building,
      ended: ended < gone ? ended : Infinity,
      gone,
    });
    triggered = gone + random.int(random.pick([1, 60 * MINUTE_MS]));
  }
  const last = lives.at(-1);
  if (last) last.gone = Infinity;
  return lives;
}

function stateAt({ triggered, building, ended, gone, end }: Life, at: number): string | null {
  if (at < triggered || at >= gone) return null;
  return at >= ended ? end : at >= building ? "building" : "triggered";
}

const dateOf = ({ triggered }: Life) => new Date(triggered).toISOString().slice(0, -1);

/** Loads what the replies of a day show of one project, and says what they have shown. */
async function play(loading: Loading, random: Random, project: string, firstRun: number, began: number) {
  await loading.load("project", [wireProject(project)]);
  await loading.load("version", [wireVersion(project, wireProject(project))]);
  const lives = Array.from({ length: IDS }, (_, n) =>
    livesOf(random, `${Number(project) * 100 + n}`, project, TYPES[n % TYPES.length] ?? "", began),
  );
  const shown = new Map<string, Shown>();
  let now = began;
  for (let reply = 0; reply < REPLIES; reply++) {
    if (reply % 5 === 0) {
      const runId = firstRun + reply / 5;
      loading.nextRun({ runId });
      await loading.sql`
        insert into sync.runs (id, kind, status, started_at, heartbeat_at, pid, host) overriding system value
        values (${runId}, 'watch', 'succeeded', now(), now(), 1, '')`;
    }
    now += random.int(random.pick([2000, 10 * MINUTE_MS, 60 * MINUTE_MS]));
    const here = now + 1 + random.int(random.pick([100, 20_000]));
    // A cache says how many whole seconds ago the service made its reply.
    const cached = random.chance(0.4)
      ? now - random.int(random.pick([5000, 30 * MINUTE_MS, 180 * MINUTE_MS]))
      : now;
    const age = Math.floor((now - cached) / 1000);
    const made = age > 0 ? cached : now + random.int(here - now + 1);
    const records = lives.flatMap((own) => {
      const life = own.find((one) => stateAt(one, made) !== null);
      if (life === undefined || !random.chance(0.7)) return [];
      const state = stateAt(life, made) ?? "";
      const before = shown.get(life.id) ?? { lives: [], state: new Map<Life, string>() };
      shown.set(life.id, before);
      if ((before.lives.at(-1)?.number ?? 0) < life.number) before.lives.push(life);
      const order = ["triggered", "building", life.end];
      const earlier = before.state.get(life);
      if (order.indexOf(state) > order.indexOf(earlier ?? "")) before.state.set(life, state);
      const result = state === "finished" ? life.success : true;
      const refers = { project: `/api/v1/project/${project}/`, version: `/api/v1/version/${project}/` };
      return [wireBuild(life.id, { state, success: result, date: dateOf(life), type: life.type, ...refers })];
    });
    const askedAt = new Date(now - cacheAgeMs(String(age))).toISOString();
    await loading.load("build", records, { at: new Date(here).toISOString(), askedAt });
    now = here + 1;
  }
  return { shown: [...shown.values()], now };
}

type Row = Record<string, string | number | null>;
const isWithin = (least: unknown, value: number, most: unknown) =>
  (least === null || Number(least) <= value + 1e-6) && (most === null || value <= Number(most) + 1e-6);

/** What the mirror and the reports say that is not so, a sentence each. */
async function findFaults({ sql }: Loading, shown: readonly Shown[]): Promise<string[]> {
  const newest = shown.flatMap(({ lives, state }) => {
    const life = lives.at(-1);
    return life ? [{ life, state: state.get(life) ?? "" }] : [];
  });
  const byId = new Map(shown.map((own) => [own.lives.at(-1)?.id ?? "", own]));
  const lifeOf = (id: unknown) => byId.get(String(id))?.lives.at(-1);
  const faults: string[] = [];
  const judge = (isRight: boolean, fault: string) => void (isRight || faults.push(fault));

  const states = await sql<Row[]>`
    select build_id as id, life, to_state as state, extract(epoch from nullif(not_before, '-infinity')) * 1000 as after, extract(epoch from not_after) * 1000 as before
    from (
      select build_id, build.life, to_state, not_before, not_after from mirror.build_transitions join mirror.builds as build on build.id = build_id
      union all select build_id, life, to_state, not_before, not_after from mirror.past_transitions
    ) as state`;
  for (const { id, life, state, after, before } of states) {
    const own = byId.get(String(id))?.lives[Number(life) - 1];
    const truly = state === own?.end ? own?.ended : state === "building" ? own?.building : own?.triggered;
    judge(
      isWithin(after, truly ?? Number.NaN, before),
      `${id}, life ${life}: ${state} at ${truly}, not ${after} to ${before}`,
    );
  }

  const facts = await sql<Row[]>`
    select fact.*, life, extract(epoch from triggered_at)::float8 * 1000 as at, extract(epoch from finished_after)::float8 as after,
      extract(epoch from finished_before)::float8 as before
    from report.fact_builds as fact join mirror.builds on builds.id = build_id`;
  judge(facts.length === newest.length, `${facts.length} builds, not ${newest.length}`);
  for (const fact of facts) {
    const own = byId.get(String(fact.build_id));
    const life = own?.lives.at(-1);
    if (!own || !life) continue;
    const { triggered, building, ended, end, success } = life;
    const state = own.state.get(life);
    const outcome =
      state === "cancelled" ? state : state === "finished" ? (success ? "succeeded" : "failed") : "open";
    const is = `${fact.build_id}, life ${fact.life}`;
    judge(fact.life === own.lives.length && fact.at === triggered, `${is}: it is another one`);
    judge(fact.outcome === outcome, `${is}: ${fact.outcome}, not ${outcome}`);
    const bounds: [string, number, unknown, unknown][] = [
      ["ended", ended / 1000, fact.after, fact.before],
      ["took", (ended - triggered) / 1000, fact.duration_s_min, fact.duration_s_max],
      ["waited", (building - triggered) / 1000, fact.queued_s_min, fact.queued_s_max],
      ["built", (ended - building) / 1000, fact.building_s_min, fact.building_s_max],
    ];
    for (const [what, truly, least, most] of bounds)
      judge(isWithin(least, truly, most), `${is}: ${what} ${truly}, not ${least} to ${most}`);
    judge((fact.before !== null) === (state === end), `${is}: seen ${state}, ended before ${fact.before}`);
  }

  const countsOf = (own: typeof newest) => {
    const are = (state: string, result: (life: Life) => boolean = () => true) =>
      own.filter((one) => one.state === state && result(one.life)).length;
    const [succeeded, failed] = [
      are("finished", ({ success }) => success),
      are("finished", ({ success }) => !success),
    ];
    return {
      builds: own.length,
      finished: succeeded + failed,
      succeeded,
      failed,
      cancelled: are("cancelled"),
    };
  };
  const expected = (by: (life: Life) => string) =>
    [...groupBy(newest, ({ life }) => by(life))]
      .map(([of, own]) => ({ of, ...countsOf(own) }))
      .toSorted((one, other) => (one.of < other.of ? -1 : 1));
  const counts = "builds::int, finished::int, succeeded::int, failed::int, cancelled::int";
  expect([
    ...(await sql.unsafe(
      `select day::text as of, ${counts} from report.success_rate_daily where builds > 0 order by day`,
    )),
  ]).toEqual(expected((life) => dateOf(life).slice(0, 10)));
  expect([
    ...(await sql.unsafe(`select type as of, ${counts} from report.success_rate_by_type order by type`)),
  ]).toEqual(expected(({ type }) => type));

  const streaks = await sql<Row[]>`
    select first_failed_build_id as first, recovered_build_id as then, recovery_s_min as least, recovery_s_max as most from report.streaks
    where not is_open`;
  for (const { first, then, least, most } of streaks) {
    const truly = Math.max(0, ((lifeOf(then)?.ended ?? 0) - (lifeOf(first)?.ended ?? 0)) / 1000);
    judge(
      isWithin(least, truly, most),
      `${first} was repaired by ${then} in ${truly} s, not ${least} to ${most}`,
    );
  }

  const backlog = await sql<Row[]>`
    select extract(epoch from hour)::float8 * 1000 as hour, open_min, open_max from report.backlog where is_covered`;
  for (const { hour, open_min, open_max } of backlog) {
    const open = newest.filter(
      ({ life }) => life.triggered <= Number(hour) && Number(hour) < life.ended,
    ).length;
    judge(isWithin(open_min, open, open_max), `${open} were open at ${hour}, not ${open_min} to ${open_max}`);
  }

  const lengths = newest.map(({ life }) => [life.id, (life.ended - life.triggered) / 1000] as const);
  return [...faults, ...(await findTimeFaults(sql, new Map(lengths)))];
}

/** Lives through a day of each project, and gives the number of builds that there were. */
async function judgeProjects(projects: number): Promise<number> {
  await using loading = await setUpLoading();
  const random = createRandom(SEED);
  const shown: Shown[] = [];
  let at = BEGAN;
  for (let project = 1; project <= projects; project++) {
    const day = await play(loading, random, String(project), project * REPLIES, at);
    shown.push(...day.shown);
    at = day.now;
  }
  const moment = new Date(at).toISOString();
  await loading.sql`
    insert into sync.walks (run_id, resource, walk, started_at, finished_at)
    select max(id), 'build', 'whole', ${moment}, ${moment} from sync.runs`;
  await refreshReport(loading.sql, SETTINGS);
  expect((await findFaults(loading, shown)).slice(0, 20), `LIVES_SEED=${SEED}`).toEqual([]);
  return shown.flatMap(({ lives }) => lives).length;
}

describe("builds that share ids, seen by replies of caches too", () => {
  const title = "leave every bound, rate and count of the reports right";
  test(title, async () => expect(await judgeProjects(1)).toBeGreaterThan(100));
  test(`${title}: hundreds of builds`, { tags: ["long"] }, async () =>
    expect(await judgeProjects(3)).toBeGreaterThan(300),
  );
  test(`${title}: 20,000 builds`, { tags: ["long", "exhaustive"], timeout: 3_600_000 }, async () =>
    expect(await judgeProjects(180)).toBeGreaterThan(20_000),
  );
});
