import { Counter, Gauge, Registry } from "prom-client";
import {
  type CommandLabel,
  knownOr,
  OPEN_STATES,
  OUTCOMES,
  type OutcomeLabel,
  type ResourceLabel,
  RUN_STATUSES,
  type RunKindLabel,
} from "./labels.ts";

/** What the database says about the mirror. Moments are seconds since 1970. */
export interface Figures {
  lists: {
    resource: ResourceLabel;
    /** When the newest good walk of the list ended; null when there was none. */
    lastGoodAt: number | null;
    /** How many records the service counts; null when it never said. */
    upstream: number | null;
    /** How many records are here and not deleted; null before the first refresh of the reports. */
    mirrored: number | null;
    deficit: number;
    quarantined: number;
    missing: number;
    isHeldBack: boolean;
    schemaChanges: number;
  }[];
  /** Schema changes of resources that docmirror does not mirror. */
  otherSchemaChanges: number;
  kinds: {
    kind: RunKindLabel;
    running: number;
    lastSuccessAt: number | null;
    /** The newest run that ended; null when there was none. */
    last: {
      status: string;
      endedAt: number;
      seconds: number;
      requests: number;
      outcomes: Record<OutcomeLabel, number>;
    } | null;
  }[];
  failedInARow: { command: CommandLabel; runs: number }[];
  /** What is known of the arrival of builds. */
  arrivals: {
    /** Null where that is not known. */
    isQuiet: boolean | null;
    /** When the last build was triggered; null before the first refresh, and without any. */
    lastBuildAt: number | null;
  };
  openBuilds: { state: string | null; open: number; stuck: number }[];
  /** Whether a process leads; null when none ever did. */
  hasLeader: boolean | null;
  /** Whether this process leads; null in a process that never would. */
  isLeader: boolean | null;
  notices: { waiting: number; oldestWaitingAt: number | null; givenUp: number };
}

interface Sample {
  labels: Record<string, string>;
  value: number | null;
}

/** All series of a metric, from what the database says. A value of null is no series. */
interface FigureMetric {
  type: "gauge" | "counter";
  help: string;
  labels: readonly string[];
  samples(figures: Figures): Sample[];
}

type ListFigures = Figures["lists"][number];
type KindFigures = Figures["kinds"][number];

/** A gauge with a series for each resource. */
function ofLists(help: string, value: (list: ListFigures) => number | null): FigureMetric {
  const samples = ({ lists }: Figures) =>
    lists.map((list) => ({ labels: { resource: list.resource }, value: value(list) }));
  return { type: "gauge", help, labels: ["resource"], samples };
}

/** A gauge with a series for each kind of run. */
function ofKinds(help: string, value: (kind: KindFigures) => number | null): FigureMetric {
  const samples = ({ kinds }: Figures) =>
    kinds.map((one) => ({ labels: { kind: one.kind }, value: value(one) }));
  return { type: "gauge", help, labels: ["kind"], samples };
}

/** A gauge with one series. A fact is 1 or 0. */
function single(help: string, value: (figures: Figures) => number | boolean | null): FigureMetric {
  const samples = (figures: Figures): Sample[] => {
    const one = value(figures);
    return [{ labels: {}, value: one === null ? null : Number(one) }];
  };
  return { type: "gauge", help, labels: [], samples };
}

