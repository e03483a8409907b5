import { assertMirror } from "../../db/assert-mirror.ts";
import type { Sql } from "../../db/connect.ts";
import { withStoreErrors } from "../../db/store-errors.ts";
import { StoreError } from "../../errors.ts";
import { readDefinitions } from "../../report/definitions.ts";
import { isReportBehind, refreshReport } from "../../report/refresh.ts";
import { mirrorPlace } from "../mirror-place.ts";
import type { CommandContext } from "../run-command.ts";

/** Missing rights, and a server or a session that only reads. */
const MAY_NOT_WRITE = ["42501", "25006"];

/**
 * Makes sure that the answers of schema `report` are those of the last run that ended: a run that was killed leaves them behind. Where this
 * role may not bring them up to date it says so on stderr, and what is there is read as it is. Throws what `refreshReport` throws, and
 * SchemaVersionError.
 */
export async function refreshIfBehind(
  { config, log, signal }: Pick<CommandContext, "config" | "log" | "signal">,
  url: string,
  sql: Sql,
): Promise<void> {
  if (await isReaderAlone(sql)) {
    if (await isBehindForReader(sql)) log.warn(MENDING, OLD);
    return;
  }
  await assertMirror(sql, readDefinitions(), mirrorPlace(config));
  const isBehind = await withStoreErrors("read how old the answers are", () => isReportBehind(sql));
  if (!isBehind) return;
  log.debug("the answers are older than the last run, and are brought up to it");
  try {
    await refreshReport(url, { ...config, keepsSettings: true, signal });
  } catch (error) {
    if (!(error instanceof StoreError && MAY_NOT_WRITE.includes(error.sqlstate ?? ""))) throw error;
    log.warn({ ...MENDING, error: error.message }, OLD);
  }
}

const OLD = "the answers are older than the last run, or were never computed";
const MENDING = { hint: "run `docmirror report` as the role that syncs, or wait for the next sync" };

/** Whether it may see no more than `docmirror grant-reader` gives. */
async function isReaderAlone(sql: Sql): Promise<boolean> {
  const [rights] = await withStoreErrors(
    "read the rights of the role",
    () => sql<{ mayLookBehind: boolean | null }[]>`
      select has_schema_privilege(to_regnamespace('rollup')::oid, 'usage') as "mayLookBehind"`,
  );
  return rights?.mayLookBehind === false;
}

/** The same question put to what a reader may see. The newest run is that of the highest number: an older one may lie ahead of now. */
async function isBehindForReader(sql: Sql): Promise<boolean> {
  const [row] = await withStoreErrors(
    "read how old the answers are",
    () => sql<{ isBehind: boolean }[]>`
      select coalesce(finished_at > (select max(refreshed_at) from report.freshness), true) as "isBehind"
      from report.runs where finished_at is not null order by run_id desc limit 1`,
  );
  return row?.isBehind === true;
}
