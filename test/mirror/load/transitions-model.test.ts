/**
 * Builds with known lives, seen at random moments by replies that were under way for a while, through the real loader into Postgres. What it
 * records is held against the truth, and against the rules as they are written once more here, one sighting at a time.
 */
import { describe, expect, test } from "vitest";
import { createLocalDates } from "../../../src/simulate/local-dates.ts";
import { createRandom, type Random } from "../../../src/simulate/random.ts";
import { type Loading, setUpLoading } from "../../support/loading.ts";
import { wireBuild } from "../../support/wire-records.ts";

/** Schedules in the suite; many more by hand: `SCHEDULES=2000 npx vitest run test/mirror/load/transitions-model.test.ts`. */
const SCHEDULES = Number(process.env.SCHEDULES ?? 6);
const ZONE = "America/Chicago";
/** From then on the clocks of the zone show one hour for the second time. */
const SUMMER_ENDS = Date.UTC(2024, 10, 3, 7);
const STATES = ["triggered", "building", "finished"];
/** Words in which a build ends, as services write them. */
const ENDS: [string, ...string[]] = ["finished", "cancelled", " Canceled", "error"];
const ANY: [string, ...string[]] = ["triggered", "building", "cloning", "pondering", ...ENDS];
const UNDATED = Number.NEGATIVE_INFINITY;

/** What a service has of a build, on the true clock. */
interface Life {
  id: string;
  date: string | null;
  /** What it shows, in its order: states, and `vanished` while it is away. */
  entries: Entry[];
}

interface Entry {
  at: number;
  state: string;
  /** When a state was entered that began while the build was away. @default at */
  truly?: number;
}

/** By how much clocks are ahead: ours of the true one, run by run, and the service's of ours, as far as the run knows. */
interface Clocks {
  isTrue: boolean;
  ours(run: number): number;
  told(run: number): { minMs: number; maxMs: number } | null;
}

/** A reply: when it was asked for, made and here, on the true clock. */
interface Reply {
  asked: number;
  made: number;
  here: number;
  request: string;
  ids: string[];
}

interface Batch {
  run: number;
  kind: "list" | "missing";
  replies: Reply[];
}

interface Row {
  from: string | null;
  to: string;
  notBefore: number;
  notAfter: number;
  rule: string;
  anomaly: string | null;
  run: number;
  request: string;
  asked: number;
}

function clocksOf(random: Random, isTold: boolean): { clocks: Clocks; serviceAhead: number } {
  const serviceAhead = random.pick([0, 0, 5000, -90_000]);
  const told = (ours: number) => {
    const ahead = serviceAhead - ours;
    return { minMs: ahead - 300, maxMs: ahead === 0 ? 700 : ahead + 400 };
  };
  if (!isTold && serviceAhead > 0) return clocksOf(random, isTold);
  const isSet = random.chance(0.5);
  const offsets = Array.from({ length: 20 }, () => (isSet ? random.pick([0, 0, 45_000, -3_600_000]) : 0));
  const ours = (run: number) => offsets[run % 20] ?? 0;
  // Nobody can know that our clock was set while the service's is not told.
  return {
    clocks: { isTrue: isTold || !isSet, ours, told: (run) => (isTold ? told(ours(run)) : null) },
    serviceAhead,
  };
}

function liveOf(id: string, random: Random, from: number, serviceAhead: number, isForward: boolean): Life {
  let at = from + random.int(2 * 3_600_000);
  const local = new Date(createLocalDates(ZONE).toLocal((at + serviceAhead) * 1000) / 1000);
  const dated = local.toISOString().slice(0, -1);
  const date = random.pick([dated, dated, null, "9000-01-01T00:00:00"]);
  const any = () => random.pick(ANY);
  const end = random.pick(ENDS);
  const states = isForward
    ? [...STATES.slice(random.int(2), -1), end]
    : Array.from({ length: 1 + random.int(5) }, any);
  const entries = states.map((state): Entry => {
    const entry = { at, state };
    at += 1 + random.int(random.pick([2000, 600_000, 3_600_000]));
    return entry;
  });
  for (let times = random.pick([0, 0, 1, 1, 2]); times > 0; times--) goAway(entries, random);
  return { id, date, entries };
}

