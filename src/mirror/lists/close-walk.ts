import { counted as countedAs } from "../../base/text.ts";
import { type Sql, type TransactionSql, withTransaction } from "../../store/connection/sql.ts";
import { finishWalk } from "../../store/ledger/run-ledger.ts";
import { countListed, countRows, isCounted, setLive } from "../load/live-count.ts";
import { createPageMemory } from "../load/page-memory.ts";
import { countRefused, resolveHoles, resolveUnseen } from "../load/quarantine.ts";
import { recordSeen } from "../load/record-transitions.ts";
import { beyondMoves, compareShown } from "./differences.ts";
import {
  countUnlisted,
  findOpenEnds,
  forgetSeen,
  type MissingFacts,
  recordMissing,
} from "./missing-records.ts";
import type { ListOptions, ListRun, Reading } from "./reading.ts";
import type { WalkSummary } from "./summary.ts";

export interface ClosedWalk {
  summary: WalkSummary;
  /** The records that the service counts fewer than are here, as `Unfinished` has it. 0 where the count was not compared. */
  deficit: number;
  brokenBy: Reading["brokenBy"];
}

/** The facts that the end of a walk settles. */
interface Settled {
  /** Why deletions are held back, and which rows were lost. Null where none are. */
  held: string | null;
  lost: string | null;
  unstored: number | null;
  deficit: number | null;
  /** The records whose deletion is held back. */
  heldHere: number | undefined;
}

/**
 * Ends a walk in one transaction: stores what a whole walk did not show as missing, resolves the holes, and stores
 * how the walk ended. A whole walk without any record is not accepted when records are known.
 */
export async function closeWalk(run: ListRun, list: ListOptions, reading: Reading): Promise<ClosedWalk> {
  const { sql, clock, log, runId, patience } = run;
  const { resource, listPath } = list.plan;
  const { start, seen, counts, brokenBy, moved, memory, head } = reading;
  const finishedAt = clock.now().toISOString();
  let { outcome } = reading;
  // An earlier reading of a head may have seen some.
  const isEmptied = outcome.walk === "whole" && outcome.records === 0;
  const known = isEmptied ? await patience("count records", () => countRows(sql, resource)) : 0;
  if (known > 0) {
    const reason = `${resource} list: it should hold the ${known} records that are known, but came empty; nothing is deleted`;
    outcome = { ...outcome, walk: "not_whole", reason };
  }
  // The earlier part of a resumed walk did not say how the count moved.
  const counted = start.beganRunId === runId ? outcome.totalCount : null;
  const isRead = outcome.walk === "whole" && counted !== null;
  const shown = isRead ? compareShown(resource, counted, reading) : null;
  if (shown?.cut) outcome = { ...outcome, walk: "not_whole", reason: shown.cut };

  const unsettled: Settled = {
    held: null,
    lost: null,
    unstored: head?.causes?.unstored ?? null,
    deficit: head?.causes ? head.causes.unexplained + head.causes.unstored : null,
    heldHere: head?.causes?.held,
  };

  async function settle(tx: TransactionSql): Promise<Settled> {
    const settled = { ...unsettled };
    let shownHere: number | null = null;
    if (outcome.walk === "whole") {
      const { ends, ...missing } = await closeWhole(tx, run, list, reading, finishedAt);
      if (memory && ends.lastPage !== null && ends.lastPage >= memory.pages)
        await createPageMemory(sql, resource).forgetFrom(tx, memory.pages);
      // Where no record is missing, the walk has counted them itself.
      const isCountedHere = ends.missing + missing.missing === 0 && !isCounted(resource);
      const here = isCountedHere ? { shown: missing.live, held: 0 } : await countListed(tx, resource);
      shownHere = here.shown;
      settled.heldHere = here.held;
      settled.held = missing.held;
      settled.unstored = seen.size - missing.met;
      settled.lost = await describeLost(tx, resource, seen, settled.unstored);
    } else await forgetSeen(tx, resource, seen);
    if ((memory || isRead) && counted !== null) {
      if (shownHere === null || settled.unstored === null) {
        const { shown: listed, named, nameless } = await countListed(tx, resource);
        shownHere ??= listed;
        settled.unstored ??= named + nameless;
      }
      settled.deficit = beyondMoves(counted - shownHere, moved);
    }
    if (memory && resource === "build") await recordSeen(tx, seen, { ...start, runId, request: listPath });
    await memory?.keepSize(tx);
    return settled;
  }

  async function finish(of: Sql | TransactionSql, { held, lost, unstored, deficit, heldHere }: Settled) {
    // A whole walk that is not accepted has not read the list.
    const isAllRead = reading.isAllRead && outcome === reading.outcome;
    const reason = outcome.reason ?? held ?? lost;
    await finishWalk(of, runId, resource, {
      walk: outcome.walk,
      reason,
      totalCount: outcome.totalCount,
      counts,
      oldestAt: start.startedAt,
      checkpoint: reading.checkpoint,
      finishedAt,
      unstored,
      deficit,
      gap: outcome.walk === "whole" ? shown?.gap : head?.causes,
      held: heldHere,
      night: head?.night ?? undefined,
      search: head?.search ?? undefined,
      readSince: isAllRead ? start.startedAt : (head?.night?.readSince ?? null),
    });
    return { reason, held, lost };
  }

  // The head of a list where no record is missing leaves nothing to settle.
  const isSettled = outcome.walk !== "whole" && memory === null && head?.isAnyMissing === false;
  const ended = await patience("close a walk", () =>
    isSettled ? finish(sql, unsettled) : withTransaction(sql, async (tx) => finish(tx, await settle(tx))),
  );
  if (head?.isLagging) log.info({ reason: outcome.reason }, "the service lags behind");
  else if (outcome.reason) log.info({ reason: outcome.reason, hint: brokenBy?.hint }, "walk is not whole");
  if (ended.held) log.info({ reason: ended.held }, "deletions are held back");
  if (ended.lost) log.warn({ reason: ended.lost }, "records that were read are not here");
  return {
    summary: {
      walk: outcome.walk,
      ...(ended.reason && { reason: ended.reason }),
      ...(head?.isLagging && { lagging: true }),
      ...(shown && shown.gap.unshown + shown.gap.repeated !== 0 && { shown: seen.size }),
      ...counts,
      total_count: outcome.totalCount,
      ...summarize(head),
    },
    deficit: outcome.walk === "head" ? Math.max(0, -(head?.causes?.unexplained ?? 0)) : 0,
    brokenBy,
  };
}

