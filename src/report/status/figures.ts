import type { Config } from "../../base/config.ts";
import { knownOr, RUN_KINDS, RUN_STATUSES } from "../../base/metrics/labels.ts";
import { OPEN_STATES, stateWord } from "../../resources/build-states.ts";
import { RESOURCES, type Resource } from "../../resources/resources.ts";
import { statement, type TransactionSql } from "../../store/connection/sql.ts";
import { findJobs } from "../../store/ledger/jobs.ts";
import { findHolder } from "../../store/ledger/leases.ts";
import { findListFreshness } from "../../store/ledger/list-freshness.ts";
import { findBelowHead } from "../../store/ledger/rounds.ts";
import { findDeficit } from "../../store/ledger/run-ledger.ts";
import { findFailedRefresh } from "../refresh/failed-refresh.ts";
import { findBehindSince } from "../refresh/refresh.ts";
import { findOpenBuilds } from "./find-status.ts";
import { findSizes, type LimitSettings } from "./sizes.ts";

const NEWEST_RUNS = statement<FigureRow>("newest_runs", import.meta.url);
const FAILURES_IN_A_ROW = statement<FigureRow>("failures_in_a_row", import.meta.url);
const LIST_FIGURES = statement<FigureRow & { resource: Resource }>("list_figures", import.meta.url);
const SCHEMA_CHANGE_FIGURES = statement<FigureRow>("schema_change_figures", import.meta.url);
const NOTICE_FIGURES = statement<FigureRow>("notice_figures", import.meta.url);

/** The newest syncs, and the newest rounds of the watch, that are looked at: enough for years and for two days. */
const SYNCS = 1000;
const ROUNDS = 3000;

export interface FiguresOptions extends Pick<Config, "stuckAfterMs" | "sourceTimezone">, LimitSettings {
  /** True where this process may lead. */
  isWorker: boolean;
  /** When the certificate ends by which Postgres proved itself to this process. @default null */
  databaseCertificateEnd?: Date | null;
}

/**
 * The values of some metrics by their names, as one query has them, beside the labels of the series. Null is no series. Values by
 * name are a series each.
 */
type Figure = string | number | boolean | null | Readonly<Record<string, number>>;
export type FigureRow = Readonly<Record<string, Figure>>;

/** Metrics with what they mean, and the query that has their values. */
interface FigureSource {
  /** @default none */
  labels?: readonly string[];
  /** The last label of each metric whose values come by name. */
  byName?: Readonly<Record<string, string>>;
  metrics: Readonly<Record<string, string>>;
  read(tx: TransactionSql, options: FiguresOptions): Promise<readonly FigureRow[]>;
}

const RUNS: FigureSource = {
  labels: ["kind"],
  byName: { docmirror_last_run_status: "status", docmirror_last_run_records: "outcome" },
  metrics: {
    docmirror_last_success_timestamp_seconds:
      "When the newest run that succeeded ended, in seconds since 1970.",
    docmirror_last_run_timestamp_seconds: "When the newest run ended, in seconds since 1970.",
    docmirror_last_run_duration_seconds: "How long the newest run that ended took.",
    docmirror_last_run_requests: "Requests of the newest run that ended.",
    docmirror_last_run_status: "How the newest run that ended did: 1 for its status, 0 for the others.",
    docmirror_last_run_records: "Records of the lists that the newest run read, by what became of them.",
    docmirror_run_in_progress: "Runs that are under way and alive, of any process.",
  },
  // The newest run is the one with the highest number, because clocks may be wrong.
  read: (tx) =>
    NEWEST_RUNS(tx, { syncs: SYNCS, rounds: ROUNDS, statuses: [...RUN_STATUSES], kinds: [...RUN_KINDS] }),
};

const FAILED_RUNS: FigureSource = {
  labels: ["command"],
  metrics: {
    docmirror_runs_failed_in_a_row: "Runs that failed since the newest one that read at least a part.",
  },
  // Runs that were stopped count neither way.
  read: (tx) => FAILURES_IN_A_ROW(tx, { syncs: SYNCS, rounds: ROUNDS }),
};

