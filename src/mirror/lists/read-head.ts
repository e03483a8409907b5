import { firstRequest, parsePageRequest } from "../../resources/page-request.ts";
import type { Resource } from "../../resources/resources.ts";
import { compose, composed, type Sql } from "../../store/connection/sql.ts";
import {
  findLastJoinedRun,
  findLastWholeWalk,
  findUnexplainedDeficit,
  startWalk,
  type WalkCounts,
} from "../../store/ledger/run-ledger.ts";
import { isSameEndpoint } from "../api/api-url.ts";
import { countShown } from "../load/live-count.ts";
import { findNewerBuild } from "../load/replica-lag.ts";
import type { RunParts } from "../load/run-parts.ts";
import { RECORD_TABLES } from "../load/tables.ts";
import { type Border, type DatedPage, lastBorder } from "../walk/bisection.ts";
import { createCourse } from "../walk/course.ts";
import { createIdSet, type IdSet } from "../walk/id-set.ts";
import { createPageSource, datesOf, type FetchedPage, type Page } from "../walk/page.ts";
import { createWalk } from "../walk/walk.ts";
import { findDifferences, LEAST_SEARCHED, toDatedPage } from "./dated-pages.ts";
import { collectUnshown, describeHeld, findHeld, mostMissing } from "./missing-records.ts";
import { describeMove, findMovedDates, type MovedDates, noteMovedDates } from "./moved-dates.ts";
import { findPageSize, firstPageSize } from "./page-sizes.ts";
import { readRound } from "./read-round.ts";
import {
  type Reading,
  type RoundNight,
  readPages,
  type SearchEnd,
  settlePages,
  type WalkOptions,
} from "./settle-pages.ts";
import { emptyCounts } from "./summary.ts";

const DAY_MS = 86_400_000;
/** The readings of the head: a difference is looked for and compared again, because the list changes meanwhile. */
const MAX_READINGS = 3;
/** A search may take one in this many of the requests of a full walk, and `LEAST_BUDGET` always. */
const SEARCH_SHARE = 4;
const LEAST_BUDGET = 30;

/**
 * Reads the head of a list until it joins what was read before, and compares upstream's count with the live records
 * here. Where they differ, what came or went further down is searched for (`dated-pages.ts`), and the head is read
 * again. A difference that stays is the `deficit` of the walk. A nightly sync then reads its part of the round.
 */
export async function readHead(run: RunParts, options: WalkOptions): Promise<Reading> {
  const { sql, clock, runId, patience } = run;
  const { room, meters, onProgress } = options;
  const { resource, listPath, search, roundDays } = options.plan;
  const start = { startedAt: clock.now().toISOString(), beganRunId: runId };
  await patience("open a walk", () => startWalk(sql, runId, resource, start, emptyCounts(), null));
  const earlier = await patience("find the last count", () => findEarlier(sql, resource));
  const { unstored, explained, known, joinedRunId } = earlier;
  const size = search.pageSize ?? options.pageSize;
  const largest = await patience("find the page size", () => findPageSize(sql, size, resource));
  const missing = collectUnshown(run, options);
  const seen = createIdSet();

  let counts = emptyCounts();
  let budget = search.most;
  let night = null as RoundNight | null;
  let searched = null as SearchEnd | null;
  let isRoundDue = roundDays !== null;
  for (let readings = 1; ; readings++) {
    const unshown = explained - unstored;
    const head = await readOnce(run, options, { counts, seen, unshown, joinedRunId });
    const { outcome, top, newer, distrust } = head;
    const limit = Math.max(LEAST_SEARCHED, Math.min(largest, head.cap));
    counts = head.counts;
    if (distrust) {
      const facts = { start, counts, memorized: 0, checkpoint: null, deficit: null, unstored, explained };
      const reason = `${resource} list: ${distrust}; the next sync reads it in full`;
      return { ...head, ...facts, seen, isAllRead: false, outcome: { ...outcome, reason } };
    }
    const compare = async (): Promise<number | null> => {
      if (outcome.walk !== "head") return null;
      // A count that is behind says nothing new.
      if (newer !== null) return known;
      const shown = await patience("count records", () => countShown(sql, resource));
      return head.counted === null ? null : head.counted - shown;
    };
    let deficit = await compare();
    const below = {
      ...{ room, meters, onProgress, counts, seen, missing, unshown },
      first: firstRequest(listPath, limit),
    };

    const isNew = deficit !== explained && (deficit !== known || search.isRepeated);
    const isAllowed = explained - (deficit ?? explained) <= mostMissing(head.counted ?? 0, options);
    const isWorth = newer === null && isNew && isAllowed && readings < MAX_READINGS && budget > 0;
    if (top && deficit !== null && isWorth) {
      budget = Math.min(budget, Math.max(LEAST_BUDGET, Math.ceil(top.places / limit / SEARCH_SHARE)));
      await missing.note({ newerThan: top.newest, olderThan: null }, head.ids);
      const found = await findDifferences(run, { ...below, top, budget });
      counts = found.counts;
      searched = { requests: (searched?.requests ?? 0) + found.requests, isDone: found.isDone };
      budget = found.isDone ? budget - found.requests : 0;
      // Without a request all that was compared is of one reply.
      if (found.requests > 0) continue;
      deficit = await compare();
    }
    const isBelieved = deficit === explained || deficit === known || readings === MAX_READINGS;
    if (outcome.walk === "head" && !isBelieved) continue;
    const isSound = outcome.walk === "head" && newer === null && missing.held === null;
    if (isRoundDue && roundDays !== null && head.counted !== null && isSound) {
      isRoundDue = false;
      // A number that changes with the records that the list should show.
      const shown = () => `${counts.inserted} ${counts.restored}`;
      const before = shown();
      const part = await readRound(run, options, {
        days: roundDays,
        counted: head.counted,
        limit,
        counts,
        seen,
        head: head.first,
      });
      ({ night, counts } = part);
      if (part.missing > 0 || shown() !== before) {
        readings = 0;
        continue;
      }
    }
    const facts = { start, counts, memorized: 0, checkpoint: null, deficit, unstored, explained };
    const beneath = { isAllRead: false, ...(night && { night }), ...(searched && { search: searched }) };
    const reading = { ...head, ...facts, ...beneath, seen };
    // A round of the watch has no way to let them go.
    const stillHeld = search.isRepeated ? await patience("find what is held back", () => findHeld(sql)) : [];
    const [held] = stillHeld.filter((one) => one.resource === resource).map(describeHeld);
    const reason = missing.held ?? night?.reason ?? held ?? null;
    return { ...reading, ...judge(reading, newer, resource, reason) };
  }
}

