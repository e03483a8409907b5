import { earlierOf } from "../../base/clock.ts";
import { counted } from "../../base/text.ts";
import { firstRequest, parsePageRequest } from "../../resources/page-request.ts";
import type { Resource } from "../../resources/resources.ts";
import { findReadSince } from "../../store/ledger/list-freshness.ts";
import type { ServiceGap, WalkCounts } from "../../store/ledger/run-ledger.ts";
import { findNewerBuild } from "../load/replica-lag.ts";
import { type Border, type DatedPage, lastBorder } from "../walk/bisection.ts";
import { createIdSet, type IdSet } from "../walk/id-set.ts";
import { type FetchedPage, isNewestFirst, type Page } from "../walk/page.ts";
import { createPageSource } from "../walk/page-source.ts";
import { createWalk } from "../walk/walk.ts";
import { findDifferences, LEAST_SEARCHED, toDatedPage } from "./dated-pages.ts";
import { countCauses, describeCauses } from "./differences.ts";
import { createHeadJoin } from "./head-join.ts";
import { collectUnshown, describeHeld, findHeld, forgetMissing, mostMissing } from "./missing-records.ts";
import { describeMove, type MovedDates, noteMovedDates } from "./moved-dates.ts";
import { findPageSize } from "./page-sizes.ts";
import { beginCourse } from "./read-list.ts";
import { type PagesEnd, readPages } from "./read-pages.ts";
import { readRound } from "./read-round.ts";
import type {
  CountCauses,
  HeadFindings,
  ListOptions,
  ListRun,
  Reading,
  RoundNight,
  SearchEnd,
} from "./reading.ts";
import { emptyCounts } from "./summary.ts";

/** The readings of the head: a difference is looked for and compared again, because the list changes meanwhile. */
const MAX_READINGS = 3;
/** A search may take one in this many of the requests of a full walk, and `LEAST_BUDGET` always. */
const SEARCH_SHARE = 4;
const LEAST_BUDGET = 30;
const WHY_RESTORED =
  "ids of its builds are other builds' now, and it counts far fewer than are here: the service was restored from a backup";

type HeadReading = Reading & { head: HeadFindings };

/** One reading of the head. */
interface Head
  extends Pick<Reading, "outcome" | "brokenBy" | "moved" | "repeated">,
    Pick<PagesEnd, "oldestAt">,
    Pick<HeadFindings, "distrust"> {
  counts: WalkCounts;
  /** The count of its first page. New records that come during the reading are above it: the next run reads them. */
  counted: number | null;
  ids: string[];
  first: FetchedPage | null;
  /** Its last border. Null where its pages do not show their order. */
  top: Border | null;
  /** A build that was seen before and is newer than the head, which then comes from a replica that is behind. */
  newer: string | null;
  /** The most records that the service gives, where it gave fewer than were asked for. Else Infinity. */
  cap: number;
}

/**
 * Reads the head of a list until it joins what was read before, and compares upstream's count with the live records
 * here. Where nothing known explains that they differ, what came or went further down is searched for (`dated-pages.ts`),
 * and the head is read again. A nightly sync then reads its part of the round.
 *
 *   reading ──▶ comparing ──differs──▶ searching ──asked for pages──▶ reading
 *      │            │                      └─had nothing to ask──┐
 *      │            └─agrees, or a search is not worth it──▶ settling ──a new difference──▶ reading
 *      │                                                       └─known, or the third reading──▶ reading a part
 *      │                   ┌──────────────────────────────────────────────────────────────────────┘
 *      │                   ├─something came or went──▶ reading, three times more
 *      │                   └─nothing, or no part is due──▶ judging
 *      └─the first page says nothing of what is new, or (comparing) many are gone whose ids were given again──▶ distrusting
 *
 * Each state is a function below that goes on to the next one. What it is called with is what that state knows.
 */
