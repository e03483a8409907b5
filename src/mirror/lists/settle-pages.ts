/** Brings the pages of a walk into the tables, in order and in batches, with counts and checkpoints. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { UpstreamError } from "../../base/errors.ts";
import type { Meters } from "../../base/metrics/meters.ts";
import type { Resource } from "../../resources/resources.ts";
import { type Sql, type TransactionSql, withTransaction } from "../../store/connection/sql.ts";
import {
  type Checkpoint,
  type ResumableWalk,
  saveProgress,
  type WalkCounts,
  type WalkStart,
} from "../../store/ledger/run-ledger.ts";
import { askDetail } from "../api/fetch-detail.ts";
import type { BatchCounts } from "../load/loader.ts";
import type { PageMemory } from "../load/page-memory.ts";
import { quarantineHole } from "../load/quarantine.ts";
import type { RunParts } from "../load/run-parts.ts";
import type { WalkOutcome } from "../walk/course.ts";
import type { IdSet } from "../walk/id-set.ts";
import type { LookAheadRoom, Page, RememberedPage } from "../walk/page.ts";
import type { Walk } from "../walk/walk.ts";
import { createBatches, createPageOrder, type OrderedPage } from "./page-batches.ts";
import type { SyncSettings, WalkPlan } from "./plan.ts";

/** Waiting pages are loaded together: a statement costs more than its rows. */
const MAX_BATCH_PAGES = 16;
/** The time between checkpoints while all pages are skipped unparsed, and nothing else is committed. */
const IDLE_CHECKPOINT_MS = 2000;

/** How far a walk has come. `checkpoint` is null where it can resume nowhere. */
export interface Progress {
  counts: WalkCounts;
  checkpoint: Checkpoint | null;
  at: string;
  totalCount: number | null;
}

export interface SettlePagesOptions {
  resource: Resource;
  /** The pages take room in it until they are stored. */
  room: LookAheadRoom;
  /** The counts of the walk so far. They are replaced as batches are committed. */
  counts: WalkCounts;
  /** The distinct ids that the walk saw. Those of the pages are added. */
  seen: IdSet;
  /** Remembers pages for the next walk, and stores checkpoints. Null for a walk that is never resumed. */
  memory: PageMemory | null;
  /** Stores the page size for the next walk. */
  keepSize?(tx: TransactionSql): Promise<void>;
  /** Stores how far the walk has come, with the pages of a batch. @default as the checkpoint of the walk */
  save?(tx: Sql | TransactionSql, progress: Progress): Promise<void>;
  /** Called after each batch. In a walk without a memory, before the next page is taken. */
  onSettled?(last: Page): Promise<void>;
  onProgress(counts: WalkCounts, totalCount: number | null): void;
  meters: Meters | undefined;
}

type SettledPages = ReturnType<typeof settlePages>;

