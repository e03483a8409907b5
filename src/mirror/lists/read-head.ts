import type { Resource } from "../../resources/resources.ts";
import { compose, runStatement } from "../../store/connection/run-statement.ts";
import type { Sql } from "../../store/connection/sql.ts";
import {
  findLastJoinedRun,
  findLastWholeWalk,
  findUnexplainedDeficit,
  startWalk,
} from "../../store/ledger/run-ledger.ts";
import { isSameEndpoint } from "../api/api-url.ts";
import { countShown } from "../load/live-count.ts";
import { findNewerBuild } from "../load/replica-lag.ts";
import type { RunParts } from "../load/run-parts.ts";
import { RECORD_TABLES } from "../load/tables.ts";
import { createCourse } from "../walk/course.ts";
import type { Page } from "../walk/page.ts";
import { createPageSource } from "../walk/page-source.ts";
import { createWalk } from "../walk/walk.ts";
import { createHeadJoin } from "./head-join.ts";
import { findPageSize, firstPageSize } from "./page-sizes.ts";
import { type Reading, readPages } from "./read-pages.ts";
import { settlePages } from "./settle-pages.ts";
import { emptyCounts } from "./summary.ts";
import type { WalkResourceOptions } from "./walk-options.ts";

/** A difference is checked again: a record that comes or goes during a reading makes the counts differ. */
const MAX_READINGS = 3;

/**
 * Reads the head of a list until it joins what was read before, and compares upstream's count with the live
 * records here. The comparison shows whether something is missing further down, for example a new build with
 * an old date. When upstream counts more, it reads further for a while. A difference that stays is the
 * `deficit` of the walk.
 */
export async function readHead(run: RunParts, options: WalkResourceOptions): Promise<Reading> {
  const { sql, client, clock, log, runId, patience, signal } = run;
  const { room, meters, onProgress, replicaLagMs } = options;
  const { resource, listPath } = options.plan;
  const isListPath = (path: string) => isSameEndpoint(path, listPath, client.baseUrl);
  const start = { startedAt: clock.now().toISOString(), beganRunId: runId };
  await patience("open a walk", () => startWalk(sql, runId, resource, start, emptyCounts(), null));
  const largest = await patience("find the page size", () => findPageSize(sql, options.pageSize, resource));
  const pageSize = firstPageSize(options.pageSize);
  const { unstored, explained, known, joinedRunId } = await patience("find the last count", () =>
    findEarlier(sql, resource),
  );

  let counts = emptyCounts();
  let newer: string | null = null;
  for (let readings = 1; ; readings++) {
    const course = createCourse({ resource, listPath, pageSize, isListPath });
    // The end of the head shows on its last page, so a page asked for ahead would always be wasted.
    const source = createPageSource({ client, resource, lookAhead: 0, signal });
    const walk = createWalk({ resource, course, source, signal });
    const join = createHeadJoin();
    // The first reading joined, so the records of this run have no gap either.
    const gapFreeRunId = readings === 1 ? joinedRunId : runId;
    let counted: number | null | undefined;
    let deficit: number | null = null;

    const onSettled = async (page: Page): Promise<void> => {
      // New records that come during the reading are above the head. The next run reads them.
      if (counted === undefined) counted = page.meta.totalCount;
      if (page.seq === 0)
        newer ??= await patience("find a newer build", () =>
          findNewerBuild(sql, { runId, replicaLagMs }, page),
        );
      const isKnown = await patience("look up records", () => areKnown(sql, resource, page, gapFreeRunId));
      join.add({ ids: page.ids, isKnown });
      // A head of one page is the rule. The longer it is, the more is probably left.
      course.resize(Math.max(course.limit, Math.min(largest, 2 * course.limit)));
      if (!join.isJoined(false)) return;
      const shown = await patience("count records", () => countShown(sql, resource));
      // A count that is behind says nothing new.
      if (newer !== null) deficit = known;
      else deficit = counted === null ? null : counted - shown;
      const mayFindMore = deficit !== null && deficit > Math.max(explained, known);
      if (join.isJoined(mayFindMore)) walk.stop();
    };
    const settled = settlePages(run, {
      ...{ resource, room, meters, onProgress, counts, seen: course.seen, memory: null, onSettled },
    });
    const read = await readPages(walk, settled, log);
    counts = settled.counts;
    const facts = { start, counts, memorized: 0, checkpoint: null, deficit, unstored, explained };
    const reading = { ...read, ...facts, seen: course.seen };
    const isBelieved = deficit === explained || deficit === known || readings === MAX_READINGS;
    if (read.outcome.walk !== "head" || isBelieved) return { ...reading, ...judge(reading, newer, resource) };
  }
}

/** The results of earlier walks of the list. */
interface Earlier {
  /** See `sync.walks`, of the newest whole walk. */
  unstored: number;
  /** The difference that the newest whole walk explains: what it could not store, and what the list did not show. */
  explained: number;
  /** The difference that the newest comparison found and could not resolve. */
  known: number;
  /** The records stored up to this run have no gap at the head; 0 when nothing was read yet. */
  joinedRunId: number;
}

async function findEarlier(sql: Sql, resource: Resource): Promise<Earlier> {
  const whole = await findLastWholeWalk(sql, resource);
  const unstored = whole?.unstored ?? 0;
  const joinedRunId = (await findLastJoinedRun(sql, resource)) ?? 0;
  const explained = unstored + (whole?.unshown ?? 0);
  const known = explained + (await findUnexplainedDeficit(sql, resource));
  return { unstored, explained, known, joinedRunId };
}

/** Whether a page counts, and all its records are live and were stored by this run or an earlier one. */
async function areKnown(sql: Sql, resource: Resource, page: Page, runId: number): Promise<boolean> {
  if (!page.isAnchored || page.holes.length > 0 || page.meta.count !== page.ids.length) return false;
  const { table } = RECORD_TABLES[resource];
  const [row] = await runStatement<{ known: number }>(
    sql,
    compose`
      select count(*) as known from ${table}
      where ${table.id} = any (${compose.param(page.ids)}::text[]) and ${table.first_seen_run_id} <= ${runId}
        and ${table.deleted_at} is null`,
  );
  return row?.known === new Set(page.ids).size;
}

/**
 * Adds the reason when a record is known to be missing here, or when the reply was behind, which is no fault. A
 * lower count needs none: upstream has deleted records (`Unfinished`).
 */
function judge(
  { outcome, deficit, unstored, explained }: Reading,
  newer: string | null,
  resource: Resource,
): Pick<Reading, "outcome" | "isLagging"> {
  if (outcome.walk !== "head") return { outcome };
  const because = (reason: string) => ({ ...outcome, reason: `${resource} list: ${reason}` });
  if (deficit === null) {
    const reason = "its head has no total_count, so it is unknown whether records are missing";
    return { outcome: { ...because(reason), walk: "not_whole" } };
  }
  const missing = deficit - explained;
  if (missing > 0) {
    const reason = `upstream counts ${countOf(missing, resource)} more than are here: a full walk is due`;
    return { outcome: because(reason) };
  }
  if (unstored !== null && unstored > 0) {
    const reason = `${countOf(unstored, resource)} that it shows could not be stored; see \`docmirror quarantine\``;
    return { outcome: because(reason) };
  }
  if (newer === null) return { outcome };
  const reason = `its head is older than ${resource} ${newer}, which was seen before: a replica that is behind has answered, so its count was not compared`;
  return { outcome: because(reason), isLagging: true };
}

function countOf(records: number, resource: Resource): string {
  return `${records.toLocaleString("en-US")} ${resource}${records === 1 ? "" : "s"}`;
}
