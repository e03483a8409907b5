import { isSameEndpoint } from "../api/api-url.ts";
import type { Sql } from "../db/connect.ts";
import { findLastJoinedRun, findLastWholeWalk, findUnexplainedDeficit, startWalk } from "../db/run-ledger.ts";
import { countShown } from "../load/live-count.ts";
import { RECORD_TABLES } from "../load/tables.ts";
import { createCourse } from "../walk/course.ts";
import type { Page } from "../walk/page.ts";
import { createPageSource } from "../walk/page-source.ts";
import { createWalk } from "../walk/walk.ts";
import type { Resource } from "../wire/resources.ts";
import { createHeadJoin } from "./head-join.ts";
import { type Reading, readPages } from "./read-pages.ts";
import { settlePages } from "./settle-pages.ts";
import { emptyCounts } from "./summary.ts";
import type { WalkResourceOptions } from "./walk-options.ts";

/** A record that comes or goes while the head is read makes the counts differ. It is read again before a difference is believed. */
const MAX_READINGS = 3;

/**
 * Reads the head of a list until it joins what was read down to a known record before, and compares what upstream counts with the live
 * records that its list showed. The comparison tells whether something is missing further down, where a build with an old date may come.
 * Where upstream counts more, it reads on for a while. A difference that stays is the walk's `deficit`.
 */
export async function readHead(options: WalkResourceOptions): Promise<Reading> {
  const { sql, client, clock, log, runId, patience, signal } = options;
  const { resource, listPath } = options.plan;
  const isListPath = (path: string) => isSameEndpoint(path, listPath, client.baseUrl);
  const start = { startedAt: clock.now().toISOString(), beganRunId: runId };
  await patience("open a walk", () => startWalk(sql, runId, resource, start, emptyCounts(), null));
  const { unstored, known, joinedRunId } = await patience("find the last count", () =>
    findEarlier(sql, resource),
  );

  let counts = emptyCounts();
  for (let readings = 1; ; readings++) {
    const course = createCourse({ resource, listPath, pageSize: options.pageSize, isListPath });
    // Nobody knows before the last page where the head ends. A page asked for ahead would be for nothing each time.
    const source = createPageSource({ client, resource, lookAhead: 0, signal });
    const walk = createWalk({ resource, course, source, signal });
    const join = createHeadJoin();
    // The first reading joined, so what this run stored has no gap either.
    const gapFreeRunId = readings === 1 ? joinedRunId : runId;
    let counted: number | null | undefined;
    let deficit: number | null = null;

    const onSettled = async (page: Page): Promise<void> => {
      // What comes in while the head is read stands above it, and is for the next run.
      if (counted === undefined) counted = page.meta.totalCount;
      const isKnown = await patience("look up records", () => areKnown(sql, resource, page, gapFreeRunId));
      join.add({ ids: page.ids, isKnown });
      if (!join.isJoined(false)) return;
      const shown = await patience("count records", () => countShown(sql, resource));
      deficit = counted === null ? null : counted - shown;
      const mayFindMore = deficit !== null && deficit > Math.max(unstored, known);
      if (join.isJoined(mayFindMore)) walk.stop();
    };
    const settled = settlePages({ ...options, resource, counts, seen: course.seen, memory: null, onSettled });
    const read = await readPages(walk, settled, { resource, log });
    counts = settled.counts;
    const reading = {
      ...read,
      ...{ start, seen: course.seen, counts, memorized: 0, checkpoint: null, deficit, unstored },
    };
    const isBelieved = deficit === unstored || deficit === known || readings === MAX_READINGS;
    if (read.outcome.walk !== "head" || isBelieved) return { ...reading, outcome: judge(reading, resource) };
  }
}

/** What earlier walks of the list found out. */
interface Earlier {
  /** The difference that the newest whole walk explains. */
  unstored: number;
  /** The difference that the newest walk that compared found, and could not do away with. */
  known: number;
  /** Up to this run what is stored has no gap at the head; 0 where nothing was read yet. */
  joinedRunId: number;
}

async function findEarlier(sql: Sql, resource: Resource): Promise<Earlier> {
  const whole = await findLastWholeWalk(sql, resource);
  const unstored = whole?.unstored ?? 0;
  const joinedRunId = (await findLastJoinedRun(sql, resource)) ?? 0;
  const known = unstored + (await findUnexplainedDeficit(sql, resource));
  return { unstored, known, joinedRunId };
}

/** Whether a page counts, and all its records are live and were stored up to a run. */
async function areKnown(sql: Sql, resource: Resource, page: Page, runId: number): Promise<boolean> {
  if (!page.isAnchored || page.holes.length > 0 || page.meta.count !== page.ids.length) return false;
  const [row] = await sql.unsafe<{ known: number }[]>(
    `select count(*) as known from ${RECORD_TABLES[resource].name}
     where id = any ($1::text[]) and first_seen_run_id <= $2 and deleted_at is null`,
    [page.ids, runId],
  );
  return row?.known === new Set(page.ids).size;
}

/** Says what is wrong with a head whose count does not agree. */
function judge({ outcome, deficit, unstored }: Reading, resource: Resource): Reading["outcome"] {
  if (outcome.walk !== "head") return outcome;
  const because = (reason: string) => ({ ...outcome, reason: `${resource} list: ${reason}` });
  if (deficit === null) {
    return {
      ...because("its head says no total_count, so nobody knows whether records are missing"),
      walk: "not_whole",
    };
  }
  const explained = unstored ?? 0;
  const missing = deficit - explained;
  if (missing > 0)
    return because(`upstream counts ${countOf(missing, resource)} more than are here: a full walk is due`);
  if (missing < 0)
    return because(`upstream counts ${countOf(-missing, resource)} fewer than are here: a full walk is due`);
  if (explained > 0)
    return because(
      `${countOf(explained, resource)} that it shows could not be stored; see \`docmirror quarantine\``,
    );
  return outcome;
}

function countOf(records: number, resource: Resource): string {
  return `${records.toLocaleString("en-US")} ${resource}${records === 1 ? "" : "s"}`;
}
