/** Builds, and what becomes of them, by chance. */
import type { Random } from "../../src/simulate/random.ts";
import type { InsertedRow } from "./insert-rows.ts";
import {
  createLocalReader,
  HOUR_US,
  type Micros,
  momentText,
  parseMoment,
  SECOND_US,
} from "./model/times.ts";
import { hex, randomTexts } from "./random-failures.ts";

export const ZONE = "America/Chicago";
/** Ids from '1' on; the lower ones have more builds. */
export const PROJECTS = 14;
export const VERSIONS = 40;
/** Of the builds' dates, hours from the first to the last but for odd ones. Summer time ends in between. */
const HOURS = 102 * 24;
const BEGIN = parseMoment("2024-09-20 00:00:00");
/** CoveredIds are of these runs, and of one that is not there any more. */
const RUNS = 4;
const TYPES = ["html", "html", "html", "html", "pdf", "epub", "", null] as const;
const OPEN_STATES = ["triggered", "building", "building", "cloning", "pondering", null] as const;
const ENDS = ["finished", "finished", "finished", "cancelled", " Cancelled", "error"] as const;

const BUSY_SERIES = { type: "html", project_id: "1", version_id: "1" } as const;
/** Some of the hours that come twice or never, of years to come, and of before there were such services. */
const ODD_DATES = [
  { share: 0.01, from: "2024-11-03 01:00:00", stepUs: SECOND_US, steps: 3600 },
  { share: 0.002, from: "2024-03-10 02:00:00", stepUs: SECOND_US, steps: 3600 },
  { share: 0.003, from: "2150-03-04 05:06:07", stepUs: 24 * HOUR_US, steps: 30 },
] as const;

/** The rows of a build that has come to something. */
export interface Life {
  /** Columns of the build itself. */
  state: InsertedRow;
  transitions: InsertedRow[];
  open: InsertedRow | null;
  log: InsertedRow | null;
}

/** The version that a build had before the service sent null in its place. */
export type Kept = { build_id: string; version_id: string } | null;

interface LifeOptions {
  hasDate: boolean;
  failShare: number;
  last?: { seq: number; to_state: string | null };
}

