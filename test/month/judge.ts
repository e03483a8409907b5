/** Compares what the mirror says of builds' lives with what is true. */
import { type Sql, withSql } from "../../src/db/connect.ts";
import type { Life, Look } from "./life.ts";

const DAY_MS = 86_400_000;
/** Told of each kind of fault at most. */
const TOLD = 20;

export interface Verdict {
  looks: number;
  requests: number;
  /** Rows of `mirror.build_transitions`. */
  transitions: number;
  /** Of these, such whose true time lies within their bounds and that say nothing that is not so. */
  inside: number;
  vanished: number;
  /** What is wrong, a sentence each; empty when all is well. */
  faults: string[];
  /** Of the builds triggered under watch that ever were in a state, how many were seen in it. */
  seen: Record<"triggered" | "building", { of: number; seen: number }>;
  /** How far the bounds are apart, in milliseconds, in ascending order; of builds triggered under watch. */
  widths: Record<"building" | "finished", number[]>;
}

export interface JudgeOptions {
  databaseUrl: string;
  /** Local dates that begin so lie in an hour that summer time repeats. @default none does */
  repeatedHour?: string;
  /** Whether the service's clock is so far ahead that bounds are named for it. @default false */
  isClockAhead?: boolean;
}

/** Times are in whole microseconds, as Postgres keeps them, so that equal ones are equal. */
interface Row {
  id: string;
  seq: number;
  from: string | null;
  to: string;
  after: number | null;
  before: number;
  anomaly: string | null;
  date: string;
}

interface TrueLife {
  states: Map<string, number>;
  createdAt: number;
  endedAt: number;
}

export async function judge(life: Life, options: JudgeOptions): Promise<Verdict> {
  const { looks, requests } = life;
  const lives = trueLives(life);
  const rows = await withSql(options.databaseUrl, { applicationName: "docmirror test", max: 1 }, findRows);
  const faults: string[] = [];
  const seen = new Map<string, string[]>();
  let inside = 0;
  for (const row of rows) {
    const earlier = seen.get(row.id) ?? [];
    const reason = faultOf(row, earlier, lives.get(row.id), options);
    if (reason === null) inside += 1;
    else faults.push(`build ${row.id}, transition ${row.seq} to ${row.to}: ${reason}`);
    seen.set(row.id, [...earlier, row.to]);
  }
  const unseen = [...lives].filter(([id, { createdAt, endedAt }]) => {
    const look = firstLookAfter(looks, createdAt / 1000);
    return look !== undefined && look.endMs < endedAt / 1000 && !seen.has(id);
  });
  faults.push(...unseen.map(([id]) => `build ${id} was listed at a look, yet is not here`).slice(0, TOLD));
  const lastMs = looks.at(-1)?.endMs ?? 0;
  const left = [...lives].filter(([id, { states, endedAt }]) => {
    const finishedAt = states.get("finished") ?? Infinity;
    const isLongOver = finishedAt / 1000 < lastMs - DAY_MS && endedAt === Infinity;
    return isLongOver && seen.has(id) && seen.get(id)?.at(-1) !== "finished";
  });
  faults.push(...left.map(([id]) => `build ${id} finished a day ago, yet is open here`).slice(0, TOLD));

  const watched = new Set(
    [...lives].flatMap(([id, { createdAt }]) => (createdAt / 1000 > life.beganMs ? [id] : [])),
  );
  const widthsOf = (state: string) =>
    rows
      .filter(({ id, to, after }) => to === state && after !== null && watched.has(id))
      .map(({ after, before }) => (before - (after ?? 0)) / 1000)
      .sort((a, b) => a - b);
  const shareOf = (state: string) => {
    const ever = [...watched].filter((id) => (lives.get(id)?.states.get(state) ?? Infinity) / 1000 < lastMs);
    return { of: ever.length, seen: ever.filter((id) => seen.get(id)?.includes(state)).length };
  };
  return {
    looks: looks.length,
    requests,
    transitions: rows.length,
    inside,
    vanished: rows.filter(({ to }) => to === "vanished").length,
    faults: faults.slice(0, TOLD * 3),
    seen: { triggered: shareOf("triggered"), building: shareOf("building") },
    widths: { building: widthsOf("building"), finished: widthsOf("finished") },
  };
}

/** What is wrong with a row, or null. `earlier` are the states that the build's rows before it told of. */
function faultOf(
  row: Row,
  earlier: readonly string[],
  life: TrueLife | undefined,
  { repeatedHour, isClockAhead = false }: JudgeOptions,
): string | null {
  if (!life) return "there never was such a build";
  const { states, endedAt } = life;
  const trulyAt = row.to === "vanished" ? endedAt : (states.get(row.to) ?? Infinity);
  if (trulyAt === Infinity) return "the build never was in this state";
  const previous = earlier.at(-1) ?? null;
  if (row.from !== previous || row.seq !== earlier.length + 1) return `the row before it is of ${previous}`;
  if (previous !== null && (previous === "vanished" || (states.get(previous) ?? Infinity) >= trulyAt))
    return `that was not after ${previous}`;
  if (row.after !== null && row.after > trulyAt)
    return `entered ${(row.after - trulyAt) / 1000} ms before its bounds`;
  if (row.before < trulyAt) return `entered ${(trulyAt - row.before) / 1000} ms after its bounds`;
  const isRepeated = repeatedHour !== undefined && previous === null && row.date.startsWith(repeatedHour);
  const wanted = [
    ...(isRepeated ? ["repeated_hour"] : []),
    ...(isClockAhead && previous === null ? ["clock"] : []),
  ];
  if ((row.anomaly ?? "") !== wanted.join(", "))
    return `anomaly '${row.anomaly}' instead of '${wanted.join(", ")}'`;
  if (row.after === null) return "nothing is claimed of when it was entered";
  return null;
}

function trueLives({ world }: Life): Map<string, TrueLife> {
  const lives = new Map<string, TrueLife>();
  for (const { buildId, to, atMs } of world.truth().transitions()) {
    const at = Math.round(atMs * 1000);
    const life = lives.get(buildId) ?? { states: new Map(), createdAt: at, endedAt: Infinity };
    life.states.set(to, at);
    lives.set(buildId, life);
  }
  for (const { resource, id, atMs } of world.truth().deletions()) {
    const life = resource === "build" ? lives.get(id) : undefined;
    if (life) life.endedAt = Math.round(atMs * 1000);
  }
  return lives;
}

/** The first look that began after a moment; looks are in the order of time. */
function firstLookAfter(looks: readonly Look[], ms: number): Look | undefined {
  let low = 0;
  let high = looks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((looks[middle]?.startMs ?? 0) > ms) high = middle;
    else low = middle + 1;
  }
  return looks[low];
}

function findRows(sql: Sql): Promise<Row[]> {
  return sql<Row[]>`
    select build_id as id, seq, from_state as "from", to_state as "to", anomaly, build.date::text as date,
      case when isfinite(not_before) then (extract(epoch from not_before) * 1000000)::bigint end as after,
      (extract(epoch from not_after) * 1000000)::bigint as before
    from mirror.build_transitions
    join mirror.builds as build on build.id = build_id
    order by build_id, seq`;
}

/** The value below which this share of the sorted ones lies; NaN for none. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
