/** Computes the stored answers within the transaction of a refresh: all of them, or what hangs on the records that changed. */
import { readSqlFile, type TransactionSql } from "../../store/connection/sql.ts";
import { KEY_OF_SERIES, list, type StoredAnswer, same } from "../declare-relation.ts";
import { ANSWERS, BUILD_FACTS, DATES, STORED_DIMENSIONS } from "../stored/answers.ts";

/** Runs a statement; the result has the number of its rows. */
export type Run = (text: string) => Promise<{ count: number }>;

/**
 * The rows that differ from the stored ones: they are new, gone, or have other values. A row that only one side has differs
 * too, because each answer has a value that is never null.
 */
function differing(answer: StoredAnswer, fresh: string, stored = answer.table): string {
  const { key } = answer;
  const values = valuesOf(answer);
  return `
    select ${key.map((column) => `coalesce(fresh.${column}, stored.${column}) as ${column}`).join(", ")}, ${list(values, "fresh")},
      stored.${key[0]} is null as is_new, fresh.${key[0]} is null as is_gone
    from (${fresh}) as fresh full join ${stored} as stored on ${same(key, "stored", "fresh")}
    where (${list(values, "stored")}) is distinct from (${list(values, "fresh")})`;
}

/**
 * The end of a `with` that writes the differing rows of `from`. A new row may stand elsewhere, out of the part that was
 * compared, where a stored one is wrong: it is put right then.
 */
function write(answer: StoredAnswer, from: string): string {
  const { table, columns, key, order } = answer;
  const isSame = same(key, "stored", from);
  return `
    gone as (
      delete from ${table} as stored using ${from} where is_gone and ${isSame}
    ), moved as (
      update ${table} as stored set ${assignments(answer, from)} from ${from} where not is_new and not is_gone and ${isSame}
    )
    insert into ${table} as stored (${list(columns)}) select ${list(columns)} from ${from} where is_new order by ${list(order)}
    on conflict (${list(key)}) do update set ${assignments(answer, "excluded")}`;
}

function assignments(answer: StoredAnswer, from: string): string {
  const values = valuesOf(answer);
  // The values that facts of builds show, in whose updated_at the stamp counts.
  const names = values.filter((column) => /_(slug|name)$|^(is_main|project_id)$/.test(column));
  const stamped: Readonly<Record<string, string>> = {
    updated_at: "now()",
    renamed_at: `case when (${list(names, "stored")}) is distinct from (${list(names, from)}) then now() else stored.renamed_at end`,
  };
  return [
    ...values.map((column) => `${column} = ${from}.${column}`),
    ...answer.stamps.map((stamp) => `${stamp} = ${stamped[stamp]}`),
  ].join(", ");
}

function valuesOf({ columns, key }: StoredAnswer): string[] {
  return columns.filter((column) => !key.includes(column));
}

/** Computes an answer from all that it depends on. Rows that are right are not written. */
export async function computeAll(run: Run, answer: StoredAnswer): Promise<void> {
  const { table, columns, order } = answer;
  // Most error lines are equal. This source looks at each once, which is cheaper from a few builds on.
  const source = answer === BUILD_FACTS ? "rollup.all_builds_source" : answer.source;
  const all = `select ${list(columns)} from ${source}`;
  // The planner may still think that a table is empty, as in a first night, and nested loops over all builds take minutes.
  await run("set local enable_nestloop = off");
  if ((await run(`select from ${table} limit 1`)).count === 0)
    await run(`insert into ${table} (${list(columns)}) ${all} order by ${list(order)}`);
  else {
    // Postgres uses several processes to create a table from a query, but not to write to an existing table.
    const { count } = await run(
      `create temporary table differing on commit drop as ${differing(answer, all)}`,
    );
    if (count > 0) {
      await run("analyze differing");
      await run(`with ${write(answer, "differing")}`);
    }
    await run("drop table differing");
  }
  await run("set local enable_nestloop = on");
  // Where nothing differs too: statistics may be lost, as an upgrade of Postgres loses them.
  await run(`analyze ${table}`);
}