export async function readHead(run: ListRun, list: ListOptions): Promise<HeadReading> {
  const { sql, clock, runId, patience } = run;
  const { resource, listPath, search, roundDays } = list.plan;
  const start = { startedAt: clock.now().toISOString(), beganRunId: runId };
  const { gap, unexplained, joinedRunId } = list.before;
  const missing = collectUnshown(run, list);
  const seen = createIdSet();
  /** The sum of the readings, the searches and the part of the round. */
  const soFar = {
    counts: emptyCounts(),
    readings: 0,
    /** The requests that are left for searches. */
    budget: search.most,
    /** The last search has learned nothing, so another one would not either. */
    isVain: false,
    oldestAt: start.startedAt,
    search: null as SearchEnd | null,
    isPartRead: false,
    /** Missing records may be noted. */
    isAnyMissing: list.before.missing > 0,
    night: null as RoundNight | null,
    /** The gap of the service as it is known. */
    gap,
  };
  const beyond = () => soFar.gap.unshown + soFar.gap.repeated;
  const limitOf = async ({ cap }: Head) => {
    const largest = await findPageSize(list.sizes, search.pageSize ?? list.pageSize, resource);
    return Math.max(LEAST_SEARCHED, Math.min(largest, cap));
  };

  async function reading(): Promise<HeadReading> {
    soFar.readings += 1;
    const head = await readOnce(run, list, {
      counts: soFar.counts,
      seen,
      gap: soFar.gap,
      joinedRunId: joinedRunId ?? 0,
      isAnyMissing: soFar.isAnyMissing,
    });
    soFar.counts = head.counts;
    soFar.oldestAt = earlierOf(soFar.oldestAt, head.oldestAt);
    return head.distrust === null ? comparing(head, await compare(head)) : distrusting(head, head.distrust);
  }

  async function compare({ outcome, newer, counted }: Head): Promise<CountCauses | null> {
    if (outcome.walk !== "head" || counted === null) return null;
    // A count that is behind says nothing new.
    const count = newer === null ? counted : null;
    const known = { ...soFar.gap, unexplained };
    return patience("count records", () => countCauses(sql, resource, count, known));
  }

  async function comparing(head: Head, causes: CountCauses | null): Promise<HeadReading> {
    const isLast = soFar.readings === MAX_READINGS;
    const left = causes?.unexplained ?? 0;
    const isNew = left !== 0 && (left !== unexplained || search.isRepeated);
    const isAllowed = -left <= mostMissing(head.counted ?? 0, list);
    if (!isAllowed && (await isGivenAgain())) return distrusting(head, WHY_RESTORED);
    const isWorth = isNew && isAllowed && head.newer === null && !isLast && !soFar.isVain && soFar.budget > 0;
    return head.top && isWorth ? searching(head, head.top) : settling(head, causes);
  }

  /** True where ids were given again, and not every build was read since. */
  async function isGivenAgain(): Promise<boolean> {
    return patience("look for ids that were given again", async () => {
      const since = await findReadSince(sql, resource);
      const [row] = await sql`
        select from mirror.builds
        where life > 1 and first_seen_at > coalesce(${since}::timestamptz, '-infinity') limit 1`;
      return row !== undefined;
    });
  }

  async function searching(head: Head, top: Border): Promise<HeadReading> {
    const limit = await limitOf(head);
    const most = Math.max(LEAST_BUDGET, Math.ceil(top.places / limit / SEARCH_SHARE));
    const budget = Math.min(soFar.budget, most);
    // Also where the answer to a note is lost, which counts none when it is repeated.
    soFar.isAnyMissing = true;
    const { requests, isDone, ...found } = await findDifferences(run, list, {
      first: firstRequest(listPath, limit),
      counts: soFar.counts,
      gap: soFar.gap,
      seen,
      missing,
      top,
      headIds: head.ids,
      budget,
    });
    soFar.isVain = !isDone && found.gap.unshown === soFar.gap.unshown;
    soFar.counts = found.counts;
    soFar.gap = found.gap;
    soFar.oldestAt = earlierOf(soFar.oldestAt, found.oldestAt);
    soFar.search = { requests: (soFar.search?.requests ?? 0) + requests, isDone };
    soFar.budget = budget - requests;
    // Without a request all that was compared is of one reply.
    return requests > 0 ? reading() : settling(head, await compare(head));
  }

  /** A difference that is new is compared once more, in vain or not. */
  async function settling(head: Head, causes: CountCauses | null): Promise<HeadReading> {
    const left = causes?.unexplained ?? null;
    const isBelieved = left === 0 || left === unexplained || soFar.readings === MAX_READINGS;
    return head.outcome.walk === "head" && !isBelieved ? reading() : readingPart(head, causes);
  }

  async function readingPart(head: Head, causes: CountCauses | null): Promise<HeadReading> {
    const isSound = head.outcome.walk === "head" && head.newer === null && missing.held === null;
    if (roundDays === null || soFar.isPartRead || head.counted === null || !isSound)
      return judging(head, causes);
    const { inserted, restored } = soFar.counts;
    const part = await readRound(run, list, {
      days: roundDays,
      counted: head.counted,
      limit: await limitOf(head),
      counts: soFar.counts,
      seen,
      head: head.first,
    });
    soFar.isPartRead = true;
    soFar.night = part.night;
    soFar.counts = part.counts;
    const before = beyond();
    soFar.gap = part.gap ?? soFar.gap;
    const isSame =
      part.counts.inserted === inserted && part.counts.restored === restored && beyond() === before;
    soFar.isAnyMissing ||= part.missing > 0;
    if (isSame && part.missing === 0) return judging(head, causes);
    // The list should show other records now.
    soFar.readings = 0;
    soFar.isVain = false;
    return reading();
  }

  async function judging(head: Head, causes: CountCauses | null): Promise<HeadReading> {
    // A round of the watch has no way to let them go.
    const isAnyHeld = search.isRepeated && causes?.held !== 0;
    const stillHeld = isAnyHeld ? await patience("find what is held back", () => findHeld(sql)) : [];
    const held = stillHeld.find((one) => one.resource === resource);
    const { night } = soFar;
    const why = missing.held ?? night?.reason ?? (held ? describeHeld(held) : null);
    return end(head, { ...judge(head, causes, resource, why), causes, night, search: soFar.search });
  }

  async function distrusting(head: Head, why: string): Promise<HeadReading> {
    const reason = `${resource} list: ${why}; the next sync reads it in full`;
    const outcome = { ...head.outcome, reason };
    const facts = { outcome, isLagging: false, causes: null, night: null, search: null };
    return end({ ...head, distrust: why }, facts);
  }

  function end(
    { brokenBy, moved, repeated, distrust }: Head,
    { outcome, ...found }: Judgement & Pick<HeadFindings, "causes" | "night" | "search">,
  ): HeadReading {
    return {
      start: { ...start, startedAt: soFar.oldestAt },
      outcome,
      brokenBy,
      seen,
      repeated,
      counts: soFar.counts,
      moved,
      isAllRead: false,
      checkpoint: null,
      memory: null,
      head: { distrust, isAnyMissing: soFar.isAnyMissing, ...found },
    };
  }

  return reading();
}

