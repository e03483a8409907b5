/**
 * Missing records: live records that the newest whole walk of their list, or a search for differences, did not show. They
 * stay missing until a walk shows them again, or their details answer that they are gone. Too many at once are held back:
 * nobody asks for their details, and their list is taken to show them, until `held_until`.
 */
import type { Clock } from "../../base/clock.ts";
import { counted, grouped } from "../../base/text.ts";
import type { Resource } from "../../resources/resources.ts";
import type { Patience } from "../../store/connection/patience.ts";
import { type AnySql, oneRow, type Sql, statement, type TransactionSql } from "../../store/connection/sql.ts";
import type { Unfinished } from "../../store/schema/runs.ts";
import { countListed } from "../load/live-count.ts";
import { recordStatement } from "../load/tables.ts";
import type { OpenRange } from "../walk/bisection.ts";
import type { IdSet } from "../walk/id-set.ts";

type Unsettled = Pick<Unfinished, "deletions" | "waiting"> & { missing: number };

const COUNT_NOTED = statement<{ waiting: number; hidden: number; due: number }>(
  "count_noted",
  import.meta.url,
);
const COUNT_UNSETTLED = statement<Unsettled>("count_unsettled", import.meta.url);
const OPEN_ENDS = recordStatement<Omit<OpenEnds, "first"> & IdWindow>("open_ends", import.meta.url);
const ID_WINDOW = recordStatement<IdWindow>("id_window", import.meta.url);
const UNLISTED_IDS = recordStatement<{ id: string }>("unlisted_ids", import.meta.url);
const NOTE_MISSING = statement("note_missing", import.meta.url);
const FIND_MISSING = statement<MissingRecord>("find_missing", import.meta.url);
const RECORD_ASKED = statement("record_asked", import.meta.url);
const NOTE_UNSHOWN = statement("note_unshown", import.meta.url, { isPlannedEachTime: true });

/** The number of ids compared at once, so that memory does not grow with the table. */
const WINDOW = 5000;
/** A record is kept, and costs no verdict any more, after so many runs whose answers decided nothing. */
const RUNS_TO_DECIDE = 3;
/** This many may always go missing, because 5 % of a list of 40 would be only 2. */
export const ALWAYS_ALLOWED = 20;

export interface MissingFacts {
  resource: Resource;
  seen: Pick<IdSet, "has" | "size">;
  runId: number;
  /** The run in which the walk began. For a resumed walk it is an earlier one. */
  beganRunId: number;
  noticedAt: string;
  /** The share of the known records that may be missing, 0 to 1; 20 always may. */
  maxDeleteRatio: number;
  /** The time for which whole walks must miss what is held back before its details are asked for; "never": a person decides. */
  deleteHeldAfterMs: number | "never";
  allowMassDelete: boolean;
  /** As they were before the walk is closed. */
  ends: OpenEnds;
}

/** The facts of earlier walks that the end of a whole walk may settle. On most nights there are none. */
export interface OpenEnds {
  /** Missing records that are noted. */
  missing: number;
  /** Records and holes in quarantine. */
  refused: number;
  /** The last remembered page; null where there is none. */
  lastPage: number | null;
  /**
   * The records that were deleted and came back since the run in which the walk began: that may have passed their places before.
   */
  restored: string[];
  first: IdWindow;
}

/** All of it, and the first ids of the list, with one statement. */
export async function findOpenEnds(
  tx: TransactionSql,
  resource: Resource,
  beganRunId: number,
): Promise<OpenEnds> {
  const found = OPEN_ENDS(tx, resource, { beganRunId, after: "", window: WINDOW });
  const { ids, last, rows, ...ends } = await oneRow(found);
  return { ...ends, first: { ids, last, rows } };
}

/**
 * Stores which live records a whole walk did not see, in the transaction that ends it. When those that no earlier walk
 * missed are too many, they are held back, and `held` says so: each until whole walks have missed it for
 * `deleteHeldAfterMs`, but until a person decides where more than half of the list would go. Throws when the walk saw
 * nothing although records are known.
 *
 * Counts the live records of the list (`live`) and those of them that the walk saw (`met`), and of those that were
 * stored before it began (`known`) the ones that it did not see (`missing`).
 */