export function settlePages(run: RunParts, options: SettlePagesOptions) {
  const { sql, client, loader, clock, log, patience, runId } = run;
  const { resource, memory, seen } = options;
  const save =
    options.save ??
    ((tx: Sql | TransactionSql, { counts, checkpoint, at, totalCount }: Progress) =>
      saveProgress(tx, runId, resource, counts, checkpoint, at, totalCount));
  const inOrder = createPageOrder();
  let counts = options.counts;
  const countRecords = options.meters?.runs.followWalk(resource, counts);
  let checkpoint: Checkpoint | null = null;
  let savedAt = 0;
  let isFailed = false;
  let latest = Promise.resolve();

  const batches = createBatches(
    (pages: readonly OrderedPage[]) => {
      latest = settle(latest, pages).finally(() => {
        for (const { bytes } of pages) options.room.give(bytes);
      });
      return latest;
    },
    memory ? MAX_BATCH_PAGES : 1,
    options.room.isOverdrawn,
  );

  async function settle(earlier: Promise<void>, pages: readonly OrderedPage[]): Promise<void> {
    const last = pages.at(-1);
    if (!last) return;
    const changed = pages.flatMap((page) =>
      page.records === null ? [] : [{ ...page, records: page.records }],
    );
    const moved = memory ? pages.flatMap(movedPage) : [];
    const isIdle = changed.length + moved.length === 0;
    const { following } = last;
    const behind = memory && following !== null ? { seq: last.seq + 1, request: following } : null;
    const at = last.observedAt.toISOString();
    let settled: WalkCounts | undefined;
    try {
      // The loader keeps the order of its calls. Pages that need no loading wait for those before them.
      if (isIdle) {
        await earlier;
        if (pages.some(({ holes }) => holes.length > 0))
          await patience("store a hole", () => withTransaction(sql, (tx) => storeHoles(tx, pages)));
      } else {
        await loader.load({ resource, pages: changed, source: "list" }, async (tx, loaded) => {
          // A checkpoint after failed pages would lose them for ever.
          if (isFailed) throw new Error("an earlier batch of this walk failed");
          settled = addCounts(counts, pages, seen, loaded);
          const memorized = changed.map((page) => ({
            ...page,
            // A page with a refused, stale, damaged or unread record is never skipped: each night tries it again.
            bodyHash:
              loaded.isUnread || loaded.quarantined + loaded.stale + loaded.damaged.length > 0
                ? ""
                : page.bodyHash,
            loadedAt: page.loadedAt.toISOString(),
            runId,
          }));
          await Promise.all([
            storeHoles(tx, pages),
            memory?.store(tx, [...memorized, ...moved]),
            options.keepSize?.(tx),
            save(tx, { counts: settled, checkpoint: behind, at, totalCount: last.meta.totalCount }),
          ]);
        });
        savedAt = clock.now().getTime();
      }
    } catch (error) {
      isFailed = true;
      throw error;
    }
    counts = settled ?? addCounts(counts, pages, seen);
    for (const { records, ids, askedAt } of pages)
      if (records === null) await askReplaced(await loader.noteSkipped(resource, ids, askedAt));
    checkpoint = behind;
    countRecords?.(counts, false);
    options.onProgress(counts, last.meta.totalCount);
    await options.onSettled?.(last);
    if (isIdle && clock.now().getTime() - savedAt > IDLE_CHECKPOINT_MS) {
      savedAt = clock.now().getTime();
      const idle = { counts, checkpoint: behind, at, totalCount: last.meta.totalCount };
      await patience("move a checkpoint", () => save(sql, idle));
    }
  }

  /** A skipped page cannot say any more what its records are, so they are asked for one by one. This is rare. */
  async function askReplaced(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const answer = await askDetail(client, resource, id);
      if (answer.kind === "found") {
        const pages = [{ ...answer.detail, records: [answer.detail.record] }];
        await loader.load({ resource, source: "detail", pages });
      } else {
        log.warn({ id }, "a project came in two ways and could not be asked for; the next run reads it");
      }
    }
  }

  async function storeHoles(tx: TransactionSql, pages: readonly OrderedPage[]): Promise<void> {
    for (const { holes, observedAt } of pages)
      for (const hole of holes)
        await quarantineHole(tx, { ...hole, resource, runId, observedAt: observedAt.toISOString() });
  }

  return {
    /** Takes the next page of the walk. Throws the error of an earlier batch. */
    async add(page: Page): Promise<void> {
      options.room.hold(page.bytes);
      for (const id of page.ids) seen.add(id);
      // The page was just parsed. What waits for a socket, such as loading, goes between the two.
      if (page.records) await nextTurn();
      const normalized = page.records && loader.normalize(resource, page.records);
      await batches.add(inOrder({ ...page, ...(normalized && { normalized }) }));
    },
    /** Waits until all pages are committed. Always await it: nothing may be written after a walk. */
    end: () => batches.end().finally(() => countRecords?.(counts, true)),
    get counts() {
      return counts;
    },
    /** Where the walk can resume after the committed pages; null when it cannot. */
    get checkpoint() {
      return checkpoint;
    },
  };
}

/** A known page as it is to be remembered now: at another place, or with another `meta`. */
function movedPage({ known, seq, request, meta }: OrderedPage): RememberedPage[] {
  if (!known) return [];
  const { bodyHash, ids, loadedAt, runId } = known;
  const isSame = known.seq === seq && known.request === request && isDeepStrictEqual(known.meta, meta);
  return isSame ? [] : [{ seq, request, meta, bodyHash, ids, loadedAt, runId }];
}