/** Computes the parts of an answer that changes affect, or all of one without parts. */
async function computeParts(run: Run, answer: StoredAnswer): Promise<void> {
  const { table, source, columns, parts } = answer;
  if (parts === null) return computeAll(run, answer);
  const { query, scope, isWithin = () => "true" } = parts;
  const { rows = `select * from ${source} as source where ${same(scope, "source", "part")}` } = parts;
  // Without OFFSET 0 Postgres would compute the whole source and join it.
  const fresh = `
    select ${list(columns, "fresh")} from part cross join lateral (${rows} offset 0) as fresh where ${isWithin("fresh")}`;
  const within = `
    select ${list(columns, "stored")} from part join ${table} as stored on ${same(scope, "stored", "part")} and ${isWithin("stored")}`;
  await run(`
    with part as materialized (${query}), differing as materialized (${differing(answer, fresh, `(${within})`)}),
    ${write(answer, "differing")}`);
}

// The statements that find which facts of builds changed hand on temporary tables: `touched` (records that may have
// changed), `changed` (facts that did) and `affected` (the parts of other answers that hang on these facts).

const read = (name: string): string => readSqlFile(new URL(`sql/${name}.sql`, import.meta.url));

const TAKE_TOUCHED = read("take_touched");
const FIND_AFFECTED = read("find_affected");
const FIND_DAYS_BEYOND = read("find_days_beyond");

const touchBuilds = (from: string): string => `
  insert into touched select 'build', build_id from ${from} except select resource, id from touched`;

/** The class of an error is not compared: it follows from the record and from rules that users edit. */
const COMPARED = BUILD_FACTS.columns.filter(
  (column) =>
    !["error_class", "error_fingerprint", "error_line", "masked_line", "error_line_id"].includes(column),
);

/** Every build whose fact is not what its records give. */
const DIFFERING = `
  (select ${list(COMPARED)} from rollup.build_facts) as fresh
  full join (select ${list(COMPARED)} from ${BUILD_FACTS.table}) as stored using (build_id)
  where (${list(COMPARED.slice(1), "stored")}) is distinct from (${list(COMPARED.slice(1), "fresh")})`;

/** Other answers hang on a fact by these columns, by its old values and by its new ones. */
const PLACES = [...KEY_OF_SERIES, "triggered_at", "triggered_on", "error_fingerprint"];

/**
 * Computes the facts of the touched builds, and keeps those that differ from the stored ones. The ids come as an array, which the planner
 * hands to each part of the joins, in whatever order these are: a join with `touched` would have to come first.
 */
const FIND_CHANGED = `
  create temporary table changed on commit drop as
  with fresh as materialized (
    select ${list(BUILD_FACTS.columns)} from ${BUILD_FACTS.source}
    where build_id = any(array(select id from touched where resource = 'build'))
  )
  select touched.id as build_id, stored.build_id is null as is_new, fresh.build_id is null as is_gone, ${list(BUILD_FACTS.columns.slice(1), "fresh")},
    ${PLACES.map((column) => `stored.${column} as old_${column}`).join(", ")}
  from touched
  left join fresh on fresh.build_id = touched.id
  left join ${BUILD_FACTS.table} as stored on stored.build_id = touched.id
  where resource = 'build' and (${list(BUILD_FACTS.columns, "stored")}) is distinct from (${list(BUILD_FACTS.columns, "fresh")})`;

/** When more builds changed than this, and more than this share of them, it costs less to compute all answers. */
const FEW = 1000;
const FEW_SHARE = 0.03;

const NOTE_NEXT_DATE = `
  update rollup.state set (next_dated_at, builds_dated_ahead) = (
    select min(ahead_until), count(*)::int from ${BUILD_FACTS.table} where ahead_until is not null)`;

