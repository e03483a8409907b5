/** Repairs records that a check found wrong here, in a run of its own: each is stored again as the service shows it now. */
import type { Resource } from "../../resources/resources.ts";
import { composed, type TransactionSql, withTransaction } from "../../store/connection/sql.ts";
import { askDetail } from "../api/fetch-detail.ts";
import { RECORD_TABLES } from "../load/tables.ts";
import { confirmDeletions } from "../run/confirm-deletions.ts";
import type { OpenRun } from "../run/open-run.ts";
import { type RunOptions, withRun } from "../run/with-run.ts";
import type { Look } from "./looks.ts";

/** What became of a record that was wrong. */
export interface Repair {
  resource: Resource;
  id: string;
  outcome: "stored" | "deleted" | "left";
  /** For people. */
  did: string;
}

type Wrong = Pick<Look, "resource" | "id" | "kind">;

/**
 * Repairs what is wrong among these looks. A record that the service lacks is noted as missing, and deleted by the rules of any
 * deletion. Throws as a run does; nothing is opened where nothing is wrong.
 */
export async function repairWrong(options: RunOptions, looks: readonly Look[]): Promise<Repair[]> {
  const wrong = looks.filter(({ verdict }) => verdict === "wrong");
  if (wrong.length === 0) return [];
  const repairs: Repair[] = [];
  const { error } = await withRun(options, "repair", async (run) => {
    for (const one of wrong.filter(({ kind }) => kind !== "extra")) repairs.push(await storeAgain(run, one));
    const extra = wrong.filter(({ kind }) => kind === "extra");
    if (extra.length > 0) repairs.push(...(await letGo(run, extra, options.settings.replicaLagMs)));
    run.ending.isPartial = repairs.some(({ outcome }) => outcome === "left");
  });
  if (error !== null) throw error;
  return repairs;
}

async function storeAgain(run: OpenRun, { resource, id }: Wrong): Promise<Repair> {
  const { client, loader, sql, patience, assertMayWrite } = run;
  const answer = await askDetail(client, resource, id);
  if (answer.kind !== "found") {
    const why = answer.kind === "gone" ? "is gone" : "could not be asked for";
    return { resource, id, outcome: "left", did: `its detail ${why}: the next sync decides` };
  }
  await patience("forget what a record was", () =>
    withTransaction(sql, async (tx) => {
      await forgetContent(tx, resource, id);
      await assertMayWrite(tx);
    }),
  );
  const { detail } = answer;
  const { quarantined } = await loader.load({
    resource,
    source: "detail",
    pages: [{ ...detail, records: [detail.record] }],
  });
  return quarantined > 0
    ? { resource, id, outcome: "left", did: "it cannot be stored: see `docmirror quarantine`" }
    : { resource, id, outcome: "stored", did: "stored as the service shows it" };
}

/** The content of a row without a hash differs from any, so it is compared field by field and replaced. */
async function forgetContent(tx: TransactionSql, resource: Resource, id: string): Promise<void> {
  const { table } = RECORD_TABLES[resource];
  await composed(tx)`update ${table} set record_hash = '' where ${table.id} = ${id}`;
  if (resource !== "build") return;
  await tx`
    insert into mirror.build_logs (build_id) select id from mirror.builds where id = ${id}
    on conflict (build_id) do nothing`;
}

async function letGo(run: OpenRun, extra: readonly Wrong[], replicaLagMs: number): Promise<Repair[]> {
  const { sql, clock, patience, runId } = run;
  const noticedAt = clock.now().toISOString();
  for (const { resource, id } of extra)
    await patience(
      "note a missing record",
      () => sql`
        insert into sync.missing_records (resource, record_id, run_id, noticed_at)
        values (${resource}, ${id}, ${runId}, ${noticedAt}) on conflict (resource, record_id) do nothing`,
    );
  const resources = [...new Set(extra.map(({ resource }) => resource))];
  await confirmDeletions(run, { resources, replicaLagMs, onlyNew: true, onDeleted() {} });
  return patience("find what was deleted", async () => {
    const repairs: Repair[] = [];
    for (const { resource, id } of extra) {
      const { table } = RECORD_TABLES[resource];
      const rows = await composed(sql)`
        select from ${table} where ${table.id} = ${id} and ${table.deleted_at} is not null`;
      repairs.push(
        rows.length > 0
          ? { resource, id, outcome: "deleted", did: "marked as deleted: its detail is gone" }
          : { resource, id, outcome: "left", did: "noted as missing: a later sync asks for it again" },
      );
    }
    return repairs;
  });
}
