/** The order in which a run walks its lists. */
import type { Resource } from "../../resources/resources.ts";
import type { ResumableWalk } from "../../store/ledger/run-ledger.ts";
import type { ListFacts, WalkPlan } from "./plan.ts";

interface TurnFacts {
  lists: readonly Pick<ListFacts, "resource" | "goodRunId">[];
  resumable: readonly Pick<ResumableWalk, "resource" | "checkpoint">[];
}

/**
 * The turns of a run, each with the lists that are walked at the same time. First come those that rest because the service
 * allowed no more requests, then those that were read well the longest ago: where requests are few, each list so comes to
 * its end as soon as it can. Lists that the same run read well last, as on most nights all, share a turn.
 */
export function turnsOf(walks: readonly WalkPlan[], { lists, resumable }: TurnFacts): WalkPlan[][] {
  const rests = ({ resource, kind }: WalkPlan) =>
    kind === "full" && resumable.some((walk) => walk.resource === resource && walk.checkpoint.rests);
  const goodRun = (resource: Resource) => lists.find((list) => list.resource === resource)?.goodRunId ?? 0;
  const turns = new Map<number, WalkPlan[]>();
  for (const walk of walks) {
    const rank = rests(walk) ? -1 : goodRun(walk.resource);
    turns.set(rank, [...(turns.get(rank) ?? []), walk]);
  }
  return [...turns].sort(([one], [other]) => one - other).map(([, turn]) => turn);
}
