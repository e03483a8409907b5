/** The order in which a run walks its lists. */
import type { ResumableWalk } from "../../store/ledger/run-ledger.ts";
import type { ListFacts, WalkPlan } from "./plan.ts";

interface TurnFacts {
  lists: readonly Pick<ListFacts, "resource" | "begunRunId" | "goodRunId">[];
  resumable: readonly Pick<ResumableWalk, "resource" | "checkpoint">[];
}

/**
 * The turns of a run, each with the lists that are walked at the same time. First come those that rest because the service
 * allowed no more requests: where requests are few, each list so comes to its end as soon as it can. Then come those that
 * were begun the longest ago, and of these first those that were read well the longest ago. So a list that fails each night
 * takes the requests of a night from the others once, and not the next night again. Lists that the same run read well last,
 * as on most nights all, share a turn.
 */
export function turnsOf(walks: readonly WalkPlan[], { lists, resumable }: TurnFacts): WalkPlan[][] {
  const isResting = ({ resource, kind }: WalkPlan) => {
    const { rests } = resumable.find((walk) => walk.resource === resource)?.checkpoint ?? {};
    return kind === "full" && rests !== undefined && !rests.isBroken;
  };
  const ranked = walks.map((walk) => {
    const facts = lists.find(({ resource }) => resource === walk.resource);
    return isResting(walk)
      ? { walk, begun: -1, good: -1 }
      : { walk, begun: facts?.begunRunId ?? 0, good: facts?.goodRunId ?? 0 };
  });
  ranked.sort((one, other) => one.begun - other.begun || one.good - other.good);
  const turns: WalkPlan[][] = [];
  for (const [at, { walk, begun, good }] of ranked.entries()) {
    const before = ranked[at - 1];
    if (before?.begun === begun && before.good === good) turns.at(-1)?.push(walk);
    else turns.push([walk]);
  }
  return turns;
}
