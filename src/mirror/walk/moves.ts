/**
 * The states of a walk and its moves between them, as a table: on each event the course makes the first move that applies.
 * `docs/internals/reliability.md` shows it, and tests see that a course makes each of these moves and no other.
 */
import type { PassVerdict } from "./verdicts.ts";

/** Where the next request begins, and what its page needs to count. */
export type StateName =
  /** At the start of the list, or where no page can have an anchor. Its page needs none. */
  | "starting"
  /** In front of the end of what is covered. Its page needs anchors, of two dates where dates show the order. */
  | "reading"
  /** In front of a page that had no anchor. Its page needs one anchor. */
  | "stepping back"
  /** Where the end of what is covered is by now, as the counts say. No page has counted since the walk rested. */
  | "guessing"
  /** Nowhere. */
  | "ended";

/** The outcome of the verdict on a page; a page that the service cannot render; the walk has rested. */
export type WalkEvent = PassVerdict["outcome"] | "not_rendered" | "rested";

/** The facts about a request whose page cannot be rendered. */
interface FailedRequest {
  limit: number;
  /** Larger than the set size, which an enlarged page is narrowed to. */
  isEnlarged: boolean;
  /** The holes side by side in front of it. */
  adjacentHoles: number;
}

export interface Move {
  on: readonly WalkEvent[];
  /** @default any but `ended` */
  from?: readonly StateName[];
  /** The condition in words, for the case that no earlier move applies. */
  when?: string;
  applies?(failed: FailedRequest): boolean;
  does: string;
  /** The state that follows. Where no anchor is possible it is `starting` instead. */
  to: StateName | "the same";
}

/** More holes side by side mean that the list cannot be read, not that its records are bad. */
export const MAX_ADJACENT_HOLES = 20;

export const MOVES = [
  { on: ["whole", "not_whole"], does: "ends", to: "ended" },
  { on: ["larger_pages", "read_again"], does: "begins the next pass", to: "starting" },
  { on: ["go_on"], does: "goes on", to: "reading" },
  { on: ["step_back"], from: ["reading", "stepping back"], does: "steps back", to: "stepping back" },
  { on: ["step_back"], from: ["guessing"], does: "steps back", to: "guessing" },
  { on: ["rested"], does: "guesses its place", to: "guessing" },
  {
    on: ["not_rendered"],
    when: "it is larger than the set size",
    applies: ({ isEnlarged }) => isEnlarged,
    does: "takes the set size",
    to: "the same",
  },
  {
    on: ["not_rendered"],
    when: "it asks for more than one record",
    applies: ({ limit }) => limit > 1,
    does: "halves the request",
    to: "the same",
  },
  {
    // Behind a hole no anchor is needed, which would take the guess for the place. So records in front of it are read.
    on: ["not_rendered"],
    from: ["guessing"],
    does: "looks further in front",
    to: "guessing",
  },
  {
    on: ["not_rendered"],
    when: `${MAX_ADJACENT_HOLES} holes are in front of it, side by side`,
    applies: ({ adjacentHoles }) => adjacentHoles >= MAX_ADJACENT_HOLES,
    does: "gives up",
    to: "the same",
  },
  { on: ["not_rendered"], does: "leaves a hole", to: "starting" },
] as const satisfies readonly Move[];

export type MoveMade = (typeof MOVES)[number];

/** @param failed the request, where its page cannot be rendered */
export function moveOn(on: WalkEvent, from: StateName, failed: FailedRequest): MoveMade {
  const move = MOVES.find(
    (row: Move) =>
      row.on.includes(on) &&
      (row.from?.includes(from) ?? from !== "ended") &&
      (row.applies?.(failed) ?? true),
  );
  if (!move) throw new Error(`a walk that is ${from} has no move on ${on}`);
  return move;
}
