import type { SyncKind } from "../db/schema/runs.ts";
import type { RootListing } from "../wire/resources.ts";
import { RESOURCES, type Resource } from "../wire/resources.ts";

export interface PlanInput {
  /** What was asked for; null leaves it to the plan. */
  kind: SyncKind | null;
  /** The resources asked for; null means all. */
  resources: readonly Resource[] | null;
  root: RootListing;
  /** When the newest whole walk of builds began. */
  lastWholeBuildWalk: string | null;
  fullEveryDays: number;
  now: Date;
}

export interface WalkPlan {
  resource: Resource;
  listPath: string;
  /** Every page, or the head alone until it joins what is known. */
  kind: "full" | "head";
}

export interface Plan {
  kind: SyncKind;
  walks: WalkPlan[];
  /** Asked for, yet not in the root listing. */
  absent: Resource[];
}

/**
 * Decides what a run walks. Builds are the one list that has its newest records at the head, so an incremental run reads only its head;
 * nothing else can be asked for by age and is walked in full. Without a word from the user a run is full when no whole
 * walk of builds began within the last `fullEveryDays` days.
 */
export function planRun(input: PlanInput): Plan {
  const wanted = RESOURCES.filter((resource) => input.resources?.includes(resource) ?? true);
  const ageMs = input.lastWholeBuildWalk
    ? input.now.getTime() - Date.parse(input.lastWholeBuildWalk)
    : Infinity;
  const isDue = ageMs >= input.fullEveryDays * 86_400_000;
  const kind = input.kind ?? (isDue ? "full" : "incremental");
  const walks: WalkPlan[] = [];
  const absent: Resource[] = [];
  for (const resource of wanted) {
    const listPath = input.root[resource]?.list_endpoint;
    if (listPath === undefined) absent.push(resource);
    else
      walks.push({
        resource,
        listPath,
        kind: kind === "incremental" && resource === "build" ? "head" : "full",
      });
  }
  return { kind, walks, absent };
}
