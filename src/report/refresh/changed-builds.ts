/**
 * The statements that find which facts of builds changed and bring them up to date. They hand on temporary
 * tables: `touched` (records that may have changed), `changed` (facts that did) and `affected` (the parts of
 * other answers that hang on these facts).
 */

import { KEY_OF_SERIES, list } from "../declare-relation.ts";
import { BUILDS } from "../stored/answers.ts";
import { writeStatement } from "./merge-statements.ts";

/**
 * Takes the ids that writers noted. It deletes exactly the rows that it sees, so those of a writer that
 * commits later stay for the next refresh.
 */
export const TAKE_TOUCHED = `
  create temporary table touched on commit drop as
  with taken as (delete from sync.touched_records returning resource, record_id)
  select distinct resource, record_id as id from taken where record_id is not null`;

export const ADD_FAILED = `
  insert into touched select 'build', build_id from rollup.builds where failed = 1
  except select resource, id from touched`;

/** Adds builds whose date was beyond tomorrow and is not any more. */
export const ADD_DUE = `
  insert into touched select 'build', build_id from rollup.builds where ahead_until <= now()
  except select resource, id from touched`;

/** The class of an error is not compared: it follows from the record and from rules that users edit. */
const COMPARED = BUILDS.columns.filter(
  (column) =>
    !["error_class", "error_fingerprint", "error_line", "masked_line", "error_line_id"].includes(column),
);

/** Adds every build whose fact is not what its records give. */
export const ADD_DIFFERING = `
  insert into touched
  select 'build', build_id
  from (select ${list(COMPARED)} from rollup.build_facts) as fresh
  full join (select ${list(COMPARED)} from ${BUILDS.table}) as stored using (build_id)
  where (${list(COMPARED.slice(1), "stored")}) is distinct from (${list(COMPARED.slice(1), "fresh")})
  except select resource, id from touched`;

/** What other answers hang on a fact, by its old and its new values. */
const PLACES = [...KEY_OF_SERIES, "triggered_at", "triggered_on", "error_fingerprint"];

/** Computes the facts of the touched builds, and keeps those that differ from the stored ones. */
export const FIND_CHANGED = `
  create temporary table changed on commit drop as
  with fresh as materialized (
    select ${list(BUILDS.columns)} from ${BUILDS.source}
    where build_id in (select id from touched where resource = 'build')
  )
  select touched.id as build_id, stored.build_id is null as is_new, fresh.build_id is null as is_gone, ${list(BUILDS.columns.slice(1), "fresh")},
    ${[...PLACES, "succeeded"].map((column) => `stored.${column} as old_${column}`).join(", ")}
  from touched
  left join fresh on fresh.build_id = touched.id
  left join ${BUILDS.table} as stored on stored.build_id = touched.id
  where resource = 'build' and (${list(BUILDS.columns, "stored")}) is distinct from (${list(BUILDS.columns, "fresh")})`;

export const WRITE_CHANGED = writeStatement(BUILDS, "changed");

export const FIND_AFFECTED = `
  create temporary table affected on commit drop as
  select distinct place.*
  from changed cross join lateral (values
    (${list(PLACES.map((column) => `changed.${column}`))}),
    (${list(PLACES.map((column) => `old_${column}`))})
  ) as place (project_id, version_id, type, reference, triggered_at, day, error_fingerprint)`;

/**
 * A row where the calendar may get other days: its days from the first build to the end of next year have no gap, so
 * only builds at its first day, or outside of it, change it.
 */
export const FIND_DAYS_BEYOND = `
  select from affected
  where day is not null and (day between
    (select min(day) + 1 from report.dim_dates where day >= '2000-01-01')
    and make_date(extract(year from now() at time zone 'UTC')::int + 1, 12, 31)) is not true
  limit 1`;
