/**
 * All that the mirror knows about one build, with the sources: the content of `docmirror explain build ID`.
 * Names are those of the tables, times are texts in UTC as Postgres prints them, spans are in milliseconds.
 */
import type { BuildStage } from "../../resources/build-states.ts";
import { type AnySql, statement } from "../../store/connection/sql.ts";
import type { BoundRule } from "../../store/schema/history.ts";
import type { RunKind } from "../../store/schema/runs.ts";
import { VANISHED } from "../load/record-transitions.ts";
import type { BoundedSpan } from "./format-span.ts";

const BUILD_RECORD = statement<BuildRow>("build_record", import.meta.url);
const OPEN_BUILD = statement<NonNullable<ExplainedBuild["open"]>>("open_build", import.meta.url);
const BUILD_TRANSITIONS = statement<TransitionRow>("build_transitions", import.meta.url);
const BUILD_REFERENCES = statement<ExplainedReference>("build_references", import.meta.url);

/** A reply that showed the build. `kind` and `started_at` are null when the run was pruned since. */
export interface ExplainedSighting {
  /** When its request was sent; null when that was not stored. */
  asked_at: string | null;
  /** When the reply arrived; null when only the request counts. */
  observed_at: string | null;
  /** Path and query; null when they were not stored. */
  request: string | null;
  run: { id: number; kind: RunKind | null; started_at: string | null };
}

export interface ExplainedTransition {
  seq: number;
  from_state: string | null;
  to_state: string | null;
  /** "-infinity" when nothing is known. */
  not_before: string;
  not_after: string;
  /** The time between the two; null when that is not known. */
  width_ms: number | null;
  /** The rule that set `not_before`. */
  rule: BoundRule;
  anomalies: string[];
  /** By how much `not_before` is earlier than the build's date as it is read now; null unless the rule is `date`. */
  before_date_ms: number | null;
  /** The first sighting in this state. */
  first_seen: ExplainedSighting;
  /** The last sighting in the state before, if it set `not_before`. */
  predecessor_last_seen: ExplainedSighting | null;
  /** The time that the build was in the state; null while it is in it. */
  lasted: BoundedSpan | null;
}

export interface ExplainedReference {
  field: "project" | "version";
  uri: string | null;
  /** `none`: no reference. `found`: it is here. The others: `mirror.unresolved_references`. */
  status: "none" | "found" | "pending" | "gone" | "foreign" | "malformed";
  id: string | null;
  slug: string | null;
  /** When the record itself was found deleted. */
  deleted_at: string | null;
  /** When the service was last asked for the record, if it is not here. */
  checked_at: string | null;
}

export interface ExplainedChange {
  id: number;
  kind: "updated" | "deleted" | "restored";
  observed_at: string;
  run_id: number;
  /** Only the changed fields. Texts of the log are given as `{"md5", "bytes"}`. */
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
}

export interface QuarantinedBuild {
  id: number;
  run_id: number;
  reason: string;
  request: string | null;
  created_at: string;
  resolved_at: string | null;
}

/** Where the log of a build is that was removed here. */
export interface ArchivedLog {
  /** An export of logs, as an absolute path of the machine that removed the log. */
  folder: string;
  path: string;
  removed_at: string;
  /** The line that said why the build failed. */
  error_line: string | null;
}

export interface ExplainedBuild {
  id: string;
  /** As sent, without a zone; null when it was null or missing. */
  date: string | null;
  /** The moments that the date may mean in the source zone: two in an hour that summer time changes. */
  date_read: { zone: string; earliest: string; latest: string; hour: "repeated" | "skipped" | null } | null;
  state: string | null;
  /** What the state means; null where it has none, or a word that nobody knows. */
  stage: BuildStage | null;
  success: boolean | null;
  type: string | null;
  /** Of the builds that had this id, one after another, the number of this one. */
  life: number;
  first_seen_at: string;
  changed_at: string;
  deleted_at: string | null;
  transitions: ExplainedTransition[];
  /** From the trigger to the last entry into `finished`; null for a build that has not finished. */
  duration: BoundedSpan | null;
  /** The last sighting of a build that is open. */
  open: { since: string; last_seen: ExplainedSighting; vanished_at: string | null } | null;
  references: ExplainedReference[];
  changes: readonly ExplainedChange[];
  /** Older changes of this build were pruned; null when all of its changes are here. */
  changes_pruned_before: string | null;
  /** Where its log is; null unless it was removed here. */
  archived_log: ArchivedLog | null;
}

