/**
 * Keeps `sync.build_states`, by which all SQL knows what a state means: what the program declares, what a setting names, and
 * what the builds themselves show. Only a run that writes changes it.
 */
import {
  BUILD_STATES,
  type BuildStage,
  isFinalStage,
  type StateSource,
  stateWord,
} from "../../resources/build-states.ts";
import { type Sql, statement, type TransactionSql, withTransaction } from "../../store/connection/sql.ts";
import { VANISHED } from "./record-transitions.ts";

const STORE_BUILD_STATES = statement("store_build_states", import.meta.url);
const LEARN_BUILD_STATES = statement("learn_build_states", import.meta.url);
const CLOSE_BUILDS = statement("close_builds", import.meta.url);
const REOPEN_BUILDS = statement("reopen_builds", import.meta.url);

/** A word that nobody knows is final when this many builds stayed in it for so long, and none ever left it. */
const LEARNED_FROM_BUILDS = 10;
const LEARNED_AFTER_HOURS = 48;
/** No word of a service is longer, and an index has to hold it. */
const LONGEST_WORD = 100;

interface StateFacts {
  runId: number;
  /** Words that end a build, by `DOCMIRROR_FINAL_STATES`. */
  finalStates: readonly string[] | null;
  /** Looks which states builds stay in. This may read all transitions, so a round of the watch leaves it to the syncs. */
  isLearning: boolean;
  assertMayWrite: (tx: TransactionSql) => Promise<void>;
}

export interface FinalStates {
  isFinal(state: unknown): boolean;
  /** Words that became final, or are not any more, by this call. */
  gained: string[];
  lost: string[];
}

/** Brings the table up to date, and the open builds with it. Safe to repeat. Throws StoreError. */
export function updateBuildStates(sql: Sql, facts: StateFacts): Promise<FinalStates> {
  return withTransaction(sql, async (tx) => {
    const before = await findFinal(tx);
    await STORE_BUILD_STATES(tx, { states: JSON.stringify(declaredStates(facts.finalStates ?? [])) });
    if (facts.isLearning)
      await LEARN_BUILD_STATES(tx, {
        runId: facts.runId,
        vanished: VANISHED,
        builds: LEARNED_FROM_BUILDS,
        hours: LEARNED_AFTER_HOURS,
        longest: LONGEST_WORD,
      });
    const after = await findFinal(tx);
    const gained = [...after].filter((word) => !before.has(word));
    const lost = [...before].filter((word) => !after.has(word));
    if (gained.length > 0) await CLOSE_BUILDS(tx, {});
    if (lost.length > 0) await REOPEN_BUILDS(tx, { states: lost });
    await facts.assertMayWrite(tx);
    return { isFinal: (state) => typeof state === "string" && after.has(stateWord(state)), gained, lost };
  });
}

/** What the program declares, and behind it what the setting names: a word that ends builds anyway keeps its meaning. */
function declaredStates(finalStates: readonly string[]) {
  const known = Object.entries(BUILD_STATES).map(([state, { stage, source }]) => {
    return {
      state,
      stage: stage as BuildStage,
      is_final: isFinalStage(stage),
      source: source as StateSource,
    };
  });
  const states = new Map(known.map((one) => [one.state, one]));
  for (const state of finalStates.map(stateWord))
    if (!states.get(state)?.is_final)
      states.set(state, { state, stage: "cancelled", is_final: true, source: "set" });
  return [...states.values()];
}

async function findFinal(tx: TransactionSql): Promise<Set<string>> {
  const rows = await tx<{ state: string }[]>`select state from sync.build_states where is_final`;
  return new Set(rows.map(({ state }) => state));
}
