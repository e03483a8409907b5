/** The builds of a world: their lives, which are computed, and their facts, which are kept in columns of numbers. */
import { DAY, HOUR, type Micros, SECOND } from "./local-dates.ts";
import { createRandom, hash, type Random, STREAM } from "./random.ts";
import type { WorldSettings } from "./settings.ts";

/**
 * States: triggered → (cloning → installing →) building → finished. A stuck build stays `triggered` or
 * `building` for ever, or until a job closes it as failed. A cancelled one ends as `cancelled`
 * while it waits or works. A pdf row is written at the end of its build, so its first state is `finished`.
 */
export interface BuildLife {
  type: string;
  /** In the order of time. The first state is entered when the build is created. */
  steps: readonly { state: string; at: Micros }[];
  /** The value after the build has finished. Before that it is true (`docs/internals/service.md`, "Values"). */
  success: boolean;
  /** Why the build fails. Null for a success. */
  failure: FailureKind | null;
}

/** Half of all builds take less than 183 s from trigger to finish, 95 % less than 821 s. */
const MEDIAN: Micros = 183 * SECOND;
const LOG_DEVIATION = Math.log(821 / 183) / 1.6449;

/** The likely ones stand here several times. */
const FAILURES = [
  "clone",
  "distribution",
  "distribution",
  "configuration",
  "configuration",
  "configuration",
  "warning",
  "warning",
  "latex",
  "timeout",
  "memory",
] as const;

/** A job closes a stuck build for `inactivity`. */
export type FailureKind = (typeof FAILURES)[number] | "inactivity";

/** Computes the whole life of a build from its row number and its creation, so nothing of it is stored. */
export function createBuildLives(settings: WorldSettings) {
  const { seed, stuckShare, cancelledShare, closeStuckAfterMs } = settings;

  function failureOf(random: Random, project: number, createdAt: Micros): FailureKind | null {
    const outcome = random.next();
    const kind = random.pick(FAILURES);
    // Now and then something outside fails for a few hours, and most builds fail with it.
    const incident = createRandom(hash(seed, STREAM.incident, Math.floor(createdAt / (3 * HOUR))));
    if (incident.chance(0.01) && outcome < 0.7) return incident.pick(["clone", "distribution", "timeout"]);
    // Most projects nearly always succeed, some nearly never.
    const weakness = hash(seed, STREAM.failures, project) / 2 ** 32;
    return outcome < 0.02 + 0.6 * weakness ** 4 ? kind : null;
  }

  return {
    lifeOf(row: number, createdAt: Micros, project: number): BuildLife {
      const random = createRandom(hash(seed, STREAM.build, row));
      const type = random.next();
      const failure = failureOf(random, project, createdAt);
      const stuck = random.chance(stuckShare);
      const total = Math.round(Math.exp(Math.log(MEDIAN) + LOG_DEVIATION * random.normal()));
      const detailed = random.chance(0.15);
      const success = failure === null;
      if (type > 0.8 && type < 0.9) {
        const steps = [{ state: "finished", at: createdAt }];
        return { type: "pdf", steps, success, failure: failure && "latex" };
      }
      const kind = type <= 0.8 ? "html" : type < 0.97 ? "epub" : type < 0.995 ? "man" : "dash";
      const life = { type: kind, success, failure };
      const after = (share: number): Micros => createdAt + Math.max(1, Math.round(total * share));
      const steps = [{ state: "triggered", at: createdAt }];
      const canceller = createRandom(hash(seed, STREAM.cancelled, row));
      if (canceller.chance(cancelledShare)) {
        if (canceller.chance(0.5)) steps.push({ state: "building", at: after(0.1) });
        steps.push({ state: "cancelled", at: after(0.6) });
        return { type: kind, steps, success: false, failure: null };
      }
      if (stuck) {
        if (random.chance(0.5)) steps.push({ state: "building", at: after(0.1) });
        if (closeStuckAfterMs === undefined) return { ...life, steps };
        const end = Math.max(createdAt + closeStuckAfterMs * 1000, after(0.1) + 1);
        steps.push({ state: "finished", at: end });
        return { type: kind, steps, success: false, failure: "inactivity" };
      }
      if (detailed)
        steps.push({ state: "cloning", at: after(0.06) }, { state: "installing", at: after(0.15) });
      steps.push({ state: "building", at: after(detailed ? 0.4 : 0.1) }, { state: "finished", at: after(1) });
      return { ...life, steps };
    },

    /** The milliseconds by which the service's clock is behind: on some days for two hours, then it is corrected. */
    clockLag(moment: Micros): Micros {
      if (!settings.clockSteps) return 0;
      const day = Math.floor(moment / DAY);
      const random = createRandom(hash(seed, STREAM.clock, day));
      if (!random.chance(0.12)) return 0;
      const start = day * DAY + random.int(22) * HOUR;
      return moment >= start && moment < start + 2 * HOUR ? (1 + random.int(40)) * 60 * SECOND : 0;
    },
  };
}

