/**
 * The only place that stores transitions of builds, for every kind of run: `docs/builds.md` says what a transition is,
 * `docs/internals/builds.md` how its bounds are found and what `rule` and `anomaly` name.
 */
import { DOCUMENTED_STATES, isFinalStage, knownStage } from "../../resources/build-states.ts";
import { statement, type TransactionSql } from "../../store/connection/sql.ts";
import type { Observation } from "./compare-records.ts";

const STALE_SIGHTINGS = statement<{ id: string }>("stale_sightings", import.meta.url);
const FIRST_TRANSITIONS = statement("first_transitions", import.meta.url);
const LATER_TRANSITIONS = statement("later_transitions", import.meta.url);
const UPDATE_OPEN_BUILDS = statement("update_open_builds", import.meta.url);
const OPEN_BEFORE = statement<{ id: string }>("open_before", import.meta.url);

/** The `to_state` of an open build whose detail is gone. `mirror.builds.state` keeps upstream's last. */
export const VANISHED = "vanished";

/** A smaller difference between the clocks is not reported as `clock`, because `Date` has whole seconds. */
const NAMED_DIFFERENCE_MS = 1000;
/** Three thousand years. A larger clock error moves no bound further: Postgres begins in 4713 BC. */
const LONGEST_DIFFERENCE_MS = 1e14;

export interface TransitionFacts {
  runId: number;
  /** A reply that was asked for earlier comes from a cache. @default none does */
  startedAt?: Date | null | undefined;
  sourceTimezone: string;
  /** By how much the service's clock is ahead of ours, if it is known. @default unknown */
  clockAhead?: (() => { minMs: number; maxMs: number } | null) | undefined;
  /** Says of a state whether builds end in it. @default those that the program knows */
  isFinal?: ((state: unknown) => boolean) | undefined;
}

/** True for a state that the program itself knows as final. */
export const isKnownFinal = (state: unknown): boolean =>
  typeof state === "string" && isFinalStage(knownStage(state) ?? "working");

/** A reply that showed a build, or that it is gone. */
export interface BuildSighting extends Observation {
  id: string;
  /** As it shows them. Absent where the build was gone. */
  state?: unknown;
  date?: unknown;
  /** The build was added in this transaction, so nothing need be looked up for it. @default false */
  isAdded?: boolean;
}

/** With `isGone` the details of the builds are gone, which is stored for open ones. Returns the number. Safe to repeat. */
export async function recordTransitions(
  tx: TransactionSql,
  facts: TransitionFacts,
  sightings: readonly BuildSighting[],
  isGone = false,
): Promise<number> {
  const known = sightings.filter(({ isAdded }) => !isAdded);
  const added = sightings.filter(({ isAdded }) => isAdded);
  const given = { ...clockOf(facts), runId: facts.runId, zone: facts.sourceTimezone };
  const [entered, changed] = await Promise.all([
    // Without the look-ups of the general statement, which are three quarters of its time.
    added.length > 0 && FIRST_TRANSITIONS(tx, { ...given, builds: JSON.stringify(added) }),
    known.length > 0 &&
      LATER_TRANSITIONS(tx, {
        ...given,
        isGone,
        vanished: VANISHED,
        seen: JSON.stringify(known),
        documented: DOCUMENTED_STATES,
        namedDifferenceMs: NAMED_DIFFERENCE_MS,
        longestDifferenceMs: LONGEST_DIFFERENCE_MS,
      }),
  ]);
  // Open builds were seen now; those that have ended are removed.
  const { isFinal = isKnownFinal } = facts;
  const seen = [...added.filter(({ state }) => !isFinal(state)), ...known];
  if (seen.length > 0)
    await UPDATE_OPEN_BUILDS(tx, { seen: JSON.stringify(seen), isGone, runId: facts.runId });
  return (entered ? entered.count : 0) + (changed ? changed.count : 0);
}

/** The difference between the clocks, as the statements use it. */
function clockOf({ clockAhead }: TransitionFacts) {
  const { minMs = null, maxMs = null } = clockAhead?.() ?? {};
  const mostAhead = Math.min(Math.max(0, maxMs ?? 0), LONGEST_DIFFERENCE_MS);
  const leastAhead = minMs ?? 0;
  return {
    minMs,
    maxMs,
    mostAhead,
    // Clocks that may agree are assumed to agree.
    surelyAhead: leastAhead > 0 ? mostAhead : 0,
    isNamed: leastAhead >= NAMED_DIFFERENCE_MS,
  };
}

/**
 * Finds the builds that were already seen later than in these sightings, by a later run or later in this one. Where two
 * replies overlap in time, it is unknown which one shows the later state: the one that would move a build backward is stale.
 */
export async function findStale(
  tx: TransactionSql,
  { runId, startedAt = null }: Pick<TransitionFacts, "runId" | "startedAt">,
  sightings: readonly BuildSighting[],
): Promise<Set<string>> {
  if (sightings.length === 0) return new Set();
  const rows = await STALE_SIGHTINGS(tx, {
    sightings: JSON.stringify(sightings),
    runId,
    startedAt: startedAt?.toISOString() ?? null,
    vanished: VANISHED,
    documented: DOCUMENTED_STATES,
  });
  return new Set(rows.map(({ id }) => id));
}

const WINDOW = 5000;

/**
 * Records that a full walk saw these open builds in their stored state, within the transaction that ends the walk: a
 * page with the same bytes as in the last walk is not loaded. Builds that were seen later, or that could not be
 * stored, stay as they are.
 */
export async function recordSeen(
  tx: TransactionSql,
  seen: { has(id: string): boolean },
  /** The walk began at `startedAt` in the run `beganRunId`. `request` is the path of the list. */
  walk: { runId: number; beganRunId: number; startedAt: string; request: string },
): Promise<void> {
  const { runId, beganRunId, startedAt, request } = walk;
  let last = "";
  for (;;) {
    const open = await OPEN_BEFORE(tx, { last, beganRunId, startedAt, window: WINDOW });
    const shown = open.filter(({ id }) => seen.has(id)).map(({ id }) => id);
    if (shown.length > 0) {
      await tx`
        update sync.open_builds set seen_at = ${startedAt}::timestamptz, run_id = ${runId}, request = ${request}
        where build_id = any (${shown}::text[])`;
    }
    if (open.length < WINDOW) return;
    last = open.at(-1)?.id ?? last;
  }
}
