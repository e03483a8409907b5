import { UnexpectedShapeError, UpstreamError } from "../../base/errors.ts";
import { recordId } from "../../resources/record-id.ts";
import { aboutList } from "../api/client.ts";
import { fetchDetail } from "../api/fetch-detail.ts";
import { isGone } from "../api/retry.ts";
import {
  countDanglingTargets,
  countUnresolved,
  type DanglingTarget,
  findDanglingTargets,
  markGone,
  recordTargetsAsked,
  resolveReferences,
  spreadGone,
} from "../load/resolve-references.ts";
import type { RunParts } from "../load/run-parts.ts";

/** The most details requested in one run. The next run requests the rest. */
const MAX_DETAILS = 2000;
const BATCH = 100;
/** A time limit, so that a slow service cannot make a night endless. */
const MAX_MS = 30 * 60_000;
/** A gone record is not requested again for a week. */
const GONE_FOR_MS = 7 * 86_400_000;

type RepairOptions = Omit<RunParts, "runId" | "startedAt">;

export interface Repaired {
  resolved: number;
  /** The number of references whose record is not here. */
  unresolved: number;
  /** The number of referenced records that were not requested, or gave no usable answer. */
  unsettled: number;
}

/**
 * Turns URI references into keys. Sets the keys of records that are here, requests the details of the others,
 * loads what it finds, and stores why the rest stays unresolved. After a temporary failure a reference stays
 * pending, and waits until the others had their turn. Requests nothing once the host is lost.
 */
export async function repairReferences(options: RepairOptions): Promise<Repaired> {
  const { sql, client, clock, log, signal, patience } = options;
  const resolve = () => patience("resolve references", () => resolveReferences(sql));
  let resolved = await resolve();
  const now = clock.now();
  const goneBefore = new Date(now.getTime() - GONE_FOR_MS).toISOString();
  const due = { goneBefore, now: now.toISOString() };
  await patience("mark gone references", () => spreadGone(sql, goneBefore));
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
    await patience("store which references were requested", () => recordTargetsAsked(sql, batch, at));
  }
  if (asked > 0) resolved += await resolve();
  const unresolved = await patience("count unresolved references", () => countUnresolved(sql));
  if (unresolved > 0) log.info({ unresolved }, "some references are still unresolved");
  const after = { ...due, now: clock.now().toISOString() };
  const unsettled = await patience("count due references", () => countDanglingTargets(sql, after));
  return { resolved, unresolved, unsettled };
}

async function fetchTarget(options: RepairOptions, target: DanglingTarget): Promise<void> {
  const { sql, loader, patience } = options;
  const { resource, key } = target;
  const { client, log } = aboutList(options, resource);
  try {
    const detail = await fetchDetail(client, resource, key);
    if (!isAsked(detail.record, target))
      throw new UnexpectedShapeError(`another ${resource} came for '${key}'`, { url: detail.request });
    const pages = [{ ...detail, records: [detail.record] }];
    await loader.load({ resource, pages, source: "detail" });
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    // A list is final: services answer so when a version is requested by the slug of a project. So is another
    // record. A reply that could not be read at all (it has a cause) is the error page of a proxy, which is
    // temporary.
    const isNoRecord = error instanceof UnexpectedShapeError && error.cause === undefined;
    if (isGone(error) || isNoRecord) {
      const checkedAt = (isGone(error) ? error.askedAt : undefined) ?? options.clock.now();
      await patience("store that a record is gone", () => markGone(sql, target, checkedAt.toISOString()));
      return;
    }
    log.warn({ key, error: error.message }, "requesting a referenced record failed");
  }
}

/** Whether a record is the one that was requested, by its id, or as a project by its slug. */
function isAsked(record: unknown, { resource, key }: DanglingTarget): boolean {
  return recordId(record) === key || (resource === "project" && (record as { slug?: unknown }).slug === key);
}
