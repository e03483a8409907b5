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

const KNOWN_BUILD_STATES = statement<KnownState>("known_build_states", import.meta.url);
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
export async function updateBuildStates(sql: Sql, facts: StateFacts): Promise<FinalStates> {
  const declared = declaredStates(facts.finalStates ?? []);
  const known = await KNOWN_BUILD_STATES(sql);
  if (isCurrent(known, declared, facts)) return judgeBy(finalOf(known));
  return withTransaction(sql, async (tx) => {
    const before = await findFinal(tx);
    await STORE_BUILD_STATES(tx, { states: JSON.stringify(declared) });
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
    return judgeBy(after, gained, lost);
  });
}

const judgeBy = (final: ReadonlySet<string>, gained: string[] = [], lost: string[] = []): FinalStates => ({
  isFinal: (state) => typeof state === "string" && final.has(stateWord(state)),
  gained,
  lost,
});

interface BuildState {
  state: string;
  stage: BuildStage;
  is_final: boolean;
  source: StateSource;
}

/** A state of the table. `isAnyUnknown`: some open build is in none of these. */
interface KnownState extends BuildState {
  isAnyUnknown: boolean;
}

/** True where the table says what is declared, and there is nothing to learn: no open build is in a word that nobody knows. */
function isCurrent(
  known: readonly KnownState[],
  declared: readonly BuildState[],
  { isLearning }: Pick<StateFacts, "isLearning">,
): boolean {
  const given = known.filter(({ source }) => source !== "learned");
  const isDeclared = ({ state, stage, source }: KnownState) =>
    declared.some((one) => one.state === state && one.stage === stage && one.source === source);
  if (given.length !== declared.length || !given.every(isDeclared)) return false;
  return !isLearning || (given.length === known.length && !known.some(({ isAnyUnknown }) => isAnyUnknown));
}

/** What the program declares, and behind it what the setting names: a word that ends builds anyway keeps its meaning. */
function declaredStates(finalStates: readonly string[]): BuildState[] {
  const known = Object.entries(BUILD_STATES).map(([state, { stage, source }]) => {
    return {
      state,
      stage: stage as BuildStage,
      is_final: isFinalStage(stage),
      source: source as StateSource,
    };
  });
  const states = new Map<string, BuildState>(known.map((one) => [one.state, one]));
  for (const state of finalStates.map(stateWord))
    if (!states.get(state)?.is_final)
      states.set(state, { state, stage: "cancelled", is_final: true, source: "set" });
  return [...states.values()];
}

const finalOf = (states: readonly Pick<BuildState, "state" | "is_final">[]): Set<string> =>
  new Set(states.flatMap(({ state, is_final }) => (is_final ? [state] : [])));

const findFinal = async (tx: TransactionSql): Promise<Set<string>> => finalOf(await KNOWN_BUILD_STATES(tx));
