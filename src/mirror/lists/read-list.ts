import type { Resource } from "../../resources/resources.ts";
import { composed } from "../../store/connection/run-statement.ts";
import type { Sql } from "../../store/connection/sql.ts";
import {
  type ResumableWalk,
  startWalk,
  type WalkCounts,
  type WalkStart,
} from "../../store/ledger/run-ledger.ts";
import { isSameEndpoint } from "../api/api-url.ts";
import type { RunParts } from "../load/loader.ts";
import { createEarlierPages, createPageMemory, type PageMemory } from "../load/page-memory.ts";
import { RECORD_TABLES } from "../load/tables.ts";
import { type Course, createCourse } from "../walk/course.ts";
import { createPageSource } from "../walk/page-source.ts";
import { createWalk } from "../walk/walk.ts";
import { findSizing, firstPageSize, keepPageSize } from "./page-sizes.ts";
import { type Reading, readPages, settlePages, type WalkOptions } from "./settle-pages.ts";

/**
 * Reads every page of a list, from its start or from the checkpoint of an interrupted run. A page that equals one of
 * the last full walk is neither parsed nor loaded. `counts` are those of this run's earlier reading of the list.
 */
export async function readList(run: RunParts, options: WalkOptions, counts: WalkCounts): Promise<Reading> {
  const { sql, client, clock, log, runId, patience, signal } = run;
  const { resume, lookAhead, room, meters, onProgress } = options;
  const { resource, listPath } = options.plan;
  const memory = createPageMemory(sql, resource);
  const isListPath = (path: string) => isSameEndpoint(path, listPath, client.baseUrl);
  const size = await patience("find the page size", () => findSizing(sql, options.pageSize, resource));
  const pageSize = firstPageSize(options.pageSize);
  const begin = () => createCourse({ resource, listPath, pageSize, isListPath });

  const resumed = resume && (await resumeWalk(resume, begin, memory, run));
  // The interrupted walk may have had another setting.
  if (resumed && !size && resumed.limit > pageSize) resumed.resize(pageSize);
  const from = resumed ? resume : null;
  const course = resumed ?? begin();
  const seq = from?.checkpoint.seq ?? 0;
  const start: WalkStart = from ?? { startedAt: clock.now().toISOString(), beganRunId: runId };
  const before = { ...counts };
  if (from) for (const name of Object.keys(counts) as (keyof WalkCounts)[]) before[name] = from[name];
  // The first pages are requested during this. No page is compared with a remembered one before it is done.
  const forgotten = patience("forget stale pages", () => memory.forgetStale(seq));
  forgotten.catch(() => {});
  await patience("open a walk", () => startWalk(sql, runId, resource, start, before, from));

  const earlier = createEarlierPages(sql, resource, seq);
  const recall = async (bodyHash: string) => {
    await forgotten;
    return patience("recall a page", () => earlier.recall(bodyHash));
  };
  const source = createPageSource({ client, resource, lookAhead, room, signal, recall });
  const walk = createWalk({
    ...{ resource, course, source, size, seq, signal, earlier: earlier.sections },
    findHighestId: () =>
      patience("find the highest id", () => findHighestId(sql, resource, start.beganRunId)),
  });
  const keepSize = keepPageSize(resource, size);
  const settled = settlePages(run, {
    ...{ resource, room, meters, onProgress, counts: before, seen: course.seen, memory, keepSize },
  });
  const read = await readPages(walk, settled, log);
  const checkpoint = read.brokenBy ? (settled.checkpoint ?? from?.checkpoint ?? null) : null;
  return {
    ...{ ...read, start, seen: course.seen, counts: settled.counts, keepSize, checkpoint },
    memorized: seq + settled.counts.pages - before.pages,
    ...{ deficit: null, unstored: null, explained: 0 },
  };
}

async function findHighestId(sql: Sql, resource: Resource, runId: number): Promise<number | null> {
  const { table } = RECORD_TABLES[resource];
  const [row] = await composed(sql)<{ highest: number | null }>`
    select max(${table.id}::bigint) as highest from ${table}
    where ${table.id} ~ '^[0-9]{1,15}$' and ${table.first_seen_run_id} < ${runId}`;
  return row?.highest ?? null;
}

/** Restores the course of an interrupted walk from the remembered pages. Null when they do not fit. */
async function resumeWalk(
  { checkpoint, runId }: ResumableWalk,
  createCourse: () => Course,
  memory: PageMemory,
  { patience, log }: RunParts,
): Promise<Course | null> {
  return patience("resume a walk", async () => {
    const course = createCourse();
    let pages = 0;
    for await (const page of memory.pagesBefore(checkpoint.seq)) {
      if (!course.replay(page)) break;
      pages += 1;
    }
    const facts = { request: checkpoint.request, from_run_id: runId, pages };
    if (pages < checkpoint.seq || !course.resumeAt(checkpoint.request)) {
      log.warn(facts, "the checkpoint does not fit the pages before it; the walk starts again");
      return null;
    }
    log.info(facts, "walk resumes at its checkpoint");
    return course;
  });
}