/** Reads the head once. `gap`: that of the service, as it is known. */
async function readOnce(
  run: ListRun,
  list: ListOptions,
  facts: { counts: WalkCounts; seen: IdSet; gap: ServiceGap; joinedRunId: number; isAnyMissing: boolean },
): Promise<Head> {
  const { sql, client, runId, patience, signal } = run;
  const { resource } = list.plan;
  const course = beginCourse(run, list);
  // The end of the head shows on its last page, so a page asked for ahead would always be wasted.
  const source = createPageSource({ client, resource, lookAhead: 0, signal });
  const walk = createWalk({ resource, course, source, signal });
  /** The records that no reading or search of this run met before this reading. */
  const own = createIdSet();
  const join = createHeadJoin(run, { resource, joinedRunId: facts.joinedRunId, own });
  const shown = {
    ids: [] as string[],
    first: null as FetchedPage | null,
    counted: null as number | null,
    newer: null as string | null,
    cap: Number.POSITIVE_INFINITY,
    distrust: null as string | null,
  };
  /** The last page, while all of them show their order. */
  let last: DatedPage | null | undefined;

  const read = await readPages(run, list, walk, {
    counts: facts.counts,
    memory: null,
    seen: {
      ...facts.seen,
      get size() {
        return facts.seen.size;
      },
      add: (id) => facts.seen.add(id) && own.add(id),
    },
    async onSettled(page) {
      const { meta } = page;
      const limit = parsePageRequest(page.request)?.limit ?? 0;
      if (meta.limit && meta.limit < limit) shown.cap = Math.min(shown.cap, meta.limit);
      if (page.seq === 0) {
        shown.counted = meta.totalCount;
        const lag = { runId, replicaLagMs: list.replicaLagMs };
        shown.newer = await patience("find a newer build", () => findNewerBuild(sql, lag, page));
      }
      if (facts.isAnyMissing)
        await patience("note builds that are there", () => forgetMissing(sql, resource, page.ids));
      await join.add(page);
      shown.ids.push(...page.ids);
      const isJoined = last !== null && page.isAnchored && page.holes.length === 0;
      last = isJoined ? toDatedPage(page, facts.gap) : null;
      if (join.isJoined()) return walk.stop();
      // A head of one page is the rule. The longer it is, the more is probably left.
      const largest = await findPageSize(list.sizes, list.pageSize, resource);
      course.resize(Math.max(course.limit, Math.min(largest, 2 * course.limit)));
    },
    async accept(page) {
      if (page.seq > 0) return true;
      shown.first = page;
      shown.distrust = whyDistrusted(page, await noteMovedDates(run, page));
      return shown.distrust === null;
    },
  });
  return { ...read, ...shown, repeated: course.repeated, top: last ? lastBorder(last) : null };
}

