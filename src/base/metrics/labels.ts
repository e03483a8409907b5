/** The values that labels may have. They are fixed, so that what upstream sends cannot add series without end. */
import { STATUS_CODES } from "node:http";
import { RESOURCES } from "../../resources/resources.ts";

/** The object of a request: a resource, the root listing, a schema, a page of documentation, or another path. */
export const REQUEST_LABELS = [...RESOURCES, "root", "schema", "content", "other"] as const;
export type RequestLabel = (typeof REQUEST_LABELS)[number];

export const RUN_KINDS = ["full", "incremental", "watch", "quarantine", "repair"] as const;
export type RunKindLabel = (typeof RUN_KINDS)[number];

export const RUN_STATUSES = ["succeeded", "partial", "failed", "interrupted"] as const;
export type RunStatusLabel = (typeof RUN_STATUSES)[number];

/** The result for a record, as the run summary names it. */
export const OUTCOMES = ["inserted", "updated", "unchanged", "deleted", "restored", "quarantined"] as const;
export type OutcomeLabel = (typeof OUTCOMES)[number];

/** The jobs of a worker beside its runs. */
export const UPKEEP_JOBS = ["backup", "export", "prune"] as const;
export type UpkeepJob = (typeof UPKEEP_JOBS)[number];

/** The jobs with a schedule: the nightly sync, the watch, and the upkeep. */
export const COMMAND_LABELS = ["sync", "watch", ...UPKEEP_JOBS] as const;
export type CommandLabel = (typeof COMMAND_LABELS)[number];

/**
 * The end of a request: the status of the reply, `timeout`, `network` for no reply, `shape` for a reply that does not follow
 * the interface, or `stopped` for a request that was given up because the run ended.
 */
export type Answer = number | "timeout" | "network" | "shape" | "stopped";

/** The label of an answer. A status that no standard names is shown by its class, as `5xx`. */
export function answerLabel(answer: Answer): string {
  if (typeof answer === "string" || answer in STATUS_CODES) return String(answer);
  return `${Math.floor(answer / 100)}xx`;
}

/** The value where it is one of those that are known, else `other`. */
export function knownOr<K extends string>(known: readonly K[], value: string | null): K | "other" {
  return known.find((one) => one === value) ?? "other";
}