export async function recordMissing(tx: TransactionSql, facts: MissingFacts) {
  const { resource, seen, beganRunId, runId, noticedAt, deleteHeldAfterMs, ends } = facts;
  const heldForMs = deleteHeldAfterMs === "never" ? null : deleteHeldAfterMs;
  const isAnyNoted = ends.missing > 0;
  const keptSeen = isAnyNoted ? await forgetSeen(tx, resource, seen, beganRunId) : 0;
  const [noted] = isAnyNoted ? await COUNT_NOTED(tx, { resource, heldForMs, noticedAt }) : [];
  const counts = { live: 0, met: 0, known: 0, missing: 0 };
  for await (const { older, newer } of liveIds(tx, resource, beganRunId, ends)) {
    if (seen.size === 0) throw new Error(`a walk of ${resource}s that saw nothing was accepted as whole`);
    const countSeen = (ids: readonly string[]) => ids.reduce((met, id) => met + (seen.has(id) ? 1 : 0), 0);
    const olderMet = countSeen(older);
    counts.live += older.length + newer.length;
    counts.met += olderMet + countSeen(newer);
    counts.known += older.length;
    counts.missing += older.length - olderMet;
  }
  const { known, missing } = counts;
  if (missing === 0) return { ...counts, held: null };
  const { waiting = 0, hidden = 0, due = 0 } = noted ?? {};
  const waitsMs = 2 * (missing - hidden) > known ? null : heldForMs;
  // Records that an earlier walk missed, and that wait for their details, are not new.
  const fresh = missing - (waiting - keptSeen) - (waitsMs === null ? 0 : due);
  const isHeld = fresh > mostMissing(known, facts);
  for await (const { older } of liveIds(tx, resource, beganRunId, ends)) {
    const unseen = older.filter((id) => !seen.has(id));
    await NOTE_MISSING(tx, { resource, runId, unseen, noticedAt, isHeld, waitsMs });
  }
  const held = isHeld ? (await findHeld(tx)).find((one) => one.resource === resource) : undefined;
  return { ...counts, held: held ? describeHeld(held) : null };
}

/** The records of a list whose deletion is held back. */
export interface HeldDeletions {
  resource: Resource;
  records: number;
  /** Since when the first of them was missed. */
  since: string;
  /** Until when the last of them is kept; a whole walk after that lets them go. Null: until a person decides. */
  until: string | null;
}

export async function findHeld(sql: AnySql): Promise<HeldDeletions[]> {
  return sql<HeldDeletions[]>`
    select resource, count(*) as records, min(noticed_at) as since, nullif(max(held_until), 'infinity') as until
    from sync.missing_records where held_until is not null group by resource order by resource`;
}

/** For people: how many records of which list wait, since when, until when, and the command. */
export function describeHeld({ resource, records, since, until }: HeldDeletions): string {
  const toMinute = (moment: string) => `${new Date(moment).toISOString().slice(0, 16)}Z`;
  const have = records === 1 ? "has" : "have";
  const kept = until === null ? "until a person decides" : `at least until ${toMinute(until)}`;
  return (
    `${counted(records, resource)} ${have} been missing from the list since ${toMinute(since)}, more than ` +
    `DOCMIRROR_MAX_DELETE_RATIO allows: they are kept ${kept}; ` +
    "`docmirror sync --full --allow-mass-delete` deletes now what is gone"
  );
}

/** The most records that may go missing at once, of those that are known. */
export function mostMissing(
  known: number,
  { maxDeleteRatio, allowMassDelete }: Pick<MissingFacts, "maxDeleteRatio" | "allowMassDelete">,
): number {
  return allowMassDelete ? Number.POSITIVE_INFINITY : Math.max(ALWAYS_ALLOWED, maxDeleteRatio * known);
}