export interface Computed {
  /** Builds whose facts changed; all of them where everything was computed again. */
  changed: number;
  /** Facts that were wrong although no change was noted; null where they were not compared. */
  repaired: number | null;
  /** True where everything was computed anew. */
  isFull: boolean;
}

/** Work that is due besides what writers noted. */
interface Due {
  /** Classifies all failures again. */
  reclassify: boolean;
  /** Compares all facts with their builds. */
  isCheckDue: boolean;
  /** A build was dated beyond tomorrow, and is not any more. A year has begun that the calendar lacks. */
  isAheadOver: boolean;
  isCalendarOver: boolean;
  /** Writers noted that any record may have changed (true), ids (false), or nothing (null). */
  isAnyTouched: boolean | null;
}

/** Computes all answers but the expensive ones from all builds. */
export async function computeEverything(tx: TransactionSql, run: Run): Promise<Computed> {
  await tx`delete from sync.touched_records`;
  await tx`analyze rollup.state`;
  for (const answer of [BUILD_FACTS, ...STORED_DIMENSIONS, DATES, ...ANSWERS]) await computeAll(run, answer);
  await tx`update rollup.state set checked_at = now(), facts_repaired = 0`;
  await run(NOTE_NEXT_DATE);
  const [counted] = await tx<{ builds: number }[]>`select count(*) as builds from rollup.builds`;
  return { changed: counted?.builds ?? 0, repaired: null, isFull: true };
}

/**
 * Brings up to date what hangs on the records that changed. Where none did, it only asks.
 *
 * A row without an id says that any record may have changed: writers note one while there is no answer about a build, and while
 * the table is large. Ids may stand beside it, of statements before and after, such as those of versions where the row stands for
 * their projects: on a first night, when the first refresh ends between two lists. Then the ids are not all that changed, and
 * nothing may be computed from them alone, so everything is. The same rows come back with a backup.
 */
export async function computeChanges(
  tx: TransactionSql,
  run: Run,
  { reclassify, isCheckDue, isAheadOver, isCalendarOver, isAnyTouched }: Due,
): Promise<Computed> {
  if (isAnyTouched === true) return computeEverything(tx, run);
  if (isAnyTouched === null && !isCheckDue && !reclassify && !isAheadOver) {
    if (isCalendarOver) await computeAll(run, DATES);
    return { changed: 0, repaired: null, isFull: false };
  }
  await run(TAKE_TOUCHED);
  // The builds of a version that went, or came back.
  const kept = "mirror.kept_versions where version_id in (select id from touched where resource = 'version')";
  await run(touchBuilds(kept));
  if (reclassify) await run(touchBuilds("rollup.builds where failed = 1"));
  // A date that was beyond tomorrow is not any more.
  if (isAheadOver) await run(touchBuilds("rollup.builds where ahead_until <= now()"));
  const differing = isCheckDue ? (await run(touchBuilds(DIFFERING))).count : 0;
  await run("analyze touched");
  // To try the orders of all its joins would take longer than the facts of some hundred builds.
  await run("set local join_collapse_limit = 8");
  const changed = (await run(FIND_CHANGED)).count;
  await run("set local join_collapse_limit = 20");
  if (changed > 0) {
    await run(`with ${write(BUILD_FACTS, "changed")}`);
    await run(NOTE_NEXT_DATE);
  }
  for (const answer of STORED_DIMENSIONS) await (isCheckDue ? computeAll : computeParts)(run, answer);
  if (isCalendarOver) await computeAll(run, DATES);
  if (changed > 0) await computeAnswers(tx, run, changed);
  if (!isCheckDue) return { changed, repaired: null, isFull: false };
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
  if ((await run(FIND_DAYS_BEYOND)).count > 0) await computeAll(run, DATES);
  for (const answer of ANSWERS) await computeParts(run, answer);
}
