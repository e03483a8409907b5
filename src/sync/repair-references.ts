import type { Client } from "../api/client.ts";
import { fetchDetail } from "../api/fetch-detail.ts";
import type { Clock } from "../clock.ts";
import type { Sql } from "../db/connect.ts";
import type { Patience } from "../db/patience.ts";
import { withStoreErrors } from "../db/store-errors.ts";
import { HttpStatusError, UnexpectedShapeError, UpstreamError } from "../errors.ts";
import type { Loader } from "../load/loader.ts";
import {
  countDanglingTargets,
  countUnresolved,
  type DanglingTarget,
  findDanglingTargets,
  markGone,
  noteTargetsAsked,
  resolveReferences,
  spreadGone,
} from "../load/resolve-references.ts";
import type { Logger } from "../log.ts";

/** Details asked for in one run at most; what is left over is asked for by the next. */
const MAX_DETAILS = 2000;
const BATCH = 100;
/** A slow service must not make a night endless. */
const MAX_MS = 30 * 60_000;
/** A record that was gone is not asked for again for a week. */
const GONE_FOR_MS = 7 * 86_400_000;

export interface RepairOptions {
  sql: Sql;
  client: Client;
  loader: Loader;
  clock: Clock;
  log: Logger;
  signal: AbortSignal;
  /** What to do when the database is away for a moment; each step says the same when it is done twice. @default the repair fails */
  patience?: Patience;
}

export interface Repaired {
  resolved: number;
  /** References that name records that are not here. */
  unresolved: number;
  /** Records that are referred to, and that were not asked for or gave no answer that settles anything. */
  unsettled: number;
}

/**
 * Turns URI references into keys: joins what is here, asks for what is not by its detail endpoint, stores what it finds, and writes down
 * why the rest dangles. A failure that may pass leaves a reference pending, behind those that were not asked for yet. Asks for nothing
 * once the host is lost.
 */
export async function repairReferences(options: RepairOptions): Promise<Repaired> {
  const { sql, client, clock, log, signal, patience = withStoreErrors } = options;
  const resolve = () => patience("resolve references", () => resolveReferences(sql));
  let resolved = await resolve();
  const now = clock.now();
  const goneBefore = new Date(now.getTime() - GONE_FOR_MS).toISOString();
  const due = { goneBefore, now: now.toISOString() };
  await patience("note which records are gone", () => spreadGone(sql, goneBefore));
  const targets = await patience("find references to resolve", () =>
    findDanglingTargets(sql, { ...due, limit: MAX_DETAILS }),
  );
  const endsAt = now.getTime() + MAX_MS;
  let asked = 0;
  while (asked < targets.length && !client.lost.aborted && clock.now().getTime() < endsAt) {
    signal.throwIfAborted();
    const batch = targets.slice(asked, asked + BATCH);
    asked += batch.length;
    await Promise.all(batch.map((target) => fetchTarget(options, target)));
    const at = clock.now().toISOString();
    await patience("note which references were asked for", () => noteTargetsAsked(sql, batch, at));
  }
  resolved += await resolve();
  const unresolved = await patience("count unresolved references", () => countUnresolved(sql));
  if (unresolved > 0) log.info({ unresolved }, "references still name records that are not here");
  const after = { ...due, now: clock.now().toISOString() };
  const unsettled = await patience("count references to ask for", () => countDanglingTargets(sql, after));
  return { resolved, unresolved, unsettled };
}

async function fetchTarget(options: RepairOptions, target: DanglingTarget): Promise<void> {
  const { sql, client, loader, log, patience = withStoreErrors } = options;
  try {
    const detail = await fetchDetail(client, target.resource, target.key);
    await loader.load({
      resource: target.resource,
      pages: [{ ...detail, records: [detail.record] }],
      source: "detail",
    });
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    const isGone = error instanceof HttpStatusError && (error.status === 404 || error.status === 410);
    // A list, which is what a version asked for by a project's slug gives, will never be the record. A reply that could not be read at
    // all (it has a cause) is a proxy's page, which passes.
    const isNoRecord = error instanceof UnexpectedShapeError && error.cause === undefined;
    if (isGone || isNoRecord) {
      const checkedAt = (error instanceof HttpStatusError ? error.askedAt : undefined) ?? options.clock.now();
      await patience("note that a record is gone", () => markGone(sql, target, checkedAt.toISOString()));
      return;
    }
    log.warn({ ...target, error: error.message }, "a referenced record could not be asked for");
  }
}
