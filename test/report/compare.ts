import { DICTIONARY } from "../../src/report/dictionary.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import type { Row } from "./model/rates.ts";
import { type Answers, MODELLED, type Modelled } from "./model.ts";

/** The dimensions tell records as they are: there is nothing to compute, yet they are kept up to date as well. */
export const COMPARED = [...MODELLED, "dim_projects", "dim_versions", "dim_dates"] as const;
export type Compared = (typeof COMPARED)[number];

/** When a row was written is no answer, and who hits as many projects as often may stand in either order. */
const NOT_COMPARED: Partial<Record<Compared, readonly string[]>> = {
  fact_builds: ["updated_at", "fact_updated_at"],
  dim_projects: ["updated_at", "renamed_at"],
  dim_versions: ["updated_at", "renamed_at"],
  error_classes: ["rank"],
  // Only the database knows masks; error-lines.test.ts has their cases.
  error_fingerprints: ["rank", "mask"],
  error_lines: ["rank"],
};
/** Of numbers that are not whole. */
const PRECISION = 1e-9;
const TOLD = 8;

export async function readRelation(sql: Sql, relation: Compared): Promise<Row[]> {
  const columns = Object.keys(DICTIONARY[relation].columns);
  return [...(await sql<Row[]>`select ${sql(columns)} from ${sql(`report.${relation}`)}`)];
}

/** What the database answers otherwise than the model, a sentence each. */
export async function findDifferences(sql: Sql, answers: Answers): Promise<string[]> {
  const found: string[] = [];
  for (const [relation, expected] of Object.entries(answers) as [Modelled, Row[]][])
    found.push(...compareRows(relation, await readRelation(sql, relation), expected));
  return found;
}

/** What is different between two answers; only columns that an expected row has are looked at. */
export function compareRows(
  relation: Compared,
  actual: readonly Row[],
  expected: readonly Row[],
  keys: readonly string[] = DICTIONARY[relation].key,
): string[] {
  const keyOf = (row: Row) => keys.map((column) => String(row[column])).join(" ");
  const skipped = NOT_COMPARED[relation] ?? [];
  const rows = new Map(actual.map((row) => [keyOf(row), row]));
  const differences = rows.size === actual.length ? [] : [`${relation} has a row twice`];
  for (const wanted of expected) {
    const key = keyOf(wanted);
    const row = rows.get(key);
    if (!rows.delete(key)) differences.push(`${relation} has no row ${key}`);
    for (const column of Object.keys(row ? wanted : {}))
      if (!skipped.includes(column) && !isSame(row?.[column], wanted[column], column))
        differences.push(`${relation} ${key}: ${column} is ${row?.[column]}, not ${wanted[column]}`);
  }
  differences.push(...[...rows.keys()].map((key) => `${relation} has a row ${key} that is not expected`));
  const more = differences.length - TOLD;
  return more > 0 ? [...differences.slice(0, TOLD), `${relation}: ${more} more`] : differences;
}

function isSame(one: Row[string] | undefined, other: Row[string] | undefined, column: string): boolean {
  if (typeof one !== "number" || typeof other !== "number") return one === other;
  const size = Math.max(Math.abs(one), Math.abs(other), column === "probability" ? 0 : 1);
  return Math.abs(one - other) <= PRECISION * size;
}
