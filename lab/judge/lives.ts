/** Compares what the mirror, and the reports on it, say of builds' lives with what is true. */

import { refreshReport } from "../../src/report/refresh/refresh.ts";
import { withSql } from "../../src/store/connection/connect.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import { connectionsOf } from "../../test/support/connections.ts";
import type { Life, Look } from "../month/life.ts";
import { findTimeFaults } from "./time-fault.ts";
import { faultOf, type Oddities, type TransitionRow, type TrueLife } from "./transition-fault.ts";

const DAY_MS = 86_400_000;
const STUCK_AFTER_MS = 7_200_000;
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
  /** Builds that stood in the list at a look and were first seen by a later one. */
  overlooked: number;
  /** What is wrong, a sentence each; empty when all is well. */
  faults: string[];
  /** Of the builds triggered under watch that ever were in a state, how many were seen in it. */
  seen: Record<"triggered" | "building", { of: number; seen: number }>;
  /** How far the bounds are apart, in milliseconds, in ascending order; of builds triggered under watch. */
  widths: Record<"building" | "finished", number[]>;
}

export async function judge(life: Life, databaseUrl: string, oddities: Oddities = {}): Promise<Verdict> {
  const { looks, requests } = life;
  const rows = await withSql(databaseUrl, { applicationName: "docmirror test", max: 1 }, findRows);
  const first = new Map(rows.filter(({ seq }) => seq === 1).map((row) => [row.id, row.before]));
  const lives = trueLives(life, first);
  const faults: string[] = [];
  const seen = new Map<string, string[]>();
  let inside = 0;
  for (const row of rows) {
    const earlier = seen.get(row.id) ?? [];
    const reason = faultOf(row, earlier, lives.get(row.id), oddities);
    if (reason === null) inside += 1;
    else faults.push(`build ${row.id}, transition ${row.seq} to ${row.to}: ${reason}`);
    seen.set(row.id, [...earlier, row.to]);
  }
  const lastMs = looks.at(-1)?.endMs ?? 0;
  // What a look at the head overlooked, the one at the whole list must have found.
  const late = [...lives].filter(([id, { createdAt, endedAt }]) => {
    const look = firstLookAfter(looks, createdAt / 1000);
    return (
      look !== undefined && look.endMs < endedAt / 1000 && (first.get(id) ?? Infinity) / 1000 > look.endMs
    );
  });
  const unseen = late.filter(([id, { endedAt }]) => !first.has(id) && endedAt / 1000 > lastMs);
  faults.push(...unseen.map(([id]) => `build ${id} was listed at a look, yet is not here`).slice(0, TOLD));
  const left = [...lives].filter(([id, { states, endedAt }]) => {
    const finishedAt = states.get("finished") ?? Infinity;
    const isLongOver = finishedAt / 1000 < lastMs - DAY_MS && endedAt === Infinity;
    return isLongOver && seen.has(id) && seen.get(id)?.at(-1) !== "finished";
  });
  faults.push(...left.map(([id]) => `build ${id} finished a day ago, yet is open here`).slice(0, TOLD));
  faults.push(...(await judgeTimes(life, databaseUrl, lives)).slice(0, TOLD));

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
    overlooked: late.length - unseen.length,
    faults: faults.slice(0, TOLD * 4),
    seen: { triggered: shareOf("triggered"), building: shareOf("building") },
    widths: { building: widthsOf("building"), finished: widthsOf("finished") },
  };
}

/** What the reports make of it: how long builds took, one by one and by day. */
async function judgeTimes(
  { world }: Life,
  databaseUrl: string,
  lives: ReadonlyMap<string, TrueLife>,
): Promise<string[]> {
  await refreshReport(connectionsOf(databaseUrl).sql, {
    sourceTimezone: world.settings.timeZone,
    stuckAfterMs: STUCK_AFTER_MS,
  });
  const lengths = new Map(
    [...lives].map(([id, { states, createdAt }]) => [
      id,
      ((states.get("finished") ?? Number.NaN) - createdAt) / 1_000_000,
    ]),
  );
  return withSql(databaseUrl, { applicationName: "docmirror test", max: 1 }, (sql) =>
    findTimeFaults(sql, lengths),
  );
}

/** Of builds with one id, the newest that was there when the mirror first saw the one that it has, in microseconds. */
function trueLives({ world }: Life, firstSeen: ReadonlyMap<string, number>): Map<string, TrueLife> {
  const lives = new Map<string, TrueLife>();
  /** The build whose transitions come now, where it is one that was not seen. */
  let later: string | null = null;
  for (const { buildId, from, to, atMs } of world.truth().transitions()) {
    const at = Math.round(atMs * 1000);
    if (from === null) {
      const isUnseen = lives.has(buildId) && at > (firstSeen.get(buildId) ?? Infinity);
      later = isUnseen ? buildId : null;
      if (!isUnseen) lives.delete(buildId);
    }
    if (later === buildId) continue;
    const life = lives.get(buildId) ?? { states: new Map(), createdAt: at, endedAt: Infinity };
    life.states.set(to, at);
    lives.set(buildId, life);
  }
  for (const { resource, id, atMs } of world.truth().deletions()) {
    const life = resource === "build" ? lives.get(id) : undefined;
    const at = Math.round(atMs * 1000);
    if (life && at >= life.createdAt) life.endedAt = Math.min(life.endedAt, at);
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

function findRows(sql: Sql): Promise<TransitionRow[]> {
  return sql<TransitionRow[]>`
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