/** The metrics that come from the database, by their names. */
export const FIGURE_METRICS: Readonly<Record<string, FigureMetric>> = {
  docmirror_last_success_timestamp_seconds: ofKinds(
    "When the newest run that succeeded ended, in seconds since 1970.",
    ({ lastSuccessAt }) => lastSuccessAt,
  ),
  docmirror_last_run_timestamp_seconds: ofKinds(
    "When the newest run ended, in seconds since 1970.",
    ({ last }) => last?.endedAt ?? null,
  ),
  docmirror_last_run_duration_seconds: ofKinds(
    "How long the newest run that ended took.",
    ({ last }) => last?.seconds ?? null,
  ),
  docmirror_last_run_requests: ofKinds(
    "Requests of the newest run that ended.",
    ({ last }) => last?.requests ?? null,
  ),
  docmirror_last_run_status: {
    type: "gauge",
    help: "How the newest run that ended did: 1 for its status, 0 for the others.",
    labels: ["kind", "status"],
    samples: ({ kinds }) =>
      kinds.flatMap(({ kind, last }) =>
        RUN_STATUSES.map((status) => ({
          labels: { kind, status },
          value: last && Number(last.status === status),
        })),
      ),
  },
  docmirror_last_run_records: {
    type: "gauge",
    help: "Records of the lists that the newest run read, by what became of them.",
    labels: ["kind", "outcome"],
    samples: ({ kinds }) =>
      kinds.flatMap(({ kind, last }) =>
        OUTCOMES.map((outcome) => ({ labels: { kind, outcome }, value: last?.outcomes[outcome] ?? null })),
      ),
  },
  docmirror_run_in_progress: ofKinds(
    "Runs that are under way and alive, of any process.",
    ({ running }) => running,
  ),
  docmirror_runs_failed_in_a_row: {
    type: "gauge",
    help: "Runs that failed since the newest one that read at least a part.",
    labels: ["command"],
    samples: ({ failedInARow }) =>
      failedInARow.map(({ command, runs }) => ({ labels: { command }, value: runs })),
  },
  docmirror_list_last_good_timestamp_seconds: ofLists(
    "When the walk began that last read the list well, in seconds since 1970.",
    ({ lastGoodAt }) => lastGoodAt,
  ),
  docmirror_upstream_records: ofLists(
    "Records that the service counts, by the newest walk that it told.",
    ({ upstream }) => upstream,
  ),
  docmirror_mirrored_records: ofLists(
    "Records that are here and not deleted, at the newest refresh of the reports.",
    ({ mirrored }) => mirrored,
  ),
  docmirror_list_deficit_records: ofLists(
    "Records that the service counts and the mirror does not have, beyond those that are known not to be storable. Negative when the mirror has more.",
    ({ deficit }) => deficit,
  ),
  docmirror_missing_records: ofLists(
    "Records that their list no longer shows and that are not proven to be gone.",
    ({ missing }) => missing,
  ),
  docmirror_deletions_held_back: ofLists(
    "1 where the newest whole walk missed more records than DOCMIRROR_MAX_DELETE_RATIO allows.",
    ({ isHeldBack }) => Number(isHeldBack),
  ),
  docmirror_quarantined_records: ofLists("Records in quarantine.", ({ quarantined }) => quarantined),
  docmirror_schema_changes_total: {
    type: "counter",
    help: "Fields of the service that came, went or changed their type, since the mirror began.",
    labels: ["resource"],
    samples: ({ lists, otherSchemaChanges }) => [
      ...lists.map(({ resource, schemaChanges }) => ({ labels: { resource }, value: schemaChanges })),
      { labels: { resource: "other" }, value: otherSchemaChanges },
    ],
  },
  docmirror_builds_open: {
    type: "gauge",
    help: "Builds that have not finished, by state.",
    labels: ["state"],
    samples: ({ openBuilds }) => {
      const open = new Map<string, number>([...OPEN_STATES, "other"].map((state) => [state, 0]));
      for (const builds of openBuilds) {
        const state = knownOr(OPEN_STATES, builds.state);
        open.set(state, (open.get(state) ?? 0) + builds.open);
      }
      return [...open].map(([state, value]) => ({ labels: { state }, value }));
    },
  },
  docmirror_builds_stuck: single(
    "Builds that have been open for longer than DOCMIRROR_STUCK_AFTER.",
    ({ openBuilds }) => openBuilds.reduce((sum, { stuck }) => sum + stuck, 0),
  ),
  docmirror_builds_quiet: single(
    "1 where builds stopped arriving: none for over twice the longest gap of 28 days, and 10 or more are usual in that time. Else 0. " +
      "Absent where that is not known: the mirror did not look for 5 minutes, knows fewer than 14 days, or has a wrong clock.",
    ({ arrivals }) => arrivals.isQuiet,
  ),
  docmirror_last_build_timestamp_seconds: single(
    "When the last build that is known was triggered, in seconds since 1970. Absent without any.",
    ({ arrivals }) => arrivals.lastBuildAt,
  ),
  docmirror_has_leader: single(
    "1 while a process leads, 0 while none does. Absent where none ever did.",
    ({ hasLeader }) => hasLeader,
  ),
  docmirror_is_leader: single("1 in the worker that leads, 0 in a standby.", ({ isLeader }) => isLeader),
  docmirror_notices_waiting: single(
    "Notices that the webhook has not confirmed yet.",
    ({ notices }) => notices.waiting,
  ),
  docmirror_notices_oldest_waiting_timestamp_seconds: single(
    "Since when the oldest waiting notice waits, in seconds since 1970. Absent when none does.",
    ({ notices }) => notices.oldestWaitingAt,
  ),
  docmirror_notices_given_up: single(
    "Notices that were given up after a day of tries.",
    ({ notices }) => notices.givenUp,
  ),
};

const DATABASE_UP = "docmirror_database_up";

/**
 * A registry with what the database says, made anew for each scrape, so that a value that is not known any more is absent,
 * and never the last one that was. Without figures it has `docmirror_database_up` alone.
 */
export function createFigureRegistry(isUp: boolean, figures: Figures | null): Registry {
  const registry = new Registry();
  const registers = [registry];
  const up = new Gauge({ name: DATABASE_UP, help: "1 while the database answers, else 0.", registers });
  up.set(Number(isUp));
  if (figures === null) return registry;
  for (const [name, metric] of Object.entries(FIGURE_METRICS)) {
    const samples = metric
      .samples(figures)
      .flatMap(({ labels, value }) => (value === null ? [] : [{ labels, value }]));
    // A metric without labels would begin at 0.
    if (samples.length === 0) continue;
    const facts = { name, help: metric.help, labelNames: metric.labels, registers };
    const write = metric.type === "gauge" ? new Gauge(facts) : new Counter(facts);
    for (const { labels, value } of samples) write.inc(labels, value);
  }
  return registry;
}
