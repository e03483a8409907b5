import { StoreError } from "../../base/errors.ts";
import { readDefinitions } from "../../report/definitions.ts";
import { isReportBehind, refreshReport } from "../../report/refresh/refresh.ts";
import type { Sql } from "../../store/connection/sql.ts";
import { withStoreErrors } from "../../store/connection/store-errors.ts";
import { assertMirror } from "../../store/migrate/assert-mirror.ts";
import { type MirrorSettings, mirrorPlace } from "./mirror-place.ts";
import type { CommandContext } from "./run-command.ts";

/** SQLSTATE of missing rights, and of a read-only server or session. */
const MAY_NOT_WRITE = ["42501", "25006"];

const HOW_TO_REFRESH = { hint: "run `docmirror report` as the role that syncs, or wait for the next sync" };

/**
 * Refreshes the answers of schema `report` when they are older than the last run that ended, as after a
 * killed run. Where this role may not refresh them, a warning is logged and the old answers are used. Returns
 * whether the answers are those of the last run now. Throws what `refreshReport` throws, and
 * SchemaVersionError.
 */
export async function refreshIfBehind(
  { config, log, signal }: Pick<CommandContext, "config" | "log" | "signal">,
  url: string,
  sql: Sql,
): Promise<boolean> {
  const state = await findAnswerState(sql, config);
  if (!state.isBehind) return true;
  if (state.isReaderAlone) {
    log.warn(HOW_TO_REFRESH, "the answers are older than the last run, or were never computed");
    return false;
  }
  log.debug("the answers are older than the last run; refreshing them");
  try {
    const { isLeft } = await refreshReport(url, { ...config, keepsSettings: true, signal });
    if (isLeft)
      log.warn(
        { hint: "upgrade docmirror here too" },
        "the answers are older than the last run; a later version of docmirror refreshes them",
      );
    return !isLeft;
  } catch (error) {
    if (!(error instanceof StoreError && MAY_NOT_WRITE.includes(error.sqlstate ?? ""))) throw error;
    const facts = { ...HOW_TO_REFRESH, error: error.message };
    log.warn(facts, "the answers are older than the last run, or were never computed");
    return false;
  }
}

/**
 * Reads whether the answers are older than the last run that ended, and whether the role has only the rights that
 * `docmirror grant-reader` gives. Throws SchemaVersionError, whose message names the place of `settings`, where this is
 * no mirror of this version.
 */
export async function findAnswerState(sql: Sql, settings: MirrorSettings) {
  if (await isReaderAlone(sql)) return { isBehind: await isBehindForReader(sql), isReaderAlone: true };
  await assertMirror(sql, readDefinitions(), mirrorPlace(settings));
  const isBehind = await withStoreErrors("read how old the answers are", () => isReportBehind(sql));
  return { isBehind, isReaderAlone: false };
}

async function isReaderAlone(sql: Sql): Promise<boolean> {
  const [rights] = await withStoreErrors(
    "read the rights of the role",
    () => sql<{ mayLookBehind: boolean | null }[]>`
      select has_schema_privilege(to_regnamespace('rollup')::oid, 'usage') as "mayLookBehind"`,
  );
  return rights?.mayLookBehind === false;
}

/** Asks what a reader may see. The newest run has the highest number; its times may be wrong. */
async function isBehindForReader(sql: Sql): Promise<boolean> {
  const [row] = await withStoreErrors(
    "read how old the answers are",
    () => sql<{ isBehind: boolean }[]>`
      select coalesce(finished_at > (select max(refreshed_at) from report.freshness), true) as "isBehind"
      from report.runs where finished_at is not null order by run_id desc limit 1`,
  );
  return row?.isBehind === true;
}
