/** Computes the stored answers within the transaction of a refresh: all of them, or what hangs on the changed records. */
import type { TransactionSql } from "../../store/connection/sql.ts";
import type { StoredAnswer } from "../declare-relation.ts";
import { ANSWERS, BUILDS, DATES, SERIES, STORED_DIMENSIONS } from "../stored/answers.ts";
import {
  ADD_DIFFERING,
  ADD_DUE,
  ADD_FAILED,
  FIND_AFFECTED,
  FIND_CHANGED,
  FIND_DAYS_BEYOND,
  TAKE_TOUCHED,
  WRITE_CHANGED,
} from "./changed-builds.ts";
import {
  addAllStatement,
  findDifferingStatement,
  mergePartsStatement,
  writeDifferingStatements,
} from "./merge-statements.ts";

/** When more builds changed than this, and more than this share of them, it costs less to compute all answers. */
const FEW = 1000;
const FEW_SHARE = 0.03;

const NOTE_NEXT_DATE = `
  update rollup.state set (next_dated_at, builds_dated_ahead) = (
    select min(ahead_until), count(*)::int from ${BUILDS.table} where ahead_until is not null)`;

/** Runs a statement; the result has the number of its rows. */
export type Run = (text: string) => Promise<{ count: number }>;

export interface Computed {
  /** Builds whose facts changed; all of them where everything was computed again. */
  changed: number;
  /** Facts that were wrong although no change was noted; null where they were not compared. */
  repaired: number | null;
  /** Whether everything was computed again. */
  isFull: boolean;
}

/** What a refresh has to do besides what writers noted. */
export interface Due {
  /** Classify all failures again. */
  reclassify: boolean;
  /** Compare all facts with their builds. */
  isCheckDue: boolean;
  /** A build whose date was beyond tomorrow can be counted. */
  isAheadOver: boolean;
  /** A year has begun that is not in the calendar yet. */
  isCalendarOver: boolean;
}

/** Computes all answers but the expensive ones from all builds. */
export async function computeEverything(tx: TransactionSql, run: Run): Promise<Computed> {
  await tx`delete from sync.touched_records`;
  await tx`analyze rollup.state`;
  for (const answer of [BUILDS, ...STORED_DIMENSIONS, DATES, ...ANSWERS]) await computeAll(run, answer);
  await tx`update rollup.state set checked_at = now(), facts_repaired = 0`;
  await run(NOTE_NEXT_DATE);
  const [counted] = await tx<{ builds: number }[]>`select count(*) as builds from rollup.builds`;
  return { changed: counted?.builds ?? 0, repaired: null, isFull: true };
}

/** Computes an answer from all that it depends on. */
export async function computeAll(run: Run, answer: StoredAnswer): Promise<void> {
  if ((await run(`select from ${answer.table} limit 1`)).count === 0) await run(addAllStatement(answer));
  else {
    if ((await run(findDifferingStatement(answer))).count > 0)
      for (const statement of writeDifferingStatements(answer)) await run(statement);
    await run("drop table differing");
  }
  // Where nothing differs too: statistics may be lost, as an upgrade of Postgres loses them.
  await run(`analyze ${answer.table}`);
}

/** Brings up to date what hangs on the records that changed. Where none did, it only asks. */
export async function computeChanges(
  tx: TransactionSql,
  run: Run,
  { reclassify, isCheckDue, isAheadOver, isCalendarOver }: Due,
): Promise<Computed> {
  const [noted] = await tx<{ is_any: boolean | null }[]>`
    select bool_or(record_id is null) as is_any from sync.touched_records`;
  // A row without an id: any record may have changed, so all are compared.
  const isAny = noted?.is_any === true;
  const isQuiet = typeof noted?.is_any !== "boolean";
  if (isQuiet && !isCheckDue && !reclassify && !isAheadOver) {
    if (isCalendarOver) await run(mergePartsStatement(DATES));
    return { changed: 0, repaired: null, isFull: false };
  }
  // On a first night there is nothing to compare with.
  if (isAny && (await run("select from rollup.series limit 1")).count === 0)
    return computeEverything(tx, run);
  await run(TAKE_TOUCHED);
  if (reclassify) await run(ADD_FAILED);
  if (isAheadOver) await run(ADD_DUE);
  const differing = isAny || isCheckDue ? (await run(ADD_DIFFERING)).count : 0;
  await run("analyze touched");
  const changed = (await run(FIND_CHANGED)).count;
  if (changed > 0) {
    await run(WRITE_CHANGED);
    await run(NOTE_NEXT_DATE);
  }
  for (const answer of STORED_DIMENSIONS) await run(mergePartsStatement(answer));
  if (isCalendarOver) await run(mergePartsStatement(DATES));
  if (changed > 0) await computeAnswers(tx, run, changed);
  // These are not computed from facts, or are counted on from what was stored.
  if (isAny || isCheckDue) for (const answer of [...STORED_DIMENSIONS, SERIES]) await computeAll(run, answer);
  if (!isCheckDue || isAny) return { changed, repaired: null, isFull: false };
  await tx`update rollup.state set checked_at = now(), facts_repaired = ${differing}`;
  return { changed, repaired: differing, isFull: false };
}

/** Computes what hangs on the facts that changed: each part of it, or all where many changed. */
async function computeAnswers(tx: TransactionSql, run: Run, changed: number): Promise<void> {
  const [stored] = await tx<{ builds: number }[]>`
    select reltuples::float8 as builds from pg_class where oid = 'rollup.builds'::regclass`;
  if (changed > Math.max(FEW, FEW_SHARE * (stored?.builds ?? 0))) {
    await run("analyze rollup.builds");
    for (const answer of [DATES, ...ANSWERS]) await computeAll(run, answer);
    return;
  }
  await run(FIND_AFFECTED);
  await run("analyze affected");
  if ((await run(FIND_DAYS_BEYOND)).count > 0) await run(mergePartsStatement(DATES));
  for (const answer of ANSWERS) await run(mergePartsStatement(answer));
}