/** Why the first page of a head says nothing of what is new. Null where it does. */
function whyDistrusted({ meta, dates }: Page, moved: MovedDates | null): string | null {
  if (moved)
    return moved.byMs === null ? "most of its builds have another date than before" : describeMove(moved);
  const isReversed = !meta.showsOrder && dates !== null && isNewestFirst(dates.toReversed());
  return isReversed ? "its builds come with the oldest first" : null;
}

type Judgement = Pick<Reading, "outcome"> & Pick<HeadFindings, "isLagging">;

/** Adds the reason when a record is known to be missing here, or when the reply was behind. A lower count needs none. */
function judge(
  { outcome, newer }: Head,
  causes: CountCauses | null,
  resource: Resource,
  held: string | null,
): Judgement {
  const fine = { outcome, isLagging: false };
  const because = (reason: string, walk = outcome.walk) => ({
    outcome: { ...outcome, walk, reason: `${resource} list: ${reason}` },
    isLagging: false,
  });
  if (outcome.walk !== "head") return fine;
  if (causes === null)
    return because("its head has no total_count, so it is unknown whether records are missing", "not_whole");
  if (held !== null) return { outcome: { ...outcome, reason: held }, isLagging: false };
  const { unexplained, unstored } = causes;
  if (unexplained > 0) return because(`${describeCauses(resource, causes)}: a full walk is due`);
  if (unstored > 0)
    return because(
      `${counted(unstored, resource)} that it shows could not be stored; see \`docmirror quarantine\``,
    );
  if (newer === null) return fine;
  const behind = `its head is older than ${resource} ${newer}, which was seen before: a replica that is behind has answered`;
  return { ...because(`${behind}, so its count was not compared`), isLagging: true };
}
