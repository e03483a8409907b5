/** Notices of what runs met: an end that is not good, and an interface that changed. */
import type { RunKind, RunStatus, Unfinished, WalkVerdict } from "../store/schema/runs.ts";
import { createSource, cut, cutOrNull } from "./source.ts";

interface EndedRun {
  id: number;
  kind: RunKind;
  status: Exclude<RunStatus, "running" | "succeeded">;
  started_at: string;
  finished_at: string | null;
  error: string | null;
  /** The first ones. */
  warnings: readonly string[];
  more_warnings: number;
  lists: readonly { resource: string; walk: WalkVerdict | null; reason: string | null; records: number }[];
  unfinished: Unfinished | null;
}

const RUNS: Record<RunKind, string> = {
  full: "The full sync",
  incremental: "The incremental sync",
  watch: "A round of the watch",
  quarantine: "The retry of the quarantine",
  repair: "The repair of what a check found wrong",
};
const ENDS: Record<EndedRun["status"], string> = {
  failed: "failed",
  partial: "was partial",
  interrupted: "was interrupted",
};

export const endedRuns = createSource<EndedRun>("runs", "ended_runs", ({ id, ...run }) => {
  const reason = run.lists.find((list) => list.reason !== null)?.reason;
  const why = run.error ?? reason ?? run.warnings[0];
  const because = why === undefined ? "." : `: ${cut(why, 300)}`;
  return {
    subject: `run/${id}`,
    type: "run.ended",
    data: {
      ...run,
      summary: `${RUNS[run.kind]} (run ${id}) ${ENDS[run.status]}${because}`,
      run_id: id,
      error: cutOrNull(run.error, 1000),
      warnings: run.warnings.map((warning) => cut(warning, 300)),
      lists: run.lists.map((list) => ({ ...list, reason: cutOrNull(list.reason, 300) })),
    },
  };
});

interface ChangedSchema {
  /** Of the run that met the differences. */
  id: number;
  differences: number;
  observed_at: string;
  /** The first ones. An empty field is the resource itself. */
  listed: readonly { resource: string; field: string; kind: string; detail: string | null }[];
}

export const schemaChanges = createSource<ChangedSchema>("schema", "schema_changes", (found) => {
  const { id, differences, observed_at } = found;
  const changes = found.listed.map(({ resource, field, kind, detail }) => ({
    resource: cut(resource, 60),
    field: cut(field, 60),
    kind,
    detail: cutOrNull(detail, 60),
  }));
  const [first] = changes;
  const verb = first?.kind === "appeared" || first?.kind === "vanished" ? first.kind : "changed its type";
  const change =
    first?.field === ""
      ? `the resource ${first.resource} ${verb}: ${first.detail ?? ""}`
      : `the field ${first?.field} of ${first?.resource} ${verb}`;
  return {
    subject: `schema/${id}`,
    type: "schema.changed",
    data: {
      summary:
        differences === 1
          ? `Upstream's interface changed: ${change}.`
          : `Upstream's interface changed in ${differences} ways: ${change}, and more.`,
      run_id: id,
      observed_at,
      changes,
      more_changes: differences - changes.length,
    },
  };
});