/** The build is away for a while, and comes back in the state that it had, or in the next one, which it entered meanwhile. */
function goAway(entries: Entry[], random: Random): void {
  const place = 1 + random.int(Math.max(1, entries.length - 1));
  const [before, after] = [entries[place - 1], entries[place]];
  if (!before || !after || after.at - before.at < 4 || [before.state, after.state].includes("vanished"))
    return;
  const at = before.at + 1 + random.int(after.at - before.at - 3);
  const between = () => at + 1 + random.int(after.at - at);
  const away = { at, state: "vanished" };
  if (random.chance(0.4)) entries.splice(place, 0, away, { at: between(), state: before.state });
  else entries.splice(place, 1, away, { ...after, truly: between() });
}

const stateAt = ({ entries }: Life, at: number) => entries.findLast((entry) => entry.at <= at) ?? null;

/** What some runs ask for, one after another. In a run that asks ahead, replies are under way at the same time and come in any order. */
function planBatches(
  lives: readonly Life[],
  random: Random,
  from: number,
  runs: number[],
  asksAhead: boolean,
): Batch[] {
  let now = from;
  let count = 0;
  const reply = (ids: string[], path: string): Reply => {
    const length = random.pick([1, 200, 30_000]);
    const asked = now + random.int(asksAhead ? 2000 : 1 + random.pick([1, 60_000]));
    const here = asked + 1 + random.int(length);
    count += 1;
    const made = asked + random.int(here - asked + 1);
    now = asksAhead ? now : here + 1;
    return { asked, made, here, request: `/api/v1/build/${path}${count}`, ids };
  };
  return runs.flatMap((run) => {
    const some = () => lives.filter(() => random.chance(0.6)).map(({ id }) => id);
    const batches: Batch[] = [];
    for (let batch = random.int(3); batch >= 0; batch--) {
      const replies = Array.from({ length: 1 + random.int(3) }, () => reply(some(), "?page="));
      batches.push({ run, kind: "list", replies });
    }
    now = Math.max(now, ...batches.flatMap(({ replies }) => replies.map(({ here }) => here + 1)));
    for (const { id } of lives) {
      if (!random.chance(0.4)) continue;
      const replies = [reply([id], "detail=")];
      now = Math.max(now, ...replies.map(({ here }) => here + 1));
      batches.push({ run, kind: "missing", replies });
    }
    now += random.int(random.pick([1000, 1_800_000]));
    return batches;
  });
}

/** The rules, one sighting at a time. */
class Model {
  rows: Row[] = [];
  #stored: string | null = null;
  #open: { run: number; seen: number; request: string; since: number; isGone: boolean } | null = null;

  readonly life: Life;
  readonly #clocks: Clocks;

  constructor(life: Life, clocks: Clocks) {
    this.life = life;
    this.#clocks = clocks;
  }