interface Head extends Pick<Reading, "outcome" | "brokenBy" | "moved" | "repeated" | "distrust"> {
  counts: WalkCounts;
  /** The count of its first page. */
  counted: number | null;
  /** What it shows, its first page, and its last border. Null where its pages do not show their order. */
  ids: string[];
  first: FetchedPage | null;
  top: Border | null;
  /** A build that was seen before and is newer than the head, which then comes from a replica that is behind. */
  newer: string | null;
  /** The most records that the service gives, where it gave fewer than were asked for. Else Infinity. */
  cap: number;
}

/** `unshown`: the records that the service counts and never shows. */
async function readOnce(
  run: RunParts,
  options: WalkOptions,
  facts: { counts: WalkCounts; seen: IdSet; unshown: number; joinedRunId: number },
): Promise<Head> {
  const { sql, client, runId, patience, signal } = run;
  const { room, meters, onProgress, replicaLagMs } = options;
  const { resource, listPath } = options.plan;
  const isListPath = (path: string) => isSameEndpoint(path, listPath, client.baseUrl);
  const largest = await patience("find the page size", () => findPageSize(sql, options.pageSize, resource));
  const pageSize = firstPageSize(options.pageSize);
  const course = createCourse({ resource, listPath, pageSize, isListPath });
  // The end of the head shows on its last page, so a page asked for ahead would always be wasted.
  const source = createPageSource({ client, resource, lookAhead: 0, signal });
  const walk = createWalk({ resource, course, source, signal });
  const join = createHeadJoin();
  const ids: string[] = [];
  /** What no reading or search of this run met before this reading. */
  const own = createIdSet();
  let counted: number | null | undefined;
  let newer: string | null = null;
  /** The last page, while all of them show their order. */
  let last: DatedPage | null | undefined;

  let cap = Number.POSITIVE_INFINITY;

  const onSettled = async (page: Page): Promise<void> => {
    const asked = parsePageRequest(page.request)?.limit ?? 0;
    if (page.meta.limit && page.meta.limit < asked) cap = Math.min(cap, page.meta.limit);
    // New records that come during the reading are above the head. The next run reads them.
    if (counted === undefined) counted = page.meta.totalCount;
    if (page.seq === 0)
      newer = await patience("find a newer build", () => findNewerBuild(sql, { runId, replicaLagMs }, page));
    const isKnown = await patience("look up records", () =>
      areKnown(sql, resource, page, { joinedRunId: facts.joinedRunId, isNew: own.has }),
    );
    join.add({ ids: withoutAhead(page), isKnown });
    ids.push(...page.ids);
    const isJoined = last !== null && page.isAnchored && page.holes.length === 0;
    last = isJoined ? toDatedPage(page, facts.unshown) : null;
    // A head of one page is the rule. The longer it is, the more is probably left.
    course.resize(Math.max(course.limit, Math.min(largest, 2 * course.limit)));
    if (join.isJoined()) walk.stop();
  };
  const settled = settlePages(run, {
    ...{ resource, room, meters, onProgress, counts: facts.counts, memory: null, onSettled },
    seen: {
      ...facts.seen,
      get size() {
        return facts.seen.size;
      },
      add: (id) => facts.seen.add(id) && own.add(id),
    },
  });
  let distrust: string | undefined;
  let first: FetchedPage | null = null;
  const read = await readPages(walk, settled, async (page) => {
    first ??= page;
    if (page.seq > 0) return true;
    const moved = await patience("compare dates", () => findMovedDates(sql, page));
    if (moved.isMoved) await noteMovedDates(run, moved);
    distrust = whyDistrusted(page, moved);
    return distrust === undefined;
  });
  const top = last ? lastBorder(last) : null;
  const { repeated } = course;
  const shown = { counted: counted ?? null, ids, repeated, first, top, newer, cap, distrust };
  return { ...read, counts: settled.counts, ...shown };
}

