/**
 * The state of the mirror: freshness, runs, builds, quarantine. `docmirror status`, `/status.json` and the metrics read the
 * same figures here. It asks the database alone, never the service.
 */

import { ageMs, isAhead } from "../../base/clock.ts";
import type { SettingsFor } from "../../base/config/settings.ts";
import { counted, toSecond } from "../../base/text.ts";
import { formatSpan } from "../../mirror/builds/format-span.ts";
import {
  findHeld,
  findUndecided,
  type HeldDeletions,
  type UndecidedRecord,
} from "../../mirror/lists/missing-records.ts";
import { recordStatement } from "../../mirror/load/tables.ts";
import type { Resource } from "../../resources/resources.ts";
import { type AnySql, oneRow, type Sql, statement, type TransactionSql } from "../../store/connection/sql.ts";
import { describeFault, findSuspects, type Suspect } from "../../store/ledger/checks.ts";
import { type DroppedList, findDropped } from "../../store/ledger/dropped-lists.ts";
import { findJobs, type JobState } from "../../store/ledger/jobs.ts";
import { findHolder } from "../../store/ledger/leases.ts";
import {
  type DatesInChange,
  describeOldest,
  findDatesInChange,
  findListFreshness,
  findReadSince,
  type ListFreshness,
  mirrorAgeMs,
} from "../../store/ledger/list-freshness.ts";
import { findServiceName } from "../../store/ledger/mirrored-service.ts";
import { listMutedProjects, type MutedProject } from "../../store/ledger/muted-projects.ts";
import { type BelowHead, findBelowHead } from "../../store/ledger/rounds.ts";
import { type CountGap, findCountGaps } from "../../store/ledger/run-ledger.ts";
import type { RunKind, RunStatus, WalkVerdict } from "../../store/schema/runs.ts";
import { withIsoMoments, withSnapshot } from "../read-answer.ts";
import { type FailedRefresh, findFailedRefresh } from "../refresh/failed-refresh.ts";
import { findBehindSince } from "../refresh/refresh.ts";
import { findSizes, type LimitSettings, type Sizes } from "./sizes.ts";

type BuildFacts = Pick<SettingsFor<"status">, "stuckAfterMs" | "sourceTimezone">;
type StatusFacts = BuildFacts & Pick<SettingsFor<"status">, "staleAfterMs"> & LimitSettings;

const RUNS = 20;
const UNDECIDED_SHOWN = 20;

const LIST_ROWS = recordStatement<{ rows: number }>("list_rows", import.meta.url);
const OPEN_BUILDS = statement<OpenBuilds>("open_builds", import.meta.url);

interface ResourceFreshness {
  resource: Resource;
  /** When the newest good walk began, a whole one or a head whose counts agree. Null when there is none. */
  last_good_at: string | null;
  /** Milliseconds since then. Null when there is no such walk, or when a clock was wrong. */
  age_ms: number | null;
  /** True where the age is more than `stale_after_ms`, or not known. */
  stale: boolean;
  walk: WalkVerdict | null;
  /** Since when every record was read at least once, by a whole walk or in rounds. Null where that never was. */
  read_since: string | null;
  /** The number of rows that are not deleted. */
  rows: number;
}

export interface RunRow {
  run_id: number;
  kind: RunKind;
  status: RunStatus;
  started_at: string;
  finished_at: string | null;
  requests: number;
  error: string | null;
  /** Why it did not succeed. Null where it did, or still runs. */
  reason: string | null;
}

interface OpenBuilds {
  /** Null for builds without one. */
  state: string | null;
  open: number;
  /** Those of them that have not vanished, and were open for longer than `stuckAfterMs` when they were last seen. */
  stuck: number;
  /** Those of them that have vanished but are not deleted yet. */
  vanished: number;
  oldest: string | null;
}

/** The checks by sample of 30 days. */
interface CheckedRecords {
  /** Days on which there were checks. */
  nights: number;
  checked: number;
  equal: number;
  /** The records that the newest check found wrong, with the fields that are, and in words. */
  wrong: (Pick<Suspect, "resource" | "id" | "fields"> & { fault: string })[];
  /** The records that the service's lists show and whose details say that there is none: a fault of the service. */
  denied: Pick<Suspect, "resource" | "id">[];
}