const LISTS: FigureSource = {
  labels: ["resource"],
  metrics: {
    docmirror_list_last_good_timestamp_seconds:
      "When the walk began that last read the list well, in seconds since 1970.",
    docmirror_upstream_records: "Records that the service counts, by the newest walk that it told.",
    docmirror_mirrored_records:
      "Records that are here and not deleted, at the newest refresh of the reports.",
    docmirror_list_deficit_records:
      "Records that the service counts and the mirror does not have, beyond those that are known not to be storable. Negative when the mirror has more.",
    docmirror_missing_records: "Records that their list no longer shows and that are not proven to be gone.",
    docmirror_deletions_held_back:
      "1 where more records are missing than DOCMIRROR_MAX_DELETE_RATIO allows, so that they are kept.",
    docmirror_quarantined_records: "Records in quarantine.",
    docmirror_checked_records:
      "Records that checks of 30 days compared with the service. Absent without one.",
    docmirror_wrong_records: "Records that the newest check found wrong. Absent without one.",
  },
  async read(tx) {
    const fresh = await findListFreshness(tx);
    const rows = await LIST_FIGURES(tx);
    return Promise.all(
      rows.map(async (row) => {
        const startedAt = fresh.find(({ resource }) => resource === row.resource)?.startedAt ?? null;
        return {
          ...row,
          docmirror_list_last_good_timestamp_seconds: startedAt && Date.parse(startedAt) / 1000,
          docmirror_list_deficit_records: await findDeficit(tx, row.resource),
        };
      }),
    );
  },
};

const BELOW_HEAD: FigureSource = {
  metrics: {
    docmirror_round_records:
      "Builds that the newest sync read again as a night of a round. Absent where it had none.",
    docmirror_round_stopped:
      "1 where that night read nothing, broke off, or ended its round unproven. Else 0.",
    docmirror_search_requests:
      "Requests that the newest sync sent in search of builds that came or went below the head. Absent without a search.",
    docmirror_search_unsettled: "1 where that search did not settle the difference. Else 0.",
  },
  async read(tx) {
    const {
      round_records = null,
      round_reason,
      search_requests = null,
      search_is_done,
    } = (await findBelowHead(tx)) ?? {};
    return [
      {
        docmirror_round_records: round_records,
        docmirror_round_stopped: round_records === null ? null : round_reason !== null,
        docmirror_search_requests: search_requests,
        docmirror_search_unsettled: search_requests === null ? null : search_is_done !== true,
      },
    ];
  },
};

const SCHEMA_CHANGES: FigureSource = {
  labels: ["resource"],
  metrics: {
    docmirror_schema_changes_total:
      "Fields of the service that came, went or changed their type, since the mirror began.",
  },
  read: (tx) => SCHEMA_CHANGE_FIGURES(tx, { labels: [...RESOURCES, "other"], resources: [...RESOURCES] }),
};

const OPEN_BUILDS: FigureSource = {
  byName: { docmirror_builds_open: "state" },
  metrics: {
    docmirror_builds_open:
      "Builds that have not ended, by state: other for a state that nobody knows, and for none.",
    docmirror_builds_stuck:
      "Builds that were open for longer than DOCMIRROR_STUCK_AFTER when last seen, in any state or none.",
  },
  async read(tx, options) {
    const builds = await findOpenBuilds(tx, options);
    const sumOf = (what: "open" | "stuck", label?: string) =>
      builds
        .filter(
          ({ state }) => label === undefined || knownOr(OPEN_STATES, state && stateWord(state)) === label,
        )
        .reduce((sum, one) => sum + one[what], 0);
    const open = [...OPEN_STATES, "other"].map((label) => [label, sumOf("open", label)] as const);
    return [{ docmirror_builds_open: Object.fromEntries(open), docmirror_builds_stuck: sumOf("stuck") }];
  },
};

const ARRIVALS: FigureSource = {
  metrics: {
    docmirror_builds_quiet:
      "1 where builds stopped arriving: none for over twice the longest gap of 28 days, and 10 or more are usual in that time. Else 0. " +
      "Absent where that is not known: the mirror did not look for 5 minutes, knows fewer than 14 days, or has a wrong clock.",
    docmirror_last_build_timestamp_seconds:
      "When the last build that is known was triggered, in seconds since 1970. Absent without any.",
  },
  read: (tx) => tx<FigureRow[]>`
    select case when state_now <> 'unknown' then state_now = 'quiet' end as docmirror_builds_quiet,
      extract(epoch from last_build_at)::float8 as docmirror_last_build_timestamp_seconds
    from report.arrivals`,
};

const LEAD: FigureSource = {
  metrics: {
    docmirror_has_leader: "1 while a process leads, 0 while none does. Absent where none ever did.",
    docmirror_is_leader: "1 in the worker that leads, 0 in a standby.",
  },
  async read(tx, { isWorker }) {
    const leader = await findHolder(tx, "lead");
    // The sessions of a process end their names with its own.
    const [facts] = await tx<{ everLed: boolean; isOurs: boolean }[]>`
      select exists (select from sync.leases where name = 'lead') as "everLed",
        right(current_setting('application_name'), ${(leader?.instance.length ?? 0) + 1}::int) = ${`#${leader?.instance}`} as "isOurs"`;
    const docmirror_has_leader = facts?.everLed === true ? leader !== null : null;
    const docmirror_is_leader = isWorker ? leader !== null && facts?.isOurs === true : null;
    return [{ docmirror_has_leader, docmirror_is_leader }];
  },
};

