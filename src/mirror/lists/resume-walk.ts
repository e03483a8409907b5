import type { Logger } from "../../base/log.ts";
import type { Patience } from "../../store/connection/patience.ts";
import type { ResumableWalk } from "../../store/ledger/run-ledger.ts";
import type { PageMemory } from "../load/page-memory.ts";
import type { Course } from "../walk/course.ts";

/** Restores the course of an interrupted walk from the remembered pages. Null when they do not fit. */
export async function resumeWalk(
  from: ResumableWalk,
  createCourse: () => Course,
  { memory, patience, log }: { memory: PageMemory; patience: Patience; log: Logger },
): Promise<Course | null> {
  const { checkpoint, runId } = from;
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
