/**
 * Services move the texts of old builds to cold storage, and show them as empty from then on. That does not change what was known: the text
 * stays in `mirror.build_logs`, and with it the line that says why the build failed. `extra` has the empty text, so the record is
 * served as the service shows it, and the history says that it changed.
 */
import { statement, type TransactionSql } from "../../store/connection/sql.ts";
import type { Extra } from "../../store/schema/columns.ts";
import type { NormalizedRecord } from "../normalize/record.ts";
import { PLANS } from "../normalize/record-plan.ts";
import { leaveOutSilent } from "./silent-fields.ts";
import type { TableRow } from "./tables.ts";

const EMPTIED_TEXTS = statement<{ id: string; fields: string[]; isNew: boolean }>(
  "emptied_texts",
  import.meta.url,
);

/** The long texts of a build, without those of which its record says nothing. */
export const toLog = (record: NormalizedRecord): TableRow =>
  leaveOutSilent("build", record, { build_id: record.id, ...record.logs });

/**
 * Takes the texts that are empty now and were not out of `logs`, and puts them into the `extra` of their rows. Both are in the order of
 * `records`. Returns in how many builds a text has become empty since the last look.
 */
export async function keepEmptied(
  tx: TransactionSql,
  records: readonly NormalizedRecord[],
  rows: readonly TableRow[],
  logs: readonly TableRow[],
): Promise<number> {
  const builds = logs.flatMap((log, at) => {
    const { state, success, date } = rows[at] ?? {};
    return PLANS.build.long.some((name) => log[name] === "" || log[name] === null)
      ? [{ log, state, success, date }]
      : [];
  });
  if (builds.length === 0) return 0;
  const emptied = await EMPTIED_TEXTS(tx, { builds: JSON.stringify(builds) });
  const fieldsOf = new Map(emptied.map(({ id, fields }) => [id, fields]));
  for (const [at, { id, logs: sent }] of records.entries()) {
    const [row, log] = [rows[at], logs[at]];
    for (const field of fieldsOf.get(id) ?? []) {
      if (!row || !log) continue;
      delete log[field];
      const { values, ...extra } = (row.extra ?? {}) as Extra;
      row.extra = { ...extra, values: { ...values, [field]: sent?.[field] ?? null } };
    }
  }
  return emptied.filter(({ isNew }) => isNew).length;
}

/** True where a text of the log is there. */
export const hasText = (log: TableRow) => PLANS.build.long.some((name) => Boolean(log[name]));
