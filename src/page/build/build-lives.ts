import type { ExplainedBuild, ExplainedTransition } from "../../mirror/builds/explain-build.ts";
import { momentMs } from "../parts/age.ts";

/** One state of a build, in milliseconds since 1970: when it may have been in it, and when it surely was. */
export interface StateSpan {
  readonly state: string | null;
  /** The earliest moment; null where nothing is known. */
  readonly from: number | null;
  /** Seen in it at these moments, the first and the last. */
  readonly seen: readonly number[];
  /** Surely in it between these two; null where it was seen only once, and may have left at once. */
  readonly surely: readonly [number, number] | null;
  /** The latest moment; null where it may still be in it. */
  readonly until: number | null;
}

/** The spans of the states that a build entered, in their order. */
export function readLife({ transitions, open, state }: ExplainedBuild): StateSpan[] {
  return transitions.map((transition, place) => {
    const next = transitions[place + 1];
    const first = momentMs(transition.not_after);
    const last = next === undefined ? open?.last_seen.asked_at : isSighting(next) ? next.not_before : null;
    const again = finite(last);
    const isSeenAgain = again !== null && again > first;
    const isOver = next === undefined && state === "finished" && transition.to_state === "finished";
    return {
      state: transition.to_state,
      from: finite(transition.not_before),
      seen: isSeenAgain ? [first, again] : [first],
      surely: isOver ? [first, Number.POSITIVE_INFINITY] : isSeenAgain ? [first, again] : null,
      until: finite(next === undefined ? open?.vanished_at : next.not_after),
    };
  });
}

/** Whether its lower bound is the last sighting in the state before. Older versions did not store the rule. */
const isSighting = ({ rule }: ExplainedTransition): boolean => rule === "last_seen" || rule === null;

/** Postgres has infinite moments, and moments that JavaScript does not have. */
function finite(text: string | null | undefined): number | null {
  const ms = momentMs(text);
  return Number.isNaN(ms) ? null : ms;
}