export type BuildLives = ReturnType<typeof createBuildLives>;

/** The state of a build at a moment, which must not be before its creation. */
export function stateAt(life: BuildLife, moment: Micros): string {
  return life.steps.findLast(({ at }) => at <= moment)?.state ?? "";
}

const FIRST_ID = 90_001;
const NO_VERSION = -1;

export type BuildStore = ReturnType<typeof createBuildStore>;

/**
 * The basic facts of all builds in columns of numbers: 32 bytes a build, and 4 for its place in the list.
 * Everything else about a build is computed from its row number on request.
 */
export function createBuildStore(capacity: number) {
  let size = Math.max(capacity, 1024);
  let createdAt = new Float64Array(size);
  let date = new Float64Array(size);
  let project = new Int32Array(size);
  let version = new Int32Array(size);
  let deletedAt = new Float64Array(size);
  /** Rows that are not deleted, oldest date first. New builds mostly go to the end. */
  let order = new Int32Array(size);
  let rowCount = 0;
  let liveCount = 0;
  /** From a row on, ids are lower by so much than rows say. The newest comes first. */
  let rewinds: readonly { fromRow: number; by: number }[] = [{ fromRow: 0, by: 0 }];

  function grow(): void {
    size = Math.ceil(size * 1.5);
    const copy = <A extends Float64Array | Int32Array>(from: A, to: A): A => {
      to.set(from);
      return to;
    };
    createdAt = copy(createdAt, new Float64Array(size));
    date = copy(date, new Float64Array(size));
    deletedAt = copy(deletedAt, new Float64Array(size));
    project = copy(project, new Int32Array(size));
    version = copy(version, new Int32Array(size));
    order = copy(order, new Int32Array(size));
  }

  const at = (column: Float64Array | Int32Array, index: number): number => column[index] ?? Number.NaN;
  const idOf = (row: number): number =>
    row + FIRST_ID - (rewinds.find(({ fromRow }) => row >= fromRow)?.by ?? 0);

  return {
    /** The rows that were ever created. A deleted build keeps its row. */
    get rowCount() {
      return rowCount;
    },
    get liveCount() {
      return liveCount;
    },
    add(build: { createdAt: Micros; date: Micros; project: number; version: number | null }): number {
      if (rowCount === size) grow();
      const row = rowCount++;
      createdAt[row] = build.createdAt;
      date[row] = build.date;
      project[row] = build.project;
      version[row] = build.version ?? NO_VERSION;
      deletedAt[row] = Number.POSITIVE_INFINITY;
      let place = liveCount++;
      while (place > 0 && at(date, at(order, place - 1)) > build.date) {
        order[place] = at(order, place - 1);
        place--;
      }
      order[place] = row;
      return row;
    },
    createdAt: (row: number): Micros => at(createdAt, row),
    /** The local date on the wire. It may be earlier than that of an older build. */
    date: (row: number): Micros => at(date, row),
    project: (row: number): number => at(project, row),
    version: (row: number): number | null => (version[row] === NO_VERSION ? null : at(version, row)),
    /** Infinity while the build exists. */
    deletedAt: (row: number): Micros => at(deletedAt, row),
    /** The row at a place in the list, newest date first. The place must be below `liveCount`. */
    rowAt: (place: number): number => at(order, liveCount - 1 - place),
    remove(row: number, moment: Micros): boolean {
      const place = order.subarray(0, liveCount).lastIndexOf(row);
      if (place < 0) return false;
      order.copyWithin(place, place + 1, liveCount);
      liveCount--;
      deletedAt[row] = moment;
      return true;
    },
    /** Removes the rows for which `goes` returns true, in one pass, and returns them. */
    removeWhere(goes: (row: number) => boolean, moment: Micros): number[] {
      const gone: number[] = [];
      let kept = 0;
      for (let place = 0; place < liveCount; place++) {
        const row = at(order, place);
        if (goes(row)) {
          deletedAt[row] = moment;
          gone.push(row);
        } else order[kept++] = row;
      }
      liveCount = kept;
      return gone;
    },
    idOf,
    /** Undefined for an unknown id and for a deleted build. Of several builds that had the id, the newest counts. */
    rowOf(id: number): number | undefined {
      for (const { fromRow, by } of rewinds) {
        const row = id - FIRST_ID + by;
        if (row >= fromRow && row < rowCount)
          return deletedAt[row] === Number.POSITIVE_INFINITY ? row : undefined;
      }
      return undefined;
    },
    /**
     * The next build gets the id behind the highest one that is there, as after a restart of MySQL before 8 or of SQLite: those
     * of deleted builds above it are given again.
     */
    rewindIds(): void {
      let highest = FIRST_ID - 1;
      for (let place = 0; place < liveCount; place++) highest = Math.max(highest, idOf(at(order, place)));
      const by = rowCount + FIRST_ID - 1 - highest;
      if (by !== rewinds[0]?.by) rewinds = [{ fromRow: rowCount, by }, ...rewinds];
    },
  };
}
