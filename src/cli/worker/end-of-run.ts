import type { Clock } from "../../base/clock.ts";
import { MirrorError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { createTrouble, type Trouble } from "../../base/trouble.ts";
import { isUpstreamLost } from "../../mirror/api/fates.ts";
import type { RunSummary } from "../../mirror/lists/summary.ts";
import { wrapLog } from "../context/run-command.ts";
import { describeLeft } from "../sync/print-summary.ts";
import { DONE, type JobEnd } from "./worker.ts";

/**
 * The log of runs that follow each other all day, and whose end is a line of its own: their other lines are left out, and a
 * warning that repeats is counted. At level debug all are there.
 */
export function createRunLog(log: Logger, clock: Clock): Logger {
  if (log.isLevelEnabled("debug")) return log;
  const troubles = new Map<string, Trouble>();
  return wrapLog(log, (write, level, [facts, message]) => {
    if (level === "info") return;
    const trouble = troubles.get(`${message}`) ?? createTrouble(clock);
    troubles.set(`${message}`, trouble);
    const { error } = facts as { error?: string };
    const { isNews, again } = trouble.failed(error ?? JSON.stringify(facts));
    if (isNews) write(again);
  });
}

/** What a run says in the end of why not all is well, each cause once: what ended a list often ended the run. */
export function endOfRun(summary: RunSummary, error: unknown, facts: JobEnd["facts"]): JobEnd {
  const { status, error: message, resources, warnings = [] } = summary;
  const reasons = Object.entries(resources).flatMap(([resource, { reason, dropped }]) =>
    reason === undefined || dropped || message?.includes(reason) ? [] : [`${resource}: ${reason}`],
  );
  const left = status === "succeeded" ? [] : describeLeft(summary);
  const why = [message ?? [], reasons, warnings, left].flat();
  if (status === "succeeded" && why.length === 0) return DONE;
  const hint = error instanceof MirrorError ? error.hint : undefined;
  return {
    outcome: ["failed", "interrupted"].includes(status) || isUpstreamLost(error) ? "failed" : "done",
    trouble: [status, ...why].join("; "),
    facts: { ...facts, status, error: why.join("; "), hint },
  };
}
