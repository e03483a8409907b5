import { ageMs } from "../../base/clock.ts";
import { RESOURCES, type Resource } from "../../resources/resources.ts";
import type { SyncKind } from "../../store/schema/runs.ts";
import type { ServiceRoot } from "./root-listing.ts";
import type { SyncSettings } from "./sync-settings.ts";

const DAY_MS = 86_400_000;
/** A nightly run may start a few hours earlier than the one before. */
const SLACK_MS = DAY_MS / 2;
/** `auto` walks in full every night if that takes at most this long, or else every 7 days. */
const FULL_WALK_SECONDS = 1800;
const RARE_FULL_DAYS = 7;

export interface PlanInput {
  /** The requested kind; null lets the plan decide. */
  kind: SyncKind | null;
  /** The requested resources; null means all. */
  resources: readonly Resource[] | null;
  root: ServiceRoot;
  fullEveryDays: SyncSettings["fullEveryDays"];
  /** When the newest whole walk of builds began; null when there is none. */
  lastWholeBuildWalk: string | null;
  /** Whether the last comparison with upstream's count of builds found a difference, with no whole walk since. */
  hasUnexplainedDeficit: boolean;
  /** The estimated seconds of a full walk at the rate that is set. */
  fullWalkSeconds: { all: number; build: number };
  now: Date;
}

export interface WalkPlan {
  resource: Resource;
  listPath: string;
  /** Every page, or only the head until it joins what is known. */
  kind: "full" | "head";
  /** Whether a head that joined with an unexplained deficit is followed by a full walk in the same run. */
  mayWalkInFull: boolean;
}

export interface Plan {
  kind: SyncKind;
  walks: WalkPlan[];
  /** Requested, but not in the root listing. */
  absent: Resource[];
}

/**
 * Decides what a run walks. Only the build list has its newest records at the head, so an incremental run
 * reads only that head, and walks all other lists in full. Without a requested kind, a run is full when no
 * whole walk of builds began within the days that are set, or when the newest reading of the head did not
 * agree with upstream's count.
 */
export function planRun(input: PlanInput): Plan {
  const { root, fullWalkSeconds } = input;
  const kind = input.kind ?? (isFullDue(input) ? "full" : "incremental");
  const wanted = RESOURCES.filter((resource) => input.resources?.includes(resource) ?? true);
  const walks: WalkPlan[] = [];
  const absent: Resource[] = [];
  for (const resource of wanted) {
    const listPath = root.resources[resource]?.list_endpoint;
    if (listPath === undefined) absent.push(resource);
    else {
      const isHead = kind === "incremental" && resource === "build";
      const mayWalkInFull = isHead && input.kind === null && fullWalkSeconds.build <= FULL_WALK_SECONDS;
      walks.push({ resource, listPath, kind: isHead ? "head" : "full", mayWalkInFull });
    }
  }
  return { kind, walks, absent };
}

function isFullDue({
  fullEveryDays,
  fullWalkSeconds,
  lastWholeBuildWalk,
  now,
  ...input
}: PlanInput): boolean {
  if (input.hasUnexplainedDeficit) return true;
  const isQuick = fullWalkSeconds.all <= FULL_WALK_SECONDS;
  const days = fullEveryDays === "auto" ? (isQuick ? 1 : RARE_FULL_DAYS) : fullEveryDays;
  return ageMs(lastWholeBuildWalk, now) >= days * DAY_MS - SLACK_MS;
}