/** Why the first page of a head says nothing of what is new. */
function whyDistrusted({ records }: Page, moved: MovedDates): string | undefined {
  if (moved.isMoved)
    return moved.byMs === null ? "most of its builds have another date than before" : describeMove(moved);
  const isReversed = records && datesOf(records) === null && datesOf(records.toReversed()) !== null;
  return isReversed ? "its builds come with the oldest first" : undefined;
}

/** The ids of a page without builds that are dated a day ahead: they stay on top, whatever comes. A day, for any zone. */
function withoutAhead({ ids, records, observedAt }: Page): string[] {
  const dates = records && datesOf(records);
  const latest = new Date(observedAt.getTime() + DAY_MS).toISOString();
  return ids.filter((_, at) => (dates?.[at] ?? "") < latest);
}

/**
 * What earlier walks left: what the newest whole one could not store (`unstored`), that and what the list did not show
 * (`explained`), the difference that the newest comparison could not resolve (`known`), and the run up to which the
 * stored records have no gap at the head; 0 when nothing was read yet.
 */
async function findEarlier(sql: Sql, resource: Resource) {
  const whole = await findLastWholeWalk(sql, resource);
  const unstored = whole?.unstored ?? 0;
  const explained = unstored + (whole?.unshown ?? 0);
  const known = explained + (await findUnexplainedDeficit(sql, resource));
  return { unstored, explained, known, joinedRunId: (await findLastJoinedRun(sql, resource)) ?? 0 };
}

/**
 * Whether a page counts, and all its records are live and of what has no gap: stored up to the last run that joined,
 * or met by an earlier reading of this run. What this reading stored itself has a gap behind it where the course
 * steps back.
 */
async function areKnown(
  sql: Sql,
  resource: Resource,
  page: Page,
  { joinedRunId, isNew }: { joinedRunId: number; isNew(id: string): boolean },
): Promise<boolean> {
  if (!page.isAnchored || page.holes.length > 0 || page.meta.count !== page.ids.length) return false;
  const { table } = RECORD_TABLES[resource];
  const met = page.ids.filter((id) => !isNew(id));
  const [row] = await composed(sql)<{ known: number }>`
    select count(*) as known from ${table}
    where ${table.id} = any (${compose.param(page.ids)}::text[]) and ${table.deleted_at} is null
      and (${table.first_seen_run_id} <= ${joinedRunId} or ${table.id} = any (${compose.param(met)}::text[]))`;
  return row?.known === new Set(page.ids).size;
}

/** Adds the reason when a record is known to be missing here, or when the reply was behind. A lower count needs none. */
function judge(
  { outcome, deficit, unstored, explained }: Reading,
  newer: string | null,
  resource: Resource,
  held: string | null,
): Pick<Reading, "outcome" | "isLagging"> {
  if (outcome.walk !== "head") return { outcome };
  const because = (reason: string) => ({ outcome: { ...outcome, reason: `${resource} list: ${reason}` } });
  const countOf = (records: number) =>
    `${records.toLocaleString("en-US")} ${resource}${records === 1 ? "" : "s"}`;
  if (deficit === null) {
    const told = because("its head has no total_count, so it is unknown whether records are missing");
    return { outcome: { ...told.outcome, walk: "not_whole" } };
  }
  if (held !== null) return { outcome: { ...outcome, reason: held } };
  const missing = deficit - explained;
  if (missing > 0)
    return because(`upstream counts ${countOf(missing)} more than are here: a full walk is due`);
  if (unstored !== null && unstored > 0)
    return because(`${countOf(unstored)} that it shows could not be stored; see \`docmirror quarantine\``);
  if (newer === null) return { outcome };
  const reason = `its head is older than ${resource} ${newer}, which was seen before: a replica that is behind has answered, so its count was not compared`;
  return { ...because(reason), isLagging: true };
}

/** The number of known records in a row after which the head has joined what was read before. */
const JOIN_RECORDS = 20;

/** Counts the known records in a row. One proves nothing: a build dated in the future stays at the top. */
export function createHeadJoin() {
  let inARow = new Set<string>();
  return {
    /** Adds a page. `isKnown`: each record is live and from a run without a gap. A refused one is not. */
    add({ ids, isKnown }: { ids: readonly string[]; isKnown: boolean }): void {
      if (!isKnown) inARow = new Set();
      else for (const id of ids) inARow.add(id);
    },
    isJoined: () => inARow.size >= JOIN_RECORDS,
  };
}
