import type { Client } from "../api/client.ts";
import { fetchDetail } from "../api/fetch-detail.ts";
import type { Clock } from "../clock.ts";
import type { Sql } from "../db/connect.ts";
import type { Patience } from "../db/patience.ts";
import { withStoreErrors } from "../db/store-errors.ts";
import { HttpStatusError, isUpstreamLost, UnexpectedShapeError, UpstreamError } from "../errors.ts";
import type { Loader } from "../load/loader.ts";
import {
  countUnresolved,
  type DanglingTarget,
  findDanglingTargets,
  markGone,
  resolveReferences,
  spreadGone,
} from "../load/resolve-references.ts";
import type { Logger } from "../log.ts";

/** Details asked for in one run at most; what is left over is asked for by the next. */
const MAX_DETAILS = 2000;
const BATCH = 100;
/** A record that was gone is not asked for again for a week. */
const GONE_FOR_MS = 7 * 86_400_000;

export interface RepairOptions {
  sql: Sql;
  client: Client;
  loader: Loader;
  clock: Clock;
  log: Logger;
  signal: AbortSignal;
  /** False when upstream is lost for now: then only what is here is joined. */
  askUpstream: boolean;
  /** What to do when the database is away for a moment; each step says the same when it is done twice. @default the repair fails */
  patience?: Patience;
}

/**
 * Turns URI references into keys: joins what is here, asks for what is not by its detail endpoint, stores what it
 * finds, and writes down why the rest dangles. Passing failures leave a reference pending.
 */
export async function repairReferences(
  options: RepairOptions,
): Promise<{ resolved: number; unresolved: number }> {
  const { sql, clock, log, signal, patience = withStoreErrors } = options;
  const resolve = () => patience("resolve references", () => resolveReferences(sql));
  let resolved = await resolve();
  const goneBefore = new Date(clock.now().getTime() - GONE_FOR_MS).toISOString();
  await patience("note which records are gone", () => spreadGone(sql, goneBefore));
  let after: DanglingTarget | null = null;
  let isLost = !options.askUpstream;
  for (let asked = 0; asked < MAX_DETAILS && !isLost; asked += BATCH) {
    signal.throwIfAborted();
    const wanted = { goneBefore, after, limit: BATCH };
    const targets: DanglingTarget[] = await patience("find references to resolve", () =>
      findDanglingTargets(sql, wanted),
    );
    const outcomes = await Promise.all(targets.map((target) => fetchTarget(options, target)));
    isLost = outcomes.some((outcome) => outcome === "lost");
    after = targets.at(-1) ?? after;
    if (targets.length < BATCH) break;
  }
  resolved += await resolve();
  const unresolved = await patience("count unresolved references", () => countUnresolved(sql));
  if (unresolved > 0) log.info({ unresolved }, "references still name records that are not here");
  return { resolved, unresolved };
}

async function fetchTarget(
  options: RepairOptions,
  target: DanglingTarget,
): Promise<"found" | "gone" | "lost"> {
  const { sql, client, loader, clock, log, patience = withStoreErrors } = options;
  try {
    const detail = await fetchDetail(client, target.resource, target.key);
    await loader.load({
      resource: target.resource,
      pages: [{ ...detail, records: [detail.record] }],
      source: "detail",
    });
    return "found";
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    const isGone = error instanceof HttpStatusError && (error.status === 404 || error.status === 410);
    // A list, which is what a version asked for by a project's slug gives, will never be the record. A reply that could not be read at
    // all (it has a cause) is a proxy's page, which passes.
    const isNoRecord = error instanceof UnexpectedShapeError && error.cause === undefined;
    if (isGone || isNoRecord) {
      const checkedAt = clock.now().toISOString();
      await patience("note that a record is gone", () => markGone(sql, target, checkedAt));
      return "gone";
    }
    log.warn({ ...target, error: error.message }, "a referenced record could not be asked for");
    return isUpstreamLost(error) ? "lost" : "gone";
  }
}
