import { ageMs } from "../../base/clock.ts";
import type { SettingsFor } from "../../base/config/settings.ts";
import type { Config } from "../../base/config.ts";
import { RESOURCES, type Resource } from "../../resources/resources.ts";
import { type Sql, statement } from "../../store/connection/sql.ts";
import type { SyncKind } from "../../store/schema/runs.ts";
import { BASE_SIZE } from "../walk/page-size.ts";
import type { ServiceRoot } from "./root-listing.ts";

/** The settings of a run, with the service. In a `Config` it may be null. */
export interface SyncSettings extends SettingsFor<"requests" | "sync">, Pick<Config, "proxies"> {
  readonly baseUrl: URL;
}

/** What is known of a list before a run. Each but the first is null where it is not known. */
export interface ListFacts {
  resource: Resource;
  /** The newest count of the service. */
  records: number | null;
  /** The size of its pages, as `auto` has found it, and when that shrank. */
  size: number | null;
  shrunkAt: string | null;
  /** The limit that the service gave to the last pages; 0: none. */
  limit: number | null;
  schemaAskedAt: string | null;
  /** The newest sync that began to read it, and the newest one that read it well. */
  begunRunId: number | null;
  goodRunId: number | null;
}

const LIST_FACTS = statement<ListFacts>("list_facts", import.meta.url);

/** Of all lists. */
export const findListFacts = async (sql: Sql): Promise<ListFacts[]> =>
  LIST_FACTS(sql, { resources: RESOURCES });

const DAY_MS = 86_400_000;
/** A nightly run may start a few hours earlier than the one before. */
const SLACK_MS = DAY_MS / 2;
/** `auto` walks in full every night if that takes at most this long, or else every 7 days. */
const FULL_WALK_SECONDS = 1800;
const RARE_FULL_DAYS = 7;

export interface PlanInput {
  /** The requested kind; null lets the plan decide. */
  kind: SyncKind | null;
  resources: readonly Resource[] | null;
  root: ServiceRoot;
  fullEveryDays: SyncSettings["fullEveryDays"];
  /** Since when every build was read at least once with the date that it has now; null when that never was. */
  buildsReadSince: string | null;
  /** The last sync found a difference to upstream's count of builds that its search did not settle, and it is still there. */
  hasUnsettledDeficit: boolean;
  /** The estimated seconds of a full walk at the rate that is set. */
  fullWalkSeconds: { all: number; build: number };
  now: Date;
}

export interface WalkPlan {
  resource: Resource;
  listPath: string;
  /** Every page, or only the head until it joins what is known. */
  kind: "full" | "head";
  /** A head that joined with an unexplained deficit is followed by a full walk in the same run. */
  mayWalkInFull: boolean;
  search: SearchPlan;
  /** The nights of a round, in which all of the list is read again. Null: no part of one is read. */
  roundDays: number | null;
}

/** `isRepeated`: it searches for a difference that an earlier search has not settled. */
type SearchPlan = { most: number; isRepeated: boolean; pageSize?: SyncSettings["pageSize"] };

const ANY_SEARCH: SearchPlan = { most: Number.POSITIVE_INFINITY, isRepeated: true };

/**
 * Decides what a run walks. An incremental run reads only the head of the builds, and all other lists in full.
 * Without a requested kind it also reads a part of the builds again, and is full where the days of a round are one,
 * where rounds do not bring all builds within twice the days, or where a difference to upstream's count was not
 * settled. `absent`: requested, but not in the root listing.
 */
export function planRun(input: PlanInput): { kind: SyncKind; walks: WalkPlan[]; absent: Resource[] } {
  const { root, fullWalkSeconds } = input;
  const days = daysOfRound(input);
  const kind = input.kind ?? (isFullDue(input, days) ? "full" : "incremental");
  const wanted = RESOURCES.filter((resource) => input.resources?.includes(resource) ?? true);
  const walks = wanted.flatMap((resource): WalkPlan[] => {
    const listPath = root.resources[resource]?.list_endpoint;
    if (listPath === undefined) return [];
    const isHead = kind === "incremental" && resource === "build";
    const isNightly = isHead && input.kind === null;
    const mayWalkInFull = isNightly && fullWalkSeconds.build <= FULL_WALK_SECONDS;
    const roundDays = isNightly && days > 1 ? days : null;
    return [
      { resource, listPath, kind: isHead ? "head" : "full", mayWalkInFull, search: ANY_SEARCH, roundDays },
    ];
  });
  return { kind, walks, absent: wanted.filter((resource) => root.resources[resource] === undefined) };
}

function daysOfRound({ fullEveryDays, fullWalkSeconds }: PlanInput): number {
  if (fullEveryDays !== "auto") return fullEveryDays;
  return fullWalkSeconds.all <= FULL_WALK_SECONDS ? 1 : RARE_FULL_DAYS;
}

function isFullDue({ hasUnsettledDeficit, buildsReadSince, now }: PlanInput, days: number): boolean {
  if (hasUnsettledDeficit) return true;
  // The oldest build is read at the end of each round: just before, its last reading is a round and a night ago.
  const most = days === 1 ? 1 : 2 * days;
  return ageMs(buildsReadSince, now) >= most * DAY_MS - SLACK_MS;
}

/** By the newest count of each list and its page size, which the service may have lowered. 0 without a rate or a walk. */
export function estimateFullWalks(
  lists: readonly ListFacts[],
  { pageSize, ratePerSecond }: Pick<SyncSettings, "pageSize" | "ratePerSecond">,
): { all: number; build: number } {
  const seconds = (some: readonly ListFacts[]) => {
    const pages = some.map(({ records, size, limit }) => {
      const asked = pageSize === "auto" ? (size ?? BASE_SIZE) : pageSize;
      return Math.ceil((records ?? 0) / Math.min(asked, limit || asked));
    });
    return ratePerSecond === 0 ? 0 : pages.reduce((sum, count) => sum + count, 0) / ratePerSecond;
  };
  return { all: seconds(lists), build: seconds(lists.filter(({ resource }) => resource === "build")) };
}
