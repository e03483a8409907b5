/** The reading of a list: what it takes, and what it gives. */
import type { UpstreamError } from "../../base/errors.ts";
import type { Meters } from "../../base/metrics/meters.ts";
import type { Resource } from "../../resources/resources.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import type {
  Checkpoint,
  HeadFacts,
  ResumableWalk,
  ServiceGap,
  WalkCounts,
  WalkStart,
} from "../../store/ledger/run-ledger.ts";
import type { FirstPages } from "../load/page-memory.ts";
import type { RunParts } from "../load/run-parts.ts";
import type { WalkOutcome } from "../walk/course.ts";
import type { IdSet } from "../walk/id-set.ts";
import type { RememberedSize } from "../walk/page-size.ts";
import type { LookAheadRoom } from "../walk/page-source.ts";
import type { SyncSettings, WalkPlan } from "./plan.ts";

/** The run that reads lists. */
export interface ListRun extends RunParts {
  meters: Meters | undefined;
  /** Tells the user, in the summary of the run. */
  warn(message: string): void;
}

/** The sizes of pages that were found for lists before. */
export type PageSizes = () => Promise<ReadonlyMap<Resource, RememberedSize>>;

/** The list that is read, and how. */
export interface ListOptions
  extends Pick<SyncSettings, "pageSize" | "maxDeleteRatio" | "deleteHeldAfterMs" | "replicaLagMs"> {
  plan: WalkPlan;
  lookAhead: number;
  room: LookAheadRoom;
  /** Where a list begins of which nothing is remembered. `onStart` hears what the first page has found. */
  startSize?: Promise<number> | undefined;
  /** The sizes of pages that were found before. */
  sizes: PageSizes;
  /** The first remembered pages, without what is stale, where they are read for this walk already. Then its row is there too. */
  remembered: Promise<FirstPages> | null;
  onStart?: (size: number | undefined) => void;
  resume: ResumableWalk | null;
  /** What a reading of the head goes by, as it was before the run. */
  before: HeadFacts;
  allowMassDelete: boolean;
  onProgress(counts: WalkCounts, totalCount: number | null): void;
}

/** The records by which `total_count` rose and fell from page to page, each summed up. */
export interface CountMoves {
  up: number;
  down: number;
}

/** The end of a night of a round. */
export interface RoundNight {
  /** The records that it read again. */
  records: number;
  /** Why it read nothing, broke off, or ended the round unproven. Else null. */
  reason: string | null;
  /** Since when every record was read, as far as the night shows; null where that is not known. */
  readSince: string | null;
}

/** The end of a search for differences. */
export interface SearchEnd {
  requests: number;
  /** It settled them. */
  isDone: boolean;
}

/**
 * Why the service counts another number of records than are here, in records: a field for each cause. It adds up:
 * `counted` = `here` - `held` + `unstored` + `unshown` + `repeated` + `unexplained`.
 */
export interface CountCauses extends ServiceGap {
  /** By the `total_count` of the reply. */
  counted: number;
  /** Live here, without those that are missing from the list, and whose details are asked for. */
  here: number;
  /** Of these: missing from the list too, but their deletion is held back. */
  held: number;
  /** The list shows them under an id, and they could not be stored. */
  unstored: number;
  /** Nothing explains them. Above 0: they are missing here. Below 0: they are too many here. */
  unexplained: number;
}

/** The findings of a reading of the head of a list alone. */
export interface HeadFindings {
  /** Missing records of the list may be noted. */
  isAnyMissing: boolean;
  /** What explains the difference of the service's count to the records here. Null where they were not compared. */
  causes: CountCauses | null;
  night: RoundNight | null;
  search: SearchEnd | null;
  /** Why the head says nothing of what is new: nothing was stored or judged. Else null. */
  distrust: string | null;
  /** The reason of the outcome is that a replica which is behind has answered. */
  isLagging: boolean;
}

/** The result of reading a list, before its walk is closed. */
export interface Reading {
  start: WalkStart;
  outcome: WalkOutcome;
  /** The failure of upstream that ended it early, or null. */
  brokenBy: UpstreamError | null;
  seen: IdSet;
  /** See `Course.repeated`. */
  repeated: number;
  counts: WalkCounts;
  moved: CountMoves;
  /** Each record of the list was read that the service can render and name. */
  isAllRead: boolean;
  /** Where the walk can resume. */
  checkpoint: Checkpoint | null;
  /** For a list that was read from its start to its end: the pages remembered for the next walk, and what stores their size. */
  memory: { pages: number; keepSize(tx: TransactionSql): Promise<void> } | null;
  /** For a list that was read at its head. */
  head: HeadFindings | null;
}
