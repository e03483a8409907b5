/** Brings the pages of a walk into the tables, in order and in batches, with counts and checkpoints. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { type Sql, type TransactionSql, withTransaction } from "../../store/connection/sql.ts";
import { type Checkpoint, saveProgress, type WalkCounts } from "../../store/ledger/run-ledger.ts";
import { askDetail } from "../api/fetch-detail.ts";
import type { BatchCounts } from "../load/loader.ts";
import type { PageMemory } from "../load/page-memory.ts";
import { quarantineHole } from "../load/quarantine.ts";
import type { IdSet } from "../walk/id-set.ts";
import type { Page, RememberedPage } from "../walk/page.ts";
import { createBatches, createPageOrder, type OrderedPage } from "./page-batches.ts";
import type { ListOptions, ListRun } from "./reading.ts";

/** Waiting pages are loaded together: a statement costs more than its rows. */
const MAX_BATCH_PAGES = 16;
/** The time between checkpoints while all pages are skipped unparsed, and nothing else is committed. */
const IDLE_CHECKPOINT_MS = 2000;

/** The progress of a walk. `checkpoint` is null where it can resume nowhere. */
export interface WalkProgress {
  counts: WalkCounts;
  checkpoint: Checkpoint | null;
  at: string;
  totalCount: number | null;
  /** When the oldest reply was asked for. One of a cache is as old as its `Age` says. */
  oldestAt: string | null;
}

export interface SettlePagesOptions {
  /** The counts of the walk so far. They are replaced as batches are committed. */
  counts: WalkCounts;
  /** The distinct ids that the walk saw. Those of the pages are added. */
  seen: IdSet;
  /** Remembers pages for the next walk, and stores checkpoints. Null for a walk that is never resumed. */
  memory: PageMemory | null;
  /** Stores the page size for the next walk. */
  keepSize?(tx: TransactionSql): Promise<void>;
  /** Stores how far the walk has come, with the pages of a batch. @default as the checkpoint of the walk */
  save?(tx: Sql | TransactionSql, progress: WalkProgress): Promise<void>;
  /** Called after each batch. In a walk without a memory, before the next page is taken. */
  onSettled?(last: Page): Promise<void>;
}

interface SettledPages {
  /** The counts of the walk with the committed pages. */
  readonly counts: WalkCounts;
  /** Where the walk can resume after the committed pages; null when it cannot. */
  readonly checkpoint: Checkpoint | null;
  /** See `WalkProgress`. Null before the first page. */
  readonly oldestAt: string | null;
  /** Takes the next page of the walk. Throws the error of an earlier batch. */
  add(page: Page): Promise<void>;
  /** Waits until all pages are committed. Always await it: nothing may be written after a walk. */
  end(): Promise<void>;
}

/** The pages take room in that of the list until they are stored. */
export function settlePages(
  run: ListRun,
  { plan: { resource }, room, onProgress }: Pick<ListOptions, "plan" | "room" | "onProgress">,
  options: SettlePagesOptions,
): SettledPages {
  const { sql, client, loader, clock, log, patience, runId } = run;
  const { memory, seen } = options;
  const save =
    options.save ??
    ((tx: Sql | TransactionSql, { counts, ...progress }: WalkProgress) =>
      saveProgress(tx, runId, resource, counts, progress));
  const inOrder = createPageOrder();
  let counts = options.counts;
  const countRecords = run.meters?.runs.followWalk(resource, counts);
  let checkpoint: Checkpoint | null = null;
  let oldestMs = Number.POSITIVE_INFINITY;
  let savedAt = 0;
  let isFailed = false;
  let latest = Promise.resolve();

  const batches = createBatches(
    (pages: readonly OrderedPage[]) => {
      latest = settle(latest, pages).finally(() => {
        for (const { bytes } of pages) room.give(bytes);
      });
      return latest;
    },
    memory ? MAX_BATCH_PAGES : 1,
    room.isOverdrawn,
  );

  const oldestAt = () => (oldestMs === Number.POSITIVE_INFINITY ? null : new Date(oldestMs).toISOString());

  async function settle(earlier: Promise<void>, pages: readonly OrderedPage[]): Promise<void> {
    const last = pages.at(-1);
    if (!last) return;
    const changed = pages.flatMap((page) =>
      page.records === null ? [] : [{ ...page, records: page.records }],
    );
    const moved = memory ? pages.flatMap(movedPage) : [];
    const isIdle = changed.length + moved.length === 0;
    const { following, meta } = last;
    const behind = memory && following !== null ? { seq: last.seq + 1, request: following } : null;
    const at = last.observedAt.toISOString();
    const progress = (soFar: WalkCounts): WalkProgress => ({
      counts: soFar,
      checkpoint: behind,
      at,
      totalCount: meta.totalCount,
      oldestAt: oldestAt(),
    });
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
            bodyHash: isStoredWhole(loaded) ? page.bodyHash : "",
            loadedAt: page.loadedAt.toISOString(),
            runId,
          }));
          await Promise.all([
            storeHoles(tx, pages),
            memory?.store(tx, [...memorized, ...moved]),
            options.keepSize?.(tx),
            save(tx, progress(settled)),
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
    onProgress(counts, meta.totalCount);
    await options.onSettled?.(last);
    // Behind its last page a walk is closed at once.
    if (isIdle && behind !== null && clock.now().getTime() - savedAt > IDLE_CHECKPOINT_MS) {
      savedAt = clock.now().getTime();
      await patience("move a checkpoint", () => save(sql, progress(counts)));
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
    async add(page) {
      room.hold(page.bytes);
      oldestMs = Math.min(oldestMs, page.askedAt.getTime());
      for (const id of page.ids) seen.add(id);
      // The page was just parsed. What waits for a socket, such as loading, goes between the two.
      if (page.records) await nextTurn();
      const normalized = page.records && loader.normalize(resource, page.records);
      await batches.add(inOrder({ ...page, ...(normalized && { normalized }) }));
    },
    end: () => batches.end().finally(() => countRecords?.(counts, true)),
    get counts() {
      return counts;
    },
    get checkpoint() {
      return checkpoint;
    },
    get oldestAt() {
      return oldestAt();
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

const isStoredWhole = ({ isUnread, quarantined, stale, damaged }: Omit<BatchCounts, "transitions">) =>
  !isUnread && quarantined + stale + damaged.length === 0;

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
    ...counts,
    pages: counts.pages + pages.length,
    records,
    inserted,
    updated,
    unchanged: Math.max(0, records - inserted - updated),
    restored: counts.restored + (loaded?.restored ?? 0),
    quarantined: counts.quarantined + holes + (loaded?.quarantined ?? 0),
  };
}