/** The state of the mirror. Moments are ISO 8601 in UTC. */
export interface MirrorStatus {
  /** The host of the mirrored service, or `demo`; null before the first sync. */
  service: string | null;
  /** True where any list is stale. */
  stale: boolean;
  /** A list that was not read well for this long is stale. Milliseconds. */
  stale_after_ms: number;
  /** The mirror is as fresh as its oldest list. Null until all lists were read well. */
  last_good_at: string | null;
  /** The age of the mirror, in milliseconds. Null when a list was never read well, or a clock was wrong. */
  age_ms: number | null;
  /** The list that decides the age, and why; for people. */
  oldest_list: { resource: Resource; why: string };
  /** Moments in the future, because a clock is or was wrong; for people. */
  clock_faults: string[];
  resources: ResourceFreshness[];
  /** The newest 20 runs that are no round of the watch. */
  runs: RunRow[];
  /** The newest round of the watch; null when there was none. */
  last_watch_round: RunRow | null;
  /** The last ends of backups, exports and prunes; those that ever ran. */
  jobs: JobState[];
  /** The process that runs the schedule; null when none does. */
  leader: Leader | null;
  /** Since when a run has ended that the reports lack; null while they lack none. Their refresh takes seconds as a rule. */
  reports_behind_since: string | null;
  /** The refresh of the reports that failed last; null once one has gone well. */
  reports_failed: FailedRefresh | null;
  open_builds: OpenBuilds[];
  /** The number of unresolved records in quarantine. */
  quarantined: number;
  unresolved_references: number;
  /** The lists that the root listing lacks, or that `DOCMIRROR_LEAVE_OUT` leaves out. */
  dropped_lists: DroppedList[];
  /** The lists that showed another number of records, read from end to end, than the service counts. */
  count_gaps: CountGap[];
  /** The lists that miss more records than `DOCMIRROR_MAX_DELETE_RATIO` allows: these are kept. */
  held_deletions: HeldDeletions[];
  /** The checks by sample of 30 days, and what the newest one found wrong. Null before the first one. */
  checked: CheckedRecords | null;
  /** The round of the builds and the search, by the newest sync that ended; null before the first one. */
  below_head: BelowHead | null;
  /** Since when builds show other dates than before, while not all were read since, and how. Else null. */
  dates_in_change: DatesInChange | null;
  /** Projects of which no notice is noted, and until when. */
  muted_projects: MutedProject[];
  /** Records that lists no longer show, and whose details decided nothing in three runs. `first` has at most 20. */
  undecided_records: { count: number; first: UndecidedRecord[] };
  /** How large the database is, and how it grows. */
  sizes: Sizes;
}

/** The process that runs the schedule of the mirror. Its `heartbeat_at` is by the clock of Postgres. */
interface Leader {
  instance: string;
  pid: number;
  host: string;
  term: number;
  since: string;
  heartbeat_at: string;
}

async function findLeader(tx: TransactionSql): Promise<Leader | null> {
  const holder = await findHolder(tx, "lead");
  if (holder === null) return null;
  const { instance, pid, host, term, since, renewed_at } = holder;
  return { instance, pid, host, term, since, heartbeat_at: renewed_at };
}

/** Reads how the mirror is at one moment. The schema must be that of this program. Throws StoreError. */
export function findStatus(sql: Sql, settings: StatusFacts, now: Date): Promise<MirrorStatus> {
  return withSnapshot(sql, async (tx) => {
    const lists = await findListFreshness(tx);
    const resources = await findResources(tx, lists, settings.staleAfterMs, now);
    const runs = await findRuns(tx, false, RUNS);
    const rounds = withIsoMoments(await findRuns(tx, true, 1));
    const left = await oneRow(
      tx<Pick<MirrorStatus, "quarantined" | "unresolved_references">[]>`
        select (select count(*) from sync.quarantine where resolved_at is null) as quarantined,
          (select count(*) from mirror.unresolved_references) as unresolved_references`,
    );
    const status = withIsoMoments<MirrorStatus>({
      service: await findServiceName(tx),
      stale: resources.some(({ stale }) => stale),
      stale_after_ms: settings.staleAfterMs,
      last_good_at: oldestOf(lists),
      age_ms: knownAge(mirrorAgeMs(lists, now)),
      oldest_list: describeOldest(lists, now),
      clock_faults: [],
      resources,
      runs,
      last_watch_round: rounds[0] ?? null,
      jobs: await findJobs(tx),
      leader: await findLeader(tx),
      reports_behind_since: await findBehindSince(tx),
      reports_failed: await findFailedRefresh(tx),
      open_builds: await findOpenBuilds(tx, settings),
      ...left,
      count_gaps: await findCountGaps(tx),
      held_deletions: await findHeld(tx),
      dates_in_change: await findDatesInChange(tx),
      dropped_lists: await findDropped(tx),
      checked: await findChecked(tx),
      below_head: await findBelowHead(tx),
      muted_projects: await listMutedProjects(tx),
      undecided_records: await findUndecided(tx, UNDECIDED_SHOWN),
      sizes: await findSizes(tx, settings),
    });
    status.clock_faults = findClockFaults(status.resources, [...status.runs, ...rounds], now);
    return status;
  });
}