  see(run: number, asked: number, here: number, request: string, state: string): void {
    const isGone = state === "vanished";
    const last = this.rows.at(-1);
    if (isGone && !this.#open) return;
    if (last && ENDS.includes(state) && this.#stored === state) return;
    if (last && this.#isStale(last, run, asked, here, state)) return;
    if (!isGone) this.#stored = state;
    const entered = { to: state, notAfter: here, run, request, asked };
    if (last?.to !== state) this.rows.push({ ...this.#bound(last, run, here, state), ...entered });
    const entry = this.rows.at(-1) as Row;
    const since = this.rows.length === 1 && entry.notBefore !== UNDATED ? entry.notBefore : entry.notAfter;
    if (ENDS.includes(state)) this.#open = null;
    else {
      const open = this.#open;
      const isKnown =
        open && open.since === since && open.isGone === isGone && asked <= open.seen && open.seen <= here;
      if (!isKnown) this.#open = { run, seen: asked, request, since, isGone };
    }
  }

  #isStale(last: Row, run: number, asked: number, here: number, state: string): boolean {
    const isAfter = (one: [number, number], other: [number, number]) =>
      one[0] > other[0] || (one[0] === other[0] && one[1] > other[1]);
    if (isAfter([last.run, last.notAfter], [run, here])) return true;
    if (this.#open && isAfter([this.#open.run, this.#open.seen], [run, asked])) return true;
    if (asked > last.notAfter || last.notAfter > here || state === "vanished" || state === last.to)
      return false;
    const isUndone = ENDS.includes(last.to) && !ENDS.includes(state);
    return last.to === "vanished" || isUndone || isBackward(last.to, state);
  }

  #bound(last: Row | undefined, run: number, here: number, state: string) {
    const told = this.#clocks.told(run) ?? { minMs: 0, maxMs: 0 };
    if (!last) return { from: null, ...this.#first(told, here) };
    const names = isBackward(last.to, state) ? ["backward"] : [];
    // A reply that it is gone shows no state, so the last one before it counts.
    const isBack = last.to === "vanished";
    const seen = isBack
      ? { run: last.run, seen: last.notBefore }
      : (this.#open ?? { run: last.run, seen: last.asked });
    // A run's own difference is written when it ends.
    const then = seen.run === run ? null : this.#clocks.told(seen.run);
    const fast = then ?? told;
    const isSetBack = then !== null && told.minMs > then.maxMs;
    const setBack = isSetBack ? told.maxMs - then.minMs : 0;
    const at = seen.seen - Math.max(setBack, fast.maxMs < 0 ? -fast.minMs : 0);
    const isSurelyBack = then !== null && told.minMs - then.maxMs >= 1000;
    const first = this.rows[0] as Row;
    const isSeen = at <= here && !(isBack && last.rule !== "last_seen");
    const rule = isSeen ? "last_seen" : first.notBefore <= here ? "predecessor" : "unknown";
    if (rule !== "last_seen" || isSurelyBack) names.push("clock");
    const notBefore = rule === "last_seen" ? at : rule === "predecessor" ? first.notBefore : UNDATED;
    return { from: last.to, notBefore, rule, anomaly: names.join(", ") || null };
  }

  #first({ minMs, maxMs }: { minMs: number; maxMs: number }, here: number) {
    const { date } = this.life;
    if (date === null) return { notBefore: UNDATED, rule: "unknown", anomaly: "no_date" };
    const local = Date.parse(`${date}Z`);
    const [summer, winter] = [local + 5 * 3_600_000, local + 6 * 3_600_000];
    const earliest = summer < SUMMER_ENDS ? summer : winter;
    const names = summer < SUMMER_ENDS && winter >= SUMMER_ENDS ? ["repeated_hour"] : [];
    const surely = earliest - (minMs > 0 ? maxMs : 0);
    const isCut = surely > here;
    const at = isCut ? earliest - Math.max(0, maxMs) : surely;
    if (at > here)
      return { notBefore: UNDATED, rule: "unknown", anomaly: ["future_date", ...names].join(", ") };
    if (isCut || minMs >= 1000) names.push("clock");
    return { notBefore: at, rule: "date", anomaly: names.join(", ") || null };
  }
}

function isBackward(from: string, to: string): boolean {
  return STATES.includes(to) && STATES.indexOf(from) > STATES.indexOf(to);
}

/** Loads a batch as its run would; gives the number of transitions. */
async function load(
  { loader }: Loading,
  lives: ReadonlyMap<string, Life>,
  clocks: Clocks,
  { run, kind, replies }: Batch,
): Promise<number> {
  const onOurs = (at: number) => new Date(at + clocks.ours(run));
  const shown = (reply: Reply) =>
    reply.ids.flatMap((id) => {
      const life = lives.get(id) as Life;
      const state = stateAt(life, reply.made)?.state;
      return state === undefined ? [] : [{ life, state }];
    });
  if (kind === "missing") {
    const gone = replies
      .flatMap((reply) => shown(reply).map((one) => ({ ...one, reply })))
      .filter(({ state }) => state === "vanished");
    return loader.vanish(
      gone.map(({ life, reply }) => ({
        id: life.id,
        askedAt: onOurs(reply.asked).toISOString(),
        observedAt: onOurs(reply.here).toISOString(),
        request: reply.request,
      })),
    );
  }
  const pages = replies.map((reply) => ({
    records: shown(reply)
      .filter(({ state }) => state !== "vanished")
      .map(({ life, state }) => wireBuild(life.id, { state, date: life.date })),
    request: reply.request,
    askedAt: onOurs(reply.asked),
    observedAt: onOurs(reply.here),
  }));
  return (await loader.load({ resource: "build", pages, source: "list" })).transitions;
}

/** Within a batch a state that comes again counts as it came first. */
function follow(models: readonly Model[], clocks: Clocks, { run, kind, replies }: Batch): void {
  for (const model of models) {
    let before: string | null = null;
    for (const { ids, asked, made, here, request } of replies) {
      const state = ids.includes(model.life.id) ? stateAt(model.life, made)?.state : undefined;
      if (state === undefined || (state === "vanished") !== (kind === "missing") || state === before)
        continue;
      before = state;
      const ours = clocks.ours(run);
      model.see(run, asked + ours, here + ours, request, state);
    }
  }
}

async function recorded({ sql }: Loading, id: string): Promise<Row[]> {
  const moment = (text: string) => (text === "-infinity" ? UNDATED : Date.parse(text));
  const rows = await sql`
    select seq, from_state, to_state, not_before, not_after, rule, anomaly, run_id, request, asked_at
    from mirror.build_transitions where build_id = ${id} order by seq`;
  expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, index) => index + 1));
  return rows.map((row) => ({
    from: row.from_state,
    to: row.to_state,
    notBefore: moment(row.not_before),
    notAfter: moment(row.not_after),
    rule: row.rule,
    anomaly: row.anomaly,
    run: row.run_id,
    request: row.request,
    asked: moment(row.asked_at),
  }));
}

const everyRow = ({ sql }: Loading) =>
  sql`select ctid::text, md5(row::text) from mirror.build_transitions as row
    union all select ctid::text, md5(row::text) from mirror.builds as row
    union all select ctid::text, md5(row::text) from sync.open_builds as row order by 1, 2`;

async function play(loading: Loading, schedule: number): Promise<void> {
  const random = createRandom(schedule);
  const asksAhead = random.chance(0.5);
  const from = SUMMER_ENDS - 7_200_000 + random.int(3_600_000);
  const { clocks, serviceAhead } = clocksOf(random, random.chance(0.7));
  const ids = Array.from({ length: 8 }, (_, n) => `${schedule}-${n}`);
  const lives = new Map(ids.map((id) => [id, liveOf(id, random, from - 3_600_000, serviceAhead, asksAhead)]));
  const runs = Array.from({ length: 8 }, (_, n) => schedule * 100 + n + 1);
  const batches = planBatches([...lives.values()], random, from, runs, asksAhead);
  const models = [...lives.values()].map((life) => new Model(life, clocks));

  const begin = (runId: number) => loading.nextRun({ runId, clockAhead: () => clocks.told(runId) });
  for (const run of runs) {
    begin(run);
    for (const batch of batches.filter((one) => one.run === run)) {
      await load(loading, lives, clocks, batch);
      follow(models, clocks, batch);
      // As after a commit whose answer was lost.
      if (random.chance(0.3)) expect(await load(loading, lives, clocks, batch)).toBe(0);
    }
    const { minMs = null, maxMs = null } = clocks.told(run) ?? {};
    await loading.sql`
      insert into sync.runs (id, kind, status, started_at, heartbeat_at, pid, host, clock_ahead_min_ms, clock_ahead_max_ms)
      overriding system value
      values (${run}, 'watch', 'succeeded', now(), now(), 1, '', ${minMs}, ${maxMs})`;
  }

  const replies = new Map(batches.flatMap(({ replies }) => replies.map((reply) => [reply.request, reply])));
  for (const { life, rows } of models) {
    const stored = await recorded(loading, life.id);
    expect(stored, life.id).toEqual(rows);
    for (const [index, row] of stored.entries()) {
      expect(row.notBefore).toBeLessThanOrEqual(row.notAfter);
      expect(row.to).not.toBe(stored[index - 1]?.to);
      if (!clocks.isTrue) continue;
      // The state that the reply showed was entered last before the reply was made.
      const entry = stateAt(life, replies.get(row.request)?.made ?? 0);
      const change = entry?.truly ?? entry?.at ?? 0;
      const entered = change + clocks.ours(row.run);
      // It holds by the service's clock too, where that is behind ours.
      const byService = change + Math.min(serviceAhead, clocks.ours(row.run));
      expect(row.notBefore, `${life.id} ${row.to}, by the service`).toBeLessThanOrEqual(
        clocks.told(row.run) ? byService : entered,
      );
      expect(row.notBefore, `${life.id} ${row.to}`).toBeLessThanOrEqual(entered);
      expect(entered, `${life.id} ${row.to}`).toBeLessThanOrEqual(row.notAfter);
    }
  }

  const before = await everyRow(loading);
  for (const batch of [...batches, ...batches.toSorted(() => random.next() - 0.5)]) {
    begin(batch.run);
    expect(await load(loading, lives, clocks, batch)).toBe(0);
  }
  expect(await everyRow(loading)).toEqual(before);
}

describe("builds seen by random replies", () => {
  const title =
    "were in each state within its bounds, by the rules alone, and whatever is replayed changes nothing";
  const playAll = async (first: number, last: number) => {
    await using loading = await setUpLoading({ sourceTimezone: ZONE });
    for (let schedule = first; schedule <= last; schedule++) await play(loading, schedule);
  };

  test(title, () => playAll(1, 2));
  test(`${title}, by more schedules`, { tags: ["long"], timeout: 3_600_000 }, () => playAll(3, SCHEDULES));
});
