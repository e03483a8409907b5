/** What became of each build: the model of `report.fact_builds`, on which all other answers stand. */

import { createHash } from "node:crypto";
import { findErrorLine, maskPlaces } from "./error-line.ts";
import { groupBy } from "./group-by.ts";
import type { Raw, RawBuild, RawNamed, RawTransition } from "./raw.ts";
import { createLocalReader, dayOf, type Micros, parseDay, SECOND_US } from "./times.ts";

export interface ErrorRule {
  position: number;
  /** Simple enough to mean the same in Postgres and here. */
  pattern: string;
  class: string;
  /** @default false */
  is_platform?: boolean;
}

export interface Settings {
  sourceTimezone: string;
  stuckAfterMs: number;
  rules: readonly ErrorRule[];
  /** What failures with such a line have in common: a hash that only the database computes. */
  fingerprintOf(id: string, line: string | null): string | null;
  /** A day in UTC, `2026-11-21`. */
  today: string;
}

export type Outcome = "succeeded" | "failed" | "cancelled" | "open" | "stuck" | "vanished" | "unknown_state";

export interface Fact {
  id: string;
  project: Named;
  version: Named;
  type: string;
  /** Tells series apart whose project or version is unknown; null where nothing does. */
  reference: string | null;
  state: string | null;
  outcome: Outcome;
  at: Micros | null;
  isAmbiguous: boolean;
  /** Its date is beyond tomorrow, so it has none. */
  isAhead: boolean;
  finishedAfter: Micros | null;
  finishedBefore: Micros | null;
  shortestUs: number | null;
  longestUs: number | null;
  error: (ReturnType<typeof describeLine> & { class: string }) | null;
  firstSeenAt: Micros;
  deletedAt: Micros | null;
  /** Of an open build: when it was last seen; when its record last changed where no sighting was kept. */
  seenAt: Micros;
  /** Then, since its date, or since it was first seen where that is earlier or all there is. */
  ageUs: number;
  /** False while its day's rate may still change by it. */
  isSettled: boolean;
}

export interface Named {
  id: string;
  slug: string;
  name: string | null;
  isDeleted: boolean;
  deletedAt: Micros | null;
  defaultVersion: string | null;
  isActive: boolean | null;
  projectId: string | null;
}

/** Of a project or version that is not in the mirror. It may stand for several, and counts as none. */
export const UNKNOWN_ID = "-1";
const UNKNOWN: Named = {
  id: UNKNOWN_ID,
  slug: "(unknown)",
  name: "(unknown)",
  isDeleted: false,
  deletedAt: null,
  defaultVersion: null,
  isActive: null,
  projectId: null,
};

/** In the order in which builds were triggered; those without a date come first. */
export function computeFacts(raw: Raw, settings: Settings): Fact[] {
  const readLocal = createLocalReader(settings.sourceTimezone);
  const transitions = groupBy(raw.transitions, ({ id }) => id);
  const projects = new Map(raw.projects.map((one) => [one.id, named(one, one.name ?? one.slug ?? one.id)]));
  const versions = new Map(raw.versions.map((one) => [one.id, named(one, one.name)]));
  const kept = new Map(raw.kept.map((one) => [one.build_id, versions.get(one.version_id)]));
  const open = new Map(raw.open.map((one) => [one.id, one]));
  const logs = new Map(raw.logs.map((one) => [one.id, one]));
  const rules = settings.rules
    .toSorted((a, b) => a.position - b.position)
    .map((rule) => ({ ...rule, regex: new RegExp(rule.pattern, "i") }));

  const factOf = (build: RawBuild): Fact => {
    const reading = build.date === null ? null : readLocal(build.date);
    const sighted = open.get(build.id);
    const steps = (transitions.get(build.id) ?? []).toSorted((a, b) => a.seq - b.seq);
    const isAhead = reading !== null && dayOf(reading.at) > parseDay(settings.today) + 1;
    const at = isAhead ? null : (reading?.at ?? null);
    const bornAt = Math.min(at ?? Infinity, build.first_seen_at);
    const seenAt = sighted?.seen_at ?? build.changed_at;
    const ageUs = seenAt - bornAt;
    const isOld = ageUs > settings.stuckAfterMs * 1000;
    const outcome = outcomeOf(build, sighted?.vanished_at != null, isOld);
    const log = logs.get(build.id);
    const line = log ? findErrorLine(log) : null;
    const rule = rules.find(({ regex }) => line !== null && regex.test(line));
    const isOpen = outcome === "open" || (outcome === "unknown_state" && !isOver(build.state));
    const last = build.version_uri ? undefined : kept.get(build.id);
    const version =
      build.version_id === null ? (last?.isDeleted ? last : undefined) : versions.get(build.version_id);
    const described = () => describeLine(settings.fingerprintOf(build.id, line), line);
    return {
      id: build.id,
      project: (build.project_id !== null && projects.get(build.project_id)) || UNKNOWN,
      version: version ?? UNKNOWN,
      type: build.type || "(none)",
      state: build.state || null,
      outcome,
      reference: referenceOf(build, version !== undefined),
      at,
      isAhead,
      isAmbiguous: reading?.isAmbiguous ?? false,
      ...finishOf(build, steps),
      error: outcome === "failed" ? { class: rule?.class ?? "unclassified", ...described() } : null,
      firstSeenAt: build.first_seen_at,
      deletedAt: build.deleted_at,
      seenAt,
      ageUs,
      isSettled: !isOpen,
    };
  };
  return raw.builds.map(factOf).sort(inOrder);
}