async function findResources(
  tx: TransactionSql,
  lists: readonly ListFreshness[],
  staleAfterMs: number,
  now: Date,
): Promise<ResourceFreshness[]> {
  const resources: ResourceFreshness[] = [];
  for (const { resource, startedAt, walk } of lists) {
    const { rows } = await oneRow(LIST_ROWS(tx, resource));
    const age = ageMs(startedAt, now);
    resources.push({
      resource,
      last_good_at: startedAt,
      age_ms: knownAge(age),
      stale: age > staleAfterMs,
      walk,
      read_since: await findReadSince(tx, resource),
      rows,
    });
  }
  return resources;
}

async function findRuns(tx: TransactionSql, isWatch: boolean, limit: number): Promise<RunRow[]> {
  const runs = await tx<RunRow[]>`
    select run_id, kind, status, started_at, finished_at, requests, error, reason
    from report.runs where kind ${isWatch ? tx`=` : tx`<>`} 'watch' order by run_id desc limit ${limit}`;
  return [...runs];
}

/** The open builds by state, and how many of them are stuck. */
export async function findOpenBuilds(
  tx: AnySql,
  { stuckAfterMs, sourceTimezone }: BuildFacts,
): Promise<OpenBuilds[]> {
  return [...(await OPEN_BUILDS(tx, { sourceTimezone, stuckAfterS: stuckAfterMs / 1000 }))];
}

async function findChecked(tx: TransactionSql): Promise<CheckedRecords | null> {
  const [sum] = await tx<{ nights: number; checked: number; equal: number }[]>`
    select max(check_nights) as nights, sum(checked)::bigint as checked, sum(checked_equal)::bigint as equal
    from report.freshness having count(checked) > 0`;
  const suspects = await findSuspects(tx);
  const wrong = suspects.filter(({ verdict }) => verdict === "wrong");
  return sum
    ? {
        ...sum,
        wrong: wrong.map(({ hash, ...one }) => {
          const { resource, id, fields } = one;
          return { resource, id, fields, fault: describeFault({ fields, hash }) };
        }),
        denied: suspects
          .filter(({ verdict }) => verdict === "denied")
          .map(({ resource, id }) => ({ resource, id })),
      }
    : null;
}

const knownAge = (ageMs: number): number | null => (Number.isFinite(ageMs) ? ageMs : null);

/** Null while one of the lists has no good walk. All moments are texts in UTC, so they sort as texts. */
function oldestOf(lists: readonly ListFreshness[]): string | null {
  const moments = lists.map(({ startedAt }) => startedAt);
  if (moments.includes(null)) return null;
  return moments.sort()[0] ?? null;
}

function findClockFaults(resources: ResourceFreshness[], runs: RunRow[], now: Date): string[] {
  const fault = "which is in the future: a clock is or was wrong";
  const badRuns = runs.filter((run) => isAhead(run.started_at, now) || isAhead(run.finished_at, now));
  const badLists = resources.filter(({ last_good_at }) => isAhead(last_good_at, now));
  return [
    ...badRuns.map((run) => `run ${run.run_id} began at ${run.started_at}, ${fault}`),
    ...badLists.map((list) => `the ${list.resource} list was last read at ${list.last_good_at}, ${fault}`),
  ];
}

/** For people, such as "backup: 3 h ago, /backups/docmirror-2026-11-28T021700Z.backup". */
export function describeJob({ job, good_at, what, failed_at, error, failures }: JobState, now: Date): string {
  const age = ageMs(good_at, now);
  const good = `${Number.isFinite(age) ? `${formatSpan(age)} ago` : good_at}, ${what}`;
  if (failed_at === null) return `${job}: ${good}`;
  const last = good_at === null ? "none was good yet" : `the last good one: ${good}`;
  return `${job}: failed ${counted(failures, "time")} since ${toSecond(failed_at)}: ${error}; ${last}`;
}