function summarize(head: Reading["head"]): Pick<WalkSummary, "round" | "search"> {
  const { night, search } = head ?? {};
  return {
    ...(night && { round: { records: night.records, ...(night.reason && { reason: night.reason }) } }),
    ...(search && { search: { requests: search.requests, settled: search.isDone } }),
  };
}

/**
 * Says that records which a whole walk saw have no row, though none of them was refused. Null where all are here. Their pages are no
 * remembered ones any more, so the next walk reads them.
 */
async function describeLost(
  tx: TransactionSql,
  resource: ListOptions["plan"]["resource"],
  seen: Reading["seen"],
  unstored: number,
): Promise<string | null> {
  let lost = unstored;
  if (lost > 0) lost -= await countRefused(tx, resource, seen);
  if (lost > 0) lost -= await countUnlisted(tx, resource, seen);
  if (lost <= 0) return null;
  const what = `${countedAs(lost, resource)} that it shows ${lost === 1 ? "is" : "are"} not here`;
  return `${resource} list: ${what}, and could be stored: a row was lost; the next sync reads it again`;
}

/** Notes what a whole walk did not show, in the transaction that ends it. */
export async function closeWhole(
  tx: TransactionSql,
  { runId }: Pick<ListRun, "runId">,
  { plan: { resource }, ...limits }: ListOptions,
  { start, seen }: Pick<Reading, "start"> & Pick<MissingFacts, "seen">,
  noticedAt: string,
) {
  const { beganRunId } = start;
  const ends = await findOpenEnds(tx, resource, beganRunId);
  if (ends.refused > 0) {
    await resolveHoles(tx, resource, noticedAt);
    await resolveUnseen(tx, resource, { seen, beganRunId, at: noticedAt });
  }
  const facts = { resource, runId, beganRunId, noticedAt, seen, ends };
  const missing = await recordMissing(tx, { ...limits, ...facts });
  await setLive(tx, resource, missing.live);
  return { ...missing, ends };
}