export function createRandomLives(random: Random) {
  const readLocal = createLocalReader(ZONE);
  const ids: string[] = [];
  const idsOf = (count: number, share: number) =>
    random.chance(share) ? null : String(1 + Math.min(random.int(count), random.int(count)));
  /** Hours in which many projects build, and fail as often as each other. */
  const bursts = Array.from({ length: 40 }, () => ({
    hour: random.int(HOURS),
    projects: 7 + random.int(PROJECTS - 6),
    share: random.next(),
  }));
  const shares = Array.from({ length: PROJECTS + 1 }, () => random.next() ** 4);
  const earlier: InsertedRow[] = [];

  function nextId(): string {
    for (;;) {
      const id = String(random.int(10 ** (1 + random.int(6))));
      if (!ids.includes(id)) {
        ids.push(id);
        return id;
      }
    }
  }

  /** Some tie, some are missing; one project has many that cannot be. */
  function randomDate(hour: number, projectId: string | null): Micros | null {
    if (random.chance(0.01)) return null;
    if (projectId === "7" && random.chance(0.02)) return parseMoment("1994-05-06 07:08:09.5");
    const odd = ODD_DATES.find(({ share }) => random.chance(share));
    if (odd) return parseMoment(odd.from) + random.int(odd.steps) * odd.stepUs;
    return BEGIN + hour * HOUR_US + (random.chance(0.3) ? 0 : random.int(3600 * 1000) * 1000);
  }

  /** A build that nobody has seen before. */
  function newBuild(): Life & { build: InsertedRow; kept: Kept } {
    const burst = random.chance(0.3) ? bursts[random.int(bursts.length)] : undefined;
    const hour = burst?.hour ?? random.int(HOURS);
    const project_id = burst ? String(1 + random.int(burst.projects)) : idsOf(PROJECTS, 0.03);
    const local = randomDate(hour, project_id);
    const date = local === null ? null : momentText(local).replace("+00", "");
    const reading = date === null ? null : readLocal(date);
    const bornAt = reading
      ? Math.min(reading.at, parseMoment("2025-01-05 00:00:00"))
      : BEGIN + hour * HOUR_US;
    const failShare = burst?.share ?? shares[Number(project_id ?? 0)] ?? 0.5;
    const build = {
      id: nextId(),
      date,
      ...(random.chance(0.03)
        ? BUSY_SERIES
        : { type: TYPES[random.int(TYPES.length)] ?? null, project_id, version_id: idsOf(VERSIONS, 0.05) }),
      // Some come with another one, to the microsecond.
      ...(random.chance(0.05) ? earlier[random.int(earlier.length)] : undefined),
      first_seen_at: momentText(bornAt + random.int(7200) * SECOND_US),
      changed_at: momentText(bornAt + 7200 * SECOND_US),
    };
    const { type, version_id } = build;
    earlier.push({ date: build.date, type, project_id: build.project_id, version_id });
    const had = version_id === null ? idsOf(VERSIONS, 0.3) : null;
    const kept = had === null ? null : { build_id: build.id, version_id: had };
    return { ...liveOf(build.id, bornAt, { hasDate: reading !== null, failShare }), build, kept };
  }

  /** What a build comes to, after the state that it was last seen in. */
  function liveOf(id: string, bornAt: Micros, { hasDate, failShare, last }: LifeOptions): Life {
    const transitions: InsertedRow[] = [];
    let { seq, to_state: from_state } = last ?? { seq: 0, to_state: null };
    let at = bornAt + random.int(600) * 500_000;
    let before: Micros | null = !hasDate || random.chance(0.03) ? null : bornAt - random.int(3) * SECOND_US;
    const enter = (to_state: string | null, upToSeconds: number) => {
      if (seq > 0 && to_state === from_state) return;
      seq += 1;
      transitions.push({
        build_id: id,
        seq,
        from_state,
        to_state,
        not_before: before === null ? "-infinity" : momentText(before),
        not_after: momentText(at),
        run_id: 1 + random.int(RUNS + 1),
      });
      from_state = to_state;
      before = random.chance(0.02) ? null : at + random.int(upToSeconds * 1000) * 1000;
      at = (before ?? at) + random.int(upToSeconds * 1000) * 1000;
    };
    const upTo = 10 ** (1 + random.int(4));
    if (random.chance(0.6)) enter("triggered", upTo);
    if (random.chance(0.4)) enter("building", upTo);
    const end = random.chance(0.9) ? "finished" : (ENDS[random.int(ENDS.length)] ?? "finished");
    const state = random.chance(0.93) ? end : (OPEN_STATES[random.int(OPEN_STATES.length)] ?? null);
    enter(state, upTo);
    if (random.chance(0.02)) {
      enter("building", upTo);
      enter(state, upTo);
    }
    if (random.chance(0.01)) transitions.splice(0);
    const isOpen = state !== end;
    const seenAt = bornAt + random.int(6 * 3600) * SECOND_US;
    const vanished_at = random.chance(0.2) ? momentText(seenAt + SECOND_US) : null;
    const failed = random.chance(failShare);
    return {
      state: {
        state,
        success: random.chance(0.02) ? null : !failed,
        deleted_at: random.chance(0.03) ? momentText(seenAt) : null,
        record_hash: `\\x${hex(random, 8)}`,
      },
      transitions,
      open:
        isOpen && random.chance(0.95)
          ? { build_id: id, since: momentText(bornAt), seen_at: momentText(seenAt), run_id: 1, vanished_at }
          : null,
      log: random.chance(0.95) ? { build_id: id, ...randomTexts(random, failed) } : null,
    };
  }

  return { newBuild, liveOf, ids };
}