/** Null for a build that names no version. */
function referenceOf({ project_id, project_uri, version_uri }: RawBuild, isKnown: boolean): string | null {
  const project = project_id === null ? project_uri : null;
  const version = isKnown ? null : version_uri;
  if (!isKnown && !version) return null;
  return [project, version].filter((uri) => uri !== null).join(" ");
}

function inOrder(a: Fact, b: Fact): number {
  const [one, other] = [a.at ?? -Infinity, b.at ?? -Infinity];
  if (one !== other) return one - other;
  return a.id.length - b.id.length || Buffer.compare(Buffer.from(a.id), Buffer.from(b.id));
}

function named(
  { id, slug, isDeleted, deleted_at: deletedAt, ...more }: RawNamed,
  name: string | null,
): Named {
  const { defaultVersion = null, isActive = null, projectId = null } = more;
  return { id, slug: slug ?? id, name, isDeleted, deletedAt, defaultVersion, isActive, projectId };
}

/** A build ends with a result, or by one of these words, which services write in their own ways. */
const hasResult = (state: string | null): boolean => state?.trim().toLowerCase() === "finished";
const isCancelled = (state: string | null): boolean =>
  /^\s*(cancelled|canceled|aborted|error|skipped)\s*$/i.test(state ?? "");
/** It has ended, one way or the other. */
export const isOver = (state: string | null): boolean => hasResult(state) || isCancelled(state);

const AT_WORK = ["triggered", "cloning", "installing", "building", "uploading"];

function outcomeOf({ state, success, deleted_at }: RawBuild, isVanished: boolean, isOld: boolean): Outcome {
  if (hasResult(state)) return success === null ? "unknown_state" : success ? "succeeded" : "failed";
  if (isCancelled(state)) return "cancelled";
  if (deleted_at !== null || isVanished) return "vanished";
  if (isOld) return "stuck";
  return AT_WORK.includes(state ?? "") ? "open" : "unknown_state";
}

/**
 * A build was triggered before its first sight, and not before its date as our clock would have shown it. The date is no later bound: what dates
 * builds may run behind.
 */
function finishOf(
  { state }: RawBuild,
  steps: readonly RawTransition[],
): Pick<Fact, "finishedAfter" | "finishedBefore" | "shortestUs" | "longestUs"> {
  const first = steps[0];
  const finish = steps.findLast(({ to_state }) => to_state === state);
  if (!isOver(state) || !first || !finish)
    return { finishedAfter: null, finishedBefore: null, shortestUs: null, longestUs: null };
  const end = { finishedAfter: finish.not_before, finishedBefore: finish.not_after };
  if (isCancelled(state)) return { ...end, shortestUs: null, longestUs: null };
  return {
    ...end,
    shortestUs: Math.max(0, (finish.not_before ?? -Infinity) - first.not_after),
    longestUs: first.not_before === null ? null : Math.max(0, finish.not_after - first.not_before),
  };
}

/** The one length to tell, in seconds, where the bounds are close enough. */
export function lengthOf({ shortestUs, longestUs }: Fact): number | null {
  if (shortestUs === null || longestUs === null) return null;
  const isNarrow = longestUs - shortestUs <= Math.max(60 * SECOND_US, longestUs / 4);
  return isNarrow ? (shortestUs + longestUs) / 2 / SECOND_US : null;
}

/** The line without its places, and what builds with the same error have in common. */
function describeLine(fingerprint: string | null, line: string | null) {
  const masked = maskPlaces(line ?? "");
  const hash = createHash("md5").update(`${fingerprint ?? ""} ${masked}`);
  return { fingerprint, line, masked, lineId: hash.digest("hex").slice(0, 16) };
}