export interface BuildExplanation {
  /** Null when the mirror never stored it. */
  build: ExplainedBuild | null;
  quarantine: QuarantinedBuild[];
}

/** Finds all that is known about a build. */
export async function explainBuild(
  sql: AnySql,
  id: string,
  sourceTimezone: string,
): Promise<BuildExplanation> {
  const [row] = await BUILD_RECORD(sql, { id, zone: sourceTimezone });
  const quarantine = await sql<QuarantinedBuild[]>`
    select id, run_id, reason, request, created_at, resolved_at
    from sync.quarantine where resource = 'build' and record_id = ${id} order by id`;
  if (row === undefined) return { build: null, quarantine: [...quarantine] };
  const { earliest, latest, hour, ...facts } = row;
  const transitions = await BUILD_TRANSITIONS(sql, { id, dateEarliest: earliest });
  const [open = null] = await OPEN_BUILD(sql, { id });
  const build: ExplainedBuild = {
    ...facts,
    date_read: earliest === null || latest === null ? null : { zone: sourceTimezone, earliest, latest, hour },
    transitions: transitions.map((row, index) => {
      const { not_before_us: _, not_after_us: __, ...transition } = row;
      const end = endOf(transitions, index);
      return { ...transition, lasted: end ? spanBetween(row, end) : null };
    }),
    duration: durationOf(facts, transitions),
    open,
    archived_log: await findArchivedLog(sql, id),
    references: await BUILD_REFERENCES(sql, { id }),
    changes: await sql<ExplainedChange[]>`
      select id, kind, observed_at, run_id, before, after
      from mirror.changes where resource = 'build' and record_id = ${id} order by id`,
  };
  return { build, quarantine: [...quarantine] };
}

type BuildRow = Omit<
  ExplainedBuild,
  "date_read" | "transitions" | "duration" | "open" | "archived_log" | "references" | "changes"
> & { earliest: string | null; latest: string | null; hour: "repeated" | "skipped" | null };

type TransitionRow = Omit<ExplainedTransition, "lasted"> & Bounds;

/** The bounds of the entry into a state, in microseconds since 1970. The lower one is null when it is unknown. */
type Bounds = { not_before_us: number | null; not_after_us: number };

/**
 * The transition that ended a state; undefined while the build is in it. A reply that the build is gone does not say that its
 * state ended: where it came back, the next other state does.
 */
export function endOf<Row extends Pick<ExplainedTransition, "to_state">>(
  transitions: readonly Row[],
  place: number,
): Row | undefined {
  const state = transitions[place]?.to_state;
  const later = transitions.slice(place + 1);
  if (state === VANISHED) return later[0];
  const isGone = later.at(-1)?.to_state === VANISHED;
  return (
    later.find(({ to_state }) => to_state !== VANISHED && to_state !== state) ??
    (isGone ? later.at(-1) : undefined)
  );
}

/** The span between two moments with known bounds. The second moment is not before the first. */
function spanBetween(from: Bounds, to: Bounds): BoundedSpan {
  return {
    least_ms: to.not_before_us === null ? 0 : Math.max(0, to.not_before_us - from.not_after_us) / 1000,
    most_ms: from.not_before_us === null ? null : Math.max(0, to.not_after_us - from.not_before_us) / 1000,
  };
}

/** The trigger is between the build's date and the first sighting: the clock that dates builds may be behind. */
function durationOf(
  { state, stage }: Pick<ExplainedBuild, "state" | "stage">,
  transitions: readonly TransitionRow[],
): BoundedSpan | null {
  const first = transitions[0];
  const finish = transitions.findLast(({ to_state }) => to_state === state);
  return stage === "result" && first && finish ? spanBetween(first, finish) : null;
}

/** Null where the log was never removed. */
export async function findArchivedLog(sql: AnySql, buildId: string): Promise<ArchivedLog | null> {
  const [row] = await sql<ArchivedLog[]>`
    select folder, path, removed_at, error_line
    from mirror.archived_logs join mirror.log_files on log_files.id = file_id
    where build_id = ${buildId}`;
  return row ?? null;
}
