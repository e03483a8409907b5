import type { RunSummary } from "../../src/mirror/lists/summary.ts";
import { RESOURCES, type Resource } from "../../src/resources/resources.ts";
import { withSql } from "../../src/store/connection/connect.ts";
import type { Ids, OddWorld } from "../soak/odd-world.ts";

export interface Verdicts {
  /** What is wrong with the verdict of a run that began when the lists showed `before`; empty for a true one. */
  judge(summary: RunSummary, before: Ids): Promise<string[]>;
  /** To be called after each run, judged or not. */
  forgetGone(): void;
  /** Records that whole walks of lists without any order missed: nothing can prove those. */
  missedWithoutOrder(): number;
}

/**
 * Holds what runs say of themselves against the truth. A `whole` walk is false if it did not show a record that its list showed all through,
 * also where the mirror has that from before. `succeeded` is false while the mirror misses a record that existed all through the run and is
 * older than the last whole walk of its list, or while a phase is unfinished. `partial` is false without any reason.
 */
export function createVerdicts(url: string, world: OddWorld, unordered: ReadonlySet<Resource>): Verdicts {
  /** What existed when the newest whole walk of a list began, and exists yet. */
  const older = Object.fromEntries(RESOURCES.map((resource) => [resource, new Set()])) as unknown as Ids;
  let missedWithoutOrder = 0;

  const look = (runId: number) =>
    withSql(url, { applicationName: "docmirror soak", max: 1 }, async (sql) => {
      const walks = await sql<{ resource: Resource; resumed: boolean }[]>`
        select resource, began_run_id <> run_id as resumed from sync.walks where run_id = ${runId} and walk = 'whole'`;
      const [left] = await sql<{ missing: number; pending: number }[]>`
        select (select count(*)::int from sync.missing_records where found_at is null and gone_at is null and held_until is null and undecided_runs < 3) as missing,
          (select count(*)::int from mirror.unresolved_references where status = 'pending') as pending`;
      // Without those that a whole walk of the run did not show.
      const met = {} as Ids;
      for (const resource of RESOURCES) {
        const rows = await sql<{ id: string }[]>`
          select id from ${sql(`mirror.${resource}s`)} where deleted_at is null
          except select record_id from sync.missing_records where resource = ${resource} and run_id = ${runId}`;
        met[resource] = new Set(rows.map(({ id }) => id));
      }
      return { walks, met, missing: left?.missing ?? 0, pending: left?.pending ?? 0 };
    });

  return {
    missedWithoutOrder: () => missedWithoutOrder,
    forgetGone() {
      const now = world.listed();
      for (const resource of RESOURCES)
        older[resource] = new Set([...older[resource]].filter((id) => now[resource].has(id)));
    },
    async judge(summary, before) {
      const { run_id, kind, status, unfinished, resources } = summary;
      if (run_id === null) return [];
      const said = `run ${run_id} (${kind}) says ${status}, but`;
      const found = await look(run_id);
      // A walk that was whole and not resumed saw all that there was when the run began, whatever the verdict of the run.
      for (const { resource, resumed } of found.walks) if (!resumed) older[resource] = before[resource];

      const wrong: string[] = [];
      const after = world.listed();
      for (const resource of RESOURCES) {
        const isWhole = found.walks.some((walk) => walk.resource === resource);
        // A record that could not be stored is in the quarantine, and the run says so.
        const isProven = isWhole && (resources[resource]?.quarantined ?? 0) === 0;
        if (status !== "succeeded" && !isProven) continue;
        const shown = [...older[resource]].filter(
          (id) => before[resource].has(id) && after[resource].has(id),
        );
        const missed = shown.filter((id) => !found.met[resource].has(id));
        if (missed.length === 0) continue;
        const list = isWhole ? `the whole walk of its ${resource} list` : "the mirror";
        if (unordered.has(resource)) missedWithoutOrder += missed.length;
        else
          wrong.push(
            `${said} ${list} misses ${missed.length}, such as ${resource} ${missed.slice(0, 5).join(", ")}`,
          );
      }
      if (status === "partial" && !hasReason(summary)) wrong.push(`${said} names no reason`);
      if (status !== "succeeded") return wrong;
      // The other two cost no verdict.
      const { waiting: _waiting, deficit: _deficit, ...work } = unfinished;
      for (const [phase, count] of Object.entries(work))
        if (count > 0) wrong.push(`${said} ${count} ${phase} are unfinished`);
      if (kind === "watch" || kind === "quarantine") return wrong;
      const isAll = RESOURCES.every((resource) => resources[resource] !== undefined);
      if (isAll && found.missing > 0) wrong.push(`${said} ${found.missing} missing records are not settled`);
      if (found.pending > 0) wrong.push(`${said} ${found.pending} references are pending`);
      return wrong;
    },
  };
}

function hasReason({ resources, unfinished, error, warnings = [] }: RunSummary): boolean {
  const walks = Object.values(resources);
  return (
    error !== undefined ||
    warnings.length > 0 ||
    Object.values(unfinished).some((count) => count > 0) ||
    walks.some(({ reason, quarantined }) => reason !== undefined || quarantined > 0)
  );
}