/** One row of `id_window.sql`. `last` is the last one of the ids. */
interface IdWindow {
  ids: string;
  last: string | null;
  rows: number;
}

/**
 * In windows. `older`: those that existed when the walk began, by run ids, because a clock may be wrong, but for those that were restored
 * since.
 */
async function* liveIds(
  tx: TransactionSql,
  resource: Resource,
  beganRunId: number,
  { first, restored }: Pick<OpenEnds, "first" | "restored">,
): AsyncGenerator<Record<"older" | "newer", string[]>> {
  const back = new Set(restored);
  const isBack = (id: string) => back.has(id);
  let isByKey = false;
  for (let window: IdWindow | undefined = first; window && window.rows > 0; ) {
    const { ids, last, rows }: IdWindow = window;
    const { older, newer } = JSON.parse(ids) as Record<"older" | "newer", string[]>;
    yield { older: older.filter((id) => !isBack(id)), newer: [...newer, ...older.filter(isBack)] };
    if (last === null || rows < WINDOW) break;
    // Only the primary key gives a window without a look at the whole table. A planner without statistics, as on
    // a first night, would sort the table for each of them.
    if (!isByKey) isByKey = await readByKey(tx, true);
    [window] = await ID_WINDOW(tx, resource, { beganRunId, after: last, window: WINDOW });
  }
  if (isByKey) await readByKey(tx, false);
}

/** Keeps the planner of this transaction from whole tables, or no longer. */
async function readByKey(tx: TransactionSql, isByKey: boolean): Promise<boolean> {
  const may = isByKey ? "off" : "on";
  await tx`select set_config('enable_seqscan', ${may}, true), set_config('enable_bitmapscan', ${may}, true)`;
  return isByKey;
}

/** The rows that a list need not show, as of deleted records, and that a walk saw: they went, or came back, while it read. */
export async function countUnlisted(
  tx: TransactionSql,
  resource: Resource,
  seen: Pick<IdSet, "has">,
): Promise<number> {
  let met = 0;
  for (let last = "", isLast = false; !isLast; ) {
    const rows = await UNLISTED_IDS(tx, resource, { last, window: WINDOW });
    met += rows.filter(({ id }) => seen.has(id)).length;
    last = rows.at(-1)?.id ?? last;
    isLast = rows.length < WINDOW;
  }
  return met;
}

/**
 * Removes missing records that a walk saw. `upTo`: the run in which the walk began, where that may be an earlier one. What
 * was noticed since may have gone behind the reader, and is kept, unless it is held back: returns how many.
 */
export async function forgetSeen(
  sql: Sql | TransactionSql,
  resource: Resource,
  seen: Pick<IdSet, "has">,
  upTo = Number.POSITIVE_INFINITY,
): Promise<number> {
  let kept = 0;
  // In windows: a cursor would block all other statements of the transaction.
  for (let last = "", isLast = false; !isLast; ) {
    const missing = await sql<{ id: string; runId: number; isHeld: boolean }[]>`
      select record_id as id, run_id as "runId", held_until is not null as "isHeld" from sync.missing_records
      where record_id > ${last} and resource = ${resource} order by record_id limit ${WINDOW}`;
    const met = missing.filter(({ id }) => seen.has(id));
    const old = met.filter(({ runId, isHeld }) => isHeld || runId <= upTo).map(({ id }) => id);
    if (old.length > 0) await forgetMissing(sql, resource, old);
    kept += met.length - old.length;
    last = missing.at(-1)?.id ?? last;
    isLast = missing.length < WINDOW;
  }
  return kept;
}

/** Upstream still has these records. */
export async function forgetMissing(sql: Sql | TransactionSql, resource: Resource, ids: readonly string[]) {
  await sql`
    delete from sync.missing_records where resource = ${resource} and record_id = any (${ids as string[]}::text[])`;
}

export type MissingRecord = { resource: Resource; id: string };