const JOBS: FigureSource = {
  // Not `job`: that label is the scraper's own.
  labels: ["command"],
  metrics: {
    docmirror_job_last_good_timestamp_seconds:
      "When the last good backup, export or prune began, in seconds since 1970. Absent where none ever was.",
    docmirror_job_failures_in_a_row:
      "Backups, exports or prunes that failed since the last good one. Absent where none ever ran.",
  },
  read: async (tx) =>
    (await findJobs(tx)).map(({ job, good_at, failures }) => ({
      command: job,
      docmirror_job_last_good_timestamp_seconds: good_at && Date.parse(good_at) / 1000,
      docmirror_job_failures_in_a_row: failures,
    })),
};

const NOTICES: FigureSource = {
  metrics: {
    docmirror_notices_waiting: "Notices that the webhook has not confirmed yet.",
    docmirror_notices_oldest_waiting_timestamp_seconds:
      "Since when the oldest waiting notice waits, in seconds since 1970. Absent when none does.",
    docmirror_notices_given_up: "Notices that were given up after a day of tries.",
  },
  read: (tx) => NOTICE_FIGURES(tx),
};

const REPORTS: FigureSource = {
  metrics: {
    docmirror_reports_behind_timestamp_seconds:
      "Since when a run has ended that the reports lack, in seconds since 1970. Absent while they lack none.",
    docmirror_reports_failed_timestamp_seconds:
      "When the refresh of the reports failed last, in seconds since 1970. Absent once one has gone well.",
  },
  async read(tx) {
    const since = await findBehindSince(tx);
    const failed = await findFailedRefresh(tx);
    return [
      {
        docmirror_reports_behind_timestamp_seconds: since && Date.parse(since) / 1000,
        docmirror_reports_failed_timestamp_seconds: failed && Date.parse(failed.at) / 1000,
      },
    ];
  },
};

const SIZES: FigureSource = {
  byName: { docmirror_schema_bytes: "schema" },
  metrics: {
    docmirror_database_bytes: "Bytes of the whole database.",
    docmirror_schema_bytes: "Bytes of a schema of docmirror, with its indexes.",
    docmirror_logs_bytes: "Bytes of the logs of builds in Postgres, a part of schema mirror.",
    docmirror_database_days_left:
      "Days until the database reaches its limit at its growth of 30 days. Absent where either is not known, or it does not grow.",
  },
  async read(tx, options) {
    const { database_bytes, schema_bytes, logs_bytes, days_left } = await findSizes(tx, options);
    return [
      {
        docmirror_database_bytes: database_bytes,
        docmirror_schema_bytes: schema_bytes,
        docmirror_logs_bytes: logs_bytes,
        docmirror_database_days_left: days_left,
      },
    ];
  },
};

const CERTIFICATES: FigureSource = {
  labels: ["of"],
  metrics: {
    docmirror_certificate_ends_timestamp_seconds:
      "When the certificate ends of the service, as the newest run saw it, or of the database, in seconds since 1970. Absent without one that is checked.",
  },
  async read(tx, { databaseCertificateEnd: end = null }) {
    const [service] = await tx<{ endsAt: number }[]>`
      select extract(epoch from certificate_ends_at)::float8 as "endsAt"
      from (select * from sync.runs order by id desc limit ${SYNCS}) as run
      where certificate_ends_at is not null order by id desc limit 1`;
    const ends = { service: service?.endsAt ?? null, database: end && end.getTime() / 1000 };
    return Object.entries(ends).map(([of, at]) => ({ of, docmirror_certificate_ends_timestamp_seconds: at }));
  },
};

const SOURCES: readonly FigureSource[] = [
  RUNS,
  FAILED_RUNS,
  LISTS,
  BELOW_HEAD,
  SCHEMA_CHANGES,
  OPEN_BUILDS,
  ARRIVALS,
  LEAD,
  JOBS,
  NOTICES,
  REPORTS,
  SIZES,
  CERTIFICATES,
];

/** The metrics that come from the database. */
export const FIGURE_METRICS = SOURCES.flatMap(({ labels = [], byName, metrics }) =>
  Object.entries(metrics).map(([name, help]) => ({
    name,
    help,
    type: name.endsWith("_total") ? "counter" : "gauge",
    labels: [...labels, byName?.[name] ?? []].flat(),
  })),
);

/** Reads what the metrics say of the mirror. Its cost grows with the open builds and those of five weeks, not with the mirror. */
export async function findFigures(tx: TransactionSql, options: FiguresOptions): Promise<FigureRow[]> {
  return (await Promise.all(SOURCES.map(({ read }) => read(tx, options)))).flat();
}
