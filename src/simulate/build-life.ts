import { DAY, HOUR, type Micros, SECOND } from "./local-dates.ts";
import { createRandom, hash, type Random, STREAM } from "./random.ts";
import type { WorldSettings } from "./settings.ts";

/**
 * States: triggered → (cloning → installing →) building → finished. A stuck build stays `triggered` or
 * `building` for ever, or until a job closes it as failed. A pdf row is written at the end of its build, so
 * its first state is `finished`.
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
  const { seed, stuckShare, closeStuckAfterMs } = settings;

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

    /** How far the service's clock is behind: on some days for two hours, then it is corrected. */
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