/** In turn from each resource: never requested (`onlyNew`: no others), the longest ago, last what nothing settles. */
export async function findMissing(
  sql: Sql,
  resources: readonly Resource[],
  { limit, now, onlyNew = false }: { limit: number; now: string; onlyNew?: boolean },
): Promise<MissingRecord[]> {
  return FIND_MISSING(sql, { resources, limit, now, onlyNew, runsToDecide: RUNS_TO_DECIDE });
}

export interface AskedRecord extends MissingRecord {
  /** `waiting`: gone within the lag of its last sighting; `undecided`: it decided nothing; `silent`: no answer. */
  outcome: "found" | "waiting" | "undecided" | "silent";
}

/** Stores what the details of missing records answered. Safe to repeat with the same moment. */
export async function recordAsked(tx: TransactionSql, answers: readonly AskedRecord[], at: string) {
  if (answers.length > 0) await RECORD_ASKED(tx, { answers: JSON.stringify(answers), at });
}

/**
 * The missing records that are not settled: `deletions` without a usable answer in less than three runs, and those
 * that are gone and wait for the lag. `missing`: all that are not held back. With `runId` only those that this run noted, or
 * that nobody asked for.
 */
export async function countUnsettled(sql: Sql, runId: number | null = null) {
  const [row] = await COUNT_UNSETTLED(sql, { runId, runsToDecide: RUNS_TO_DECIDE });
  return row ?? { missing: 0, deletions: 0, waiting: 0 };
}

/** A record that its list no longer shows, and that is kept because its detail decides nothing. */
export interface UndecidedRecord {
  resource: Resource;
  id: string;
  /** When a walk first missed it. */
  noticed_at: string;
  asked_at: string | null;
}

/** The records that nothing settles: how many, and the first of them by the time they were noticed. */
export async function findUndecided(sql: AnySql, limit: number) {
  const first = await sql<UndecidedRecord[]>`
    select resource, record_id as id, noticed_at, asked_at from sync.missing_records
    where undecided_runs >= ${RUNS_TO_DECIDE} order by noticed_at, resource, record_id limit ${limit}`;
  const all = sql<{ count: number }[]>`
    select count(*) as count from sync.missing_records where undecided_runs >= ${RUNS_TO_DECIDE}`;
  return { ...(await oneRow(all)), first: [...first] };
}

/** The builds that replies do not show in a range that they show whole. When they are too many, none is stored. */
export interface UnshownBuilds {
  /** Why none is noted any more, or null. */
  readonly held: string | null;
  /** Notes those of a range that are not `shown`: the ids of all that replies showed there. Returns how many. Safe to repeat. */
  note(range: OpenRange, shown: readonly string[]): Promise<number>;
}

export function collectUnshown(
  { sql, clock, patience, runId }: { sql: Sql; clock: Clock; patience: Patience; runId: number },
  limits: Pick<MissingFacts, "maxDeleteRatio" | "allowMassDelete">,
): UnshownBuilds {
  let noted = 0;
  let held: string | null = null;
  let known: number | null = null;
  return {
    async note({ newerThan, olderThan }, shown) {
      if (held !== null) return 0;
      const noticedAt = clock.now().toISOString();
      known ??= (await patience("count builds", () => countListed(sql, "build"))).shown;
      const inserted = await patience("note missing builds", () =>
        NOTE_UNSHOWN(sql, {
          runId,
          noticedAt,
          newerThan: newerThan ?? "-infinity",
          olderThan: olderThan ?? "infinity",
          shown,
        }),
      );
      noted += inserted.count;
      if (noted <= mostMissing(known, limits)) return inserted.count;
      const share = `${grouped(noted)} of ${counted(known, "build")} are not where their dates are`;
      held = `${share}, more than DOCMIRROR_MAX_DELETE_RATIO allows: none is noted; \`docmirror sync --full\` says more`;
      await patience(
        "forget missing builds",
        () => sql`
          delete from sync.missing_records where resource = 'build' and run_id = ${runId} and asked_at is null and held_until is null`,
      );
      return 0;
    },
    get held() {
      return held;
    },
  };
}
