/**
 * The states of a build, the only place that knows them by their words. `docs/builds.md` ("A build's life") says it for people.
 *
 *   waiting ──▶ working ──▶ result       ended, and `success` says how
 *      └───────────┴──────▶ cancelled    ended, neither as a success nor as a failure
 *
 * A word that is not here is `working`, until a setting or time shows that it is an end (`mirror/load/build-states.ts`).
 */

/** In `waiting` and `working` a build is open, in the others it has ended. */
export type BuildStage = "waiting" | "working" | "result" | "cancelled";

/**
 * Where a meaning comes from: the documented interface, what services were seen to send, the builds that stay in a word, or
 * the setting `DOCMIRROR_FINAL_STATES`.
 */
export type StateSource = "documented" | "known" | "learned" | "set";

/** The words of the service as `stateWord` spells them, in the order of a build's life. */
export const BUILD_STATES = {
  triggered: { stage: "waiting", source: "documented" },
  cloning: { stage: "working", source: "known" },
  installing: { stage: "working", source: "known" },
  building: { stage: "working", source: "documented" },
  uploading: { stage: "working", source: "known" },
  finished: { stage: "result", source: "documented" },
  // The interface names no other end. Services invented these later, and builds stay in them.
  cancelled: { stage: "cancelled", source: "known" },
  canceled: { stage: "cancelled", source: "known" },
  aborted: { stage: "cancelled", source: "known" },
  error: { stage: "cancelled", source: "known" },
  skipped: { stage: "cancelled", source: "known" },
} as const satisfies Readonly<Record<string, { stage: BuildStage; source: StateSource }>>;

type BuildState = keyof typeof BUILD_STATES;

export const isFinalStage = (stage: BuildStage): boolean => stage === "result" || stage === "cancelled";

const ALL = Object.keys(BUILD_STATES) as BuildState[];

/** The known states in which a build is open. */
export const OPEN_STATES = ALL.filter((state) => !isFinalStage(BUILD_STATES[state].stage));

/** The known states in which a build has ended. */
export const FINAL_STATES = ALL.filter((state) => isFinalStage(BUILD_STATES[state].stage));

/** The states that the interface documents, in the order of a build's life: a move back among them is odd. */
export const DOCUMENTED_STATES = ALL.filter((state) => BUILD_STATES[state].source === "documented");

/** How states are compared: without blanks around them, and A to Z as a to z. `sync.state_word` is the same in SQL. */
export const stateWord = (state: string): string =>
  state.replace(/^[ \t\n\v\f\r]+|[ \t\n\v\f\r]+$/g, "").replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Undefined for a word that is not known. */
export function knownStage(state: string): BuildStage | undefined {
  const word = stateWord(state);
  return Object.hasOwn(BUILD_STATES, word) ? BUILD_STATES[word as BuildState].stage : undefined;
}
