/** A month of the simulated service, and what a mirror that looks at it at a steady pace has written down of its builds. */

import { QUIET } from "../../src/simulate/settings.ts";
import { createWorld, type World } from "../../src/simulate/world.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import { type InsertedRow, insertTables } from "./insert-rows.ts";
import { groupBy } from "./model/group-by.ts";
import { type Micros, momentText, SECOND_US } from "./model/times.ts";

/** A look asks, and its reply shows what is so half a second later, and is here after another half. */
const WAY_US = SECOND_US / 2;

interface TrueBuild {
  id: string;
  /** As the service sends it. */
  date: string;
  success: boolean;
  steps: { state: string; at: Micros }[];
}

interface Month {
  zone: string;
  beganAt: Micros;
  endedAt: Micros;
  builds: TrueBuild[];
  /** Seconds from trigger to finish, by id. */
  lengths: Map<string, number>;
}

/** 3,000 builds of 30 days in which summer time ends. */
export function liveMonth(seed: number): Month {
  const [days, zone] = [30, "America/Chicago"];
  const world: World = createWorld({
    ...{
      seed,
      users: 5,
      projects: 20,
      versions: 40,
      files: 0,
      builds: 100,
      outputBytes: 40,
      oddTexts: false,
    },
    ...{ timeZone: zone, startAt: new Date("2024-10-15T12:00:00Z"), closeStuckAfterMs: 26 * 3_600_000 },
    rates: { ...QUIET, builds: 3000 / days },
  });
  const beganAt = world.now().getTime() * 1000;
  world.advance(days * 86_400_000);
  const steps = groupBy([...world.truth().transitions()], ({ buildId }) => buildId);
  const builds = [...world.truth().records("build")].map(({ record: { id, date, success } }): TrueBuild => {
    const own = (steps.get(id) ?? []).map(({ to, atMs }) => ({ state: to, at: Math.round(atMs * 1000) }));
    return { id, date: date ?? "", success: success ?? false, steps: own };
  });
  const lengths = new Map(
    builds.flatMap(({ id, steps: [first, ...others] }) => {
      const finish = [first, ...others].at(-1);
      return first && finish?.state === "finished" ? [[id, (finish.at - first.at) / SECOND_US] as const] : [];
    }),
  );
  return { zone, beganAt, endedAt: world.now().getTime() * 1000, builds, lengths };
}

/** Fills an empty mirror with what looks at such a pace have seen of the month. */
export async function insertWatched(sql: Sql, month: Month, everyMinutes: number): Promise<void> {
  const everyUs = everyMinutes * 60 * SECOND_US;
  const seen = month.builds.map((build) => watch(build, month, everyUs));
  const [started_at, finished_at] = [momentText(month.endedAt), momentText(month.endedAt + SECOND_US)];
  await insertTables(sql, {
    "sync.runs": [RUN],
    "sync.walks": [{ run_id: 1, resource: "build", walk: "whole", started_at, finished_at }],
    "mirror.builds": seen.flatMap(({ build }) => build ?? []),
    "mirror.build_transitions": seen.flatMap(({ transitions }) => transitions),
    "sync.open_builds": seen.flatMap(({ open }) => open ?? []),
  });
  // A build was not triggered before its date, unless that is later than its first sight.
  await sql`
    update mirror.build_transitions as first set not_before = reading.earliest
    from mirror.builds as build cross join lateral mirror.read_local_time(build.date, ${month.zone}) as reading
    where build.id = first.build_id and first.seq = 1 and reading.earliest <= first.not_after`;
}

/** Null is a build that no look has met. */
function watch({ id, date, success, steps }: TrueBuild, { beganAt, endedAt }: Month, everyUs: number) {
  const transitions: InsertedRow[] = [];
  let lastSeen = null as { state: string; at: Micros } | null;
  const bornAt = steps[0]?.at ?? endedAt;
  const first = Math.max(0, Math.ceil((bornAt - WAY_US - beganAt) / everyUs));
  for (let at = beganAt + first * everyUs; at <= endedAt && lastSeen?.state !== "finished"; at += everyUs) {
    const state = steps.findLast((step) => step.at <= at + WAY_US)?.state ?? "";
    if (state !== lastSeen?.state)
      transitions.push({
        build_id: id,
        seq: transitions.length + 1,
        from_state: lastSeen?.state ?? null,
        to_state: state,
        not_before: lastSeen === null ? "-infinity" : momentText(lastSeen.at),
        not_after: momentText(at + 2 * WAY_US),
        run_id: 1,
      });
    lastSeen = { state, at };
  }
  const seenAt = String(transitions[0]?.not_after);
  if (lastSeen === null) return { build: null, transitions, open: null };
  const { state, at } = lastSeen;
  const moments = { first_seen_at: seenAt, changed_at: momentText(at) };
  return {
    build: { id, date, state, success, type: "html", ...moments, record_hash: "" },
    transitions,
    open: state === "finished" ? null : { build_id: id, since: seenAt, seen_at: momentText(at), run_id: 1 },
  };
}

const BEGAN = "2024-01-01 00:00Z";
const RUN = {
  kind: "full",
  status: "succeeded",
  started_at: BEGAN,
  heartbeat_at: BEGAN,
  pid: 1,
  host: "test",
};