/** Holes count as quarantined. Pages overlap and a list may be read twice, so unchanged records are counted as the rest. */
function addCounts(
  counts: WalkCounts,
  pages: readonly OrderedPage[],
  seen: IdSet,
  loaded?: Omit<BatchCounts, "transitions">,
): WalkCounts {
  const records = seen.size;
  const inserted = counts.inserted + (loaded?.inserted ?? 0);
  const updated = counts.updated + (loaded?.updated ?? 0);
  const holes = pages.flatMap((page) => page.holes).length;
  return {
    ...{ ...counts, records, inserted, updated, pages: counts.pages + pages.length },
    unchanged: Math.max(0, records - inserted - updated),
    restored: counts.restored + (loaded?.restored ?? 0),
    quarantined: counts.quarantined + holes + (loaded?.quarantined ?? 0),
  };
}

export interface WalkOptions
  extends Pick<SyncSettings, "pageSize" | "maxDeleteRatio" | "deleteHeldAfterMs" | "replicaLagMs"> {
  plan: WalkPlan;
  lookAhead: number;
  room: LookAheadRoom;
  /** Where a list begins of which nothing is remembered. `onStart` hears what the first page has found. */
  startSize?: Promise<number> | undefined;
  onStart?: (size: number | undefined) => void;
  resume: ResumableWalk | null;
  allowMassDelete: boolean;
  meters: Meters | undefined;
  /** Tells the user, in the summary of the run. */
  warn(message: string): void;
  onProgress(counts: WalkCounts, totalCount: number | null): void;
}

/** How a night of a round ended. */
export interface RoundNight {
  /** The records that it read again. */
  records: number;
  /** Why it read nothing, broke off, or ended the round unproven. Else null. */
  reason: string | null;
  /** When the round began that it ended with every record read; null where it goes on, or was not so. */
  readSince: string | null;
}

/** How a search for differences ended: its requests, and whether it settled them. */
export interface SearchEnd {
  requests: number;
  isDone: boolean;
}

/** The result of reading a list, before its walk is closed. */
export interface Reading {
  start: WalkStart;
  outcome: WalkOutcome;
  /** The failure of upstream that ended it early, or null. */
  brokenBy: UpstreamError | null;
  seen: IdSet;
  /** See `Course`. */
  repeated: Pick<IdSet, "size">;
  counts: WalkCounts;
  /** The number of pages remembered for the next walk, and what stores their size for it. */
  memorized: number;
  keepSize?(tx: TransactionSql): Promise<void>;
  checkpoint: Checkpoint | null;
  /** See `sync.walks`. */
  deficit: number | null;
  unstored: number | null;
  /** Whether each record of the list was read that the service can render and name. */
  isAllRead: boolean;
  /** The night of a round that was read below a head. */
  night?: RoundNight;
  search?: SearchEnd;
  /** Why a head says nothing of what is new. Nothing was stored or judged. */
  distrust?: string | undefined;
  /** The part of a head's `deficit` that the newest whole walk explains. 0 where the whole list was read. */
  explained: number;
  /** The reason of the outcome is that a replica which is behind has answered. @default false */
  isLagging?: boolean;
  /** How far `total_count` rose and fell from page to page, each summed up. */
  moved: { up: number; down: number };
}

/** Stores all pages of a walk. A failure of upstream ends it as `not_whole`; any other is thrown. Then nothing more is written. */
export async function readPages(
  walk: Walk,
  settled: SettledPages,
  /** Looks at a page before it is stored. False ends the walk without it. */
  accept: (page: Page) => Promise<boolean> = async () => true,
) {
  const pages = walk.pages();
  const moved = { up: 0, down: 0 };
  let counted: number | null = null;
  try {
    for (;;) {
      const step = await pages.next();
      if (step.done) {
        await settled.end();
        return { outcome: step.value, brokenBy: null, moved };
      }
      const { totalCount } = step.value.meta;
      if (totalCount !== null && counted !== null) {
        moved.up += Math.max(0, totalCount - counted);
        moved.down += Math.max(0, counted - totalCount);
      }
      counted = totalCount ?? counted;
      if (!(await accept(step.value))) {
        const outcome = { walk: "not_whole", reason: null, totalCount, records: walk.seen.size } as const;
        await pages.return(outcome);
        await settled.end();
        return { outcome, brokenBy: null, moved };
      }
      await settled.add(step.value);
    }
  } catch (error) {
    const [ended] = await Promise.allSettled([settled.end()]);
    if (!(error instanceof UpstreamError)) throw error;
    if (ended.status === "rejected") throw ended.reason;
    const records = walk.seen.size;
    const outcome = { walk: "not_whole", reason: error.message, totalCount: null, records } as const;
    return { outcome, brokenBy: error, moved };
  }
}
