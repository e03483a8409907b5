import { duration } from "../base/config/setting.ts";
import { EXIT, SchemaVersionError } from "../base/errors.ts";
import { counted, grouped, toSecond } from "../base/text.ts";
import { formatSpan } from "../mirror/builds/format-span.ts";
import { describeHeld } from "../mirror/lists/missing-records.ts";
import { readDefinitions } from "../report/definitions.ts";
import { REPORTS_LATE_MS } from "../report/refresh/refresh.ts";
import { describeJob, type RunRow } from "../report/status/find-status.ts";
import { createReadStatus, type StatusDocument } from "../report/status/read-status.ts";
import { describeSizes } from "../report/status/sizes.ts";
import type { Sql } from "../store/connection/sql.ts";
import type { OpenDatabase } from "../store/embedded/open-embedded.ts";
import { describeDenied } from "../store/ledger/checks.ts";
import { describeDropped } from "../store/ledger/dropped-lists.ts";
import { describeDatesInChange } from "../store/ledger/list-freshness.ts";
import { describeCountGap } from "../store/ledger/run-ledger.ts";
import { withMirror } from "./context/with-mirror.ts";
import { type Output, paragraph } from "./output/output.ts";
import { type Cell, renderTable } from "./output/table.ts";
import type { CommandDeclaration } from "./usage/create-command.ts";
import { parsedBy } from "./usage/flag-values.ts";

/** `maxAge` is true where the flag has no value: `DOCMIRROR_STALE_AFTER` then. */
export const command: CommandDeclaration<{ maxAge?: number | true }> = {
  settings: ["database", "status"],
  exits: ["stale"],
  examples: [
    ["status", "how fresh the mirror is, who leads, the last and next runs, open builds"],
    ["status --max-age 30h", "exits 11 when any list is older, as a health check"],
  ],
  hasJson: true,
  flags: (command) =>
    command.option(
      "--max-age [duration]",
      "exit 11 when the oldest list is older than this, such as 30h; without a value, than DOCMIRROR_STALE_AFTER",
      parsedBy(duration),
    ),
  run: (context, { options: { maxAge } }) => {
    const { config, clock, log, out, print } = context;
    const staleAfterMs = typeof maxAge === "number" ? maxAge : config.staleAfterMs;
    const readStatus = createReadStatus({ ...config, staleAfterMs }, readDefinitions());
    const show = async (sql: Sql, database: OpenDatabase) => {
      const status = await readStatus(sql, clock.now());
      // Another process has just migrated it.
      if ("fault" in status) throw new SchemaVersionError(status.fault);
      await print({ database: database.describe, ...status }, () => renderStatus(status, out));
      if (maxAge === undefined || !status.stale) return EXIT.done;
      const { resource, why } = status.oldest_list;
      log.error({ resource, reason: `the ${resource} list ${why}` }, "the mirror is too old");
      return EXIT.stale;
    };
    return withMirror(context, show, "reads");
  },
};

/** More than a week of nights; `--json` has more. */
const RUNS_SHOWN = 10;

function renderStatus(status: StatusDocument, out: Output): string {
  const { age_ms, oldest_list, clock_faults } = status;
  const paragraphs = (texts: readonly string[]) => texts.map((text) => paragraph(text, out)).join("");
  const list = `the ${oldest_list.resource} list ${oldest_list.why}`;
  const age = age_ms === null ? "how long ago is not known" : `${formatSpan(age_ms)} ago`;
  const freshness =
    status.last_good_at === null
      ? `not fresh yet: ${list}`
      : `${status.stale ? "stale: read" : "fresh"} as of ${toSecond(status.last_good_at)} (${age}): ${list}`;
  const table = (head: readonly string[], rows: readonly (readonly Cell[])[]) =>
    renderTable({ head, rows, right: ["took"] }, out);
  const resources = table(
    ["resource", "rows", "last good walk", "walk", "every record read since"],
    status.resources.map(({ resource, rows, last_good_at, walk, read_since }) => {
      return [resource, rows, toSecond(last_good_at) || "never", walk, toSecond(read_since)];
    }),
  );
  const lastRuns = status.runs.slice(0, RUNS_SHOWN);
  // They are too long for a column.
  const reasons = new Set(lastRuns.flatMap(({ reason }) => reason ?? []));
  const errors = [...reasons].map((reason) => {
    const ids = lastRuns.filter((one) => one.reason === reason).map(({ run_id }) => run_id);
    return `run ${ids.join(", ")}: ${reason}`;
  });
  const runs = table(
    ["run", "kind", "status", "started", "took", "requests"],
    lastRuns.map((run) => {
      return [run.run_id, run.kind, run.status, toSecond(run.started_at), tookOf(run), requestsOf(run)];
    }),
  );
  const openBuilds = table(
    ["state", "open", "stuck", "vanished", "oldest"],
    status.open_builds.map(({ state, open, stuck, vanished, oldest }) => {
      return [state ?? "(none)", open, stuck, vanished, toSecond(oldest)];
    }),
  );
  const troubles = [
    ...status.dropped_lists.map(describeDropped),
    ...status.count_gaps.map(describeCountGap),
    ...status.held_deletions.map(describeHeld),
    ...describeChecked(status),
    ...describeBelowHead(status),
    ...(status.dates_in_change ? [describeDatesInChange(status.dates_in_change)] : []),
    ...status.muted_projects.map(
      (muted) => `no notices of ${muted.project_slug} until ${toSecond(muted.until)}`,
    ),
    ...describeUndecided(status),
  ];
  return [
    paragraphs([
      `mirror of ${status.service ?? "no service yet"}`,
      freshness,
      ...staleLine(status),
      ...clock_faults,
    ]),
    resources,
    lastRuns.length > 0 ? runs + paragraphs(errors) : "no runs yet\n",
    paragraphs([describeRound(status.last_watch_round)]),
    paragraphs([...describeSchedule(status), ...describeBehind(status)]),
    ...status.jobs.map((job) => paragraph(describeJob(job, new Date(status.generated_at)), out)),
    status.open_builds.length > 0 ? openBuilds : "no open builds\n",
    paragraphs([
      `${counted(status.quarantined, "record")} in quarantine, ${describeUnresolved(status)}`,
      describeSizes(status.sizes),
    ]),
    ...troubles.map((text) => paragraph(text, out)),
  ].join("\n");
}

function staleLine({ resources, stale_after_ms }: StatusDocument): string[] {
  const lists = resources.filter(({ stale }) => stale).map(({ resource }) => resource);
  return lists.length === 0
    ? []
    : [`stale, not read well within ${formatSpan(stale_after_ms)}: ${lists.join(", ")}`];
}

function describeRound(round: RunRow | null): string {
  if (round === null) return "no round of the watch yet";
  const { run_id, status, started_at, reason } = round;
  return `last round of the watch: run ${run_id}, ${status}, ${toSecond(started_at)}${reason ? `: ${reason}` : ""}`;
}

function describeSchedule({ leader, next_runs }: StatusDocument): string[] {
  if (leader === null) return ["no worker leads, so no run is scheduled"];
  const { pid, host, since, term } = leader;
  const next = (next_runs ?? []).map(
    ({ job, cron, timezone, due_at }) =>
      `next ${job}: ${due_at === null ? "never" : toSecond(due_at)} (${cron}, ${timezone})`,
  );
  return [`process ${pid} on ${host} leads since ${toSecond(since)}, term ${term}`, ...next];
}

/** Nothing while a refresh may be under way. */
function describeBehind({
  reports_behind_since: since,
  reports_failed: failed,
  generated_at,
}: StatusDocument): string[] {
  if (failed !== null)
    return [
      `the refresh of the reports failed at ${toSecond(failed.at)}, so they are older: ${failed.error}`,
    ];
  if (since === null || Date.parse(generated_at) - Date.parse(since) < REPORTS_LATE_MS) return [];
  return [`the reports lack what runs have found since ${toSecond(since)}; \`docmirror doctor\` says why`];
}

function describeChecked({ checked: all }: StatusDocument): string[] {
  if (!all) return [];
  const { nights, checked, equal, wrong, denied } = all;
  const faults = wrong.map(({ resource, id, fault }) => `; ${resource} ${id} is wrong (${fault})`);
  return [
    `checked: ${grouped(equal)} of ${grouped(checked)} records equal in ${counted(nights, "night")}${faults.join("")}`,
    ...(denied.length > 0 ? [`${describeDenied(denied)}: ask its owner`] : []),
  ];
}

/** The round of the builds and the search; nothing where the newest sync had neither and no round is under way. */
function describeBelowHead({ below_head }: StatusDocument): string[] {
  if (below_head === null) return [];
  const { run_id, round, round_records, round_reason, search_requests, search_is_done } = below_head;
  const way = round && `${round.records} of ${round.total_count} since ${toSecond(round.began_at)}`;
  const night =
    round_records === null
      ? []
      : [`run ${run_id} read ${round_records}${round_reason ? `: ${round_reason}` : ""}`];
  const search = `search below the head: run ${run_id} sent ${search_requests} requests and ${search_is_done ? "settled" : "did not settle"} the difference`;
  return [
    ...(way || night.length > 0
      ? [`round of the builds: ${[way ?? "at its end", ...night].join("; ")}`]
      : []),
    ...(search_requests === null ? [] : [search]),
  ];
}

/** The service has references to records that it deleted, so these are no fault by themselves. */
const describeUnresolved = ({ unresolved_references: count }: StatusDocument): string =>
  `${counted(count, "reference")} to records that are not here${count === 0 ? "" : ", such as deleted ones"}`;

/** The records that nothing settles; nothing where there are none. */
function describeUndecided({ undecided_records }: StatusDocument): string[] {
  const { count, first } = undecided_records;
  if (count === 0) return [];
  const records = first.map(({ resource, id }) => `${resource} ${id}`).join(", ");
  const more = count > first.length ? ` and ${count - first.length} more` : "";
  return [`kept, because their lists do not show them and their details decide nothing: ${records}${more}`];
}

/** A run that is under way has not counted them yet. */
const requestsOf = ({ status, requests }: RunRow): number | null => (status === "running" ? null : requests);

function tookOf({ started_at, finished_at }: RunRow): string | null {
  return finished_at === null ? null : formatSpan(Date.parse(finished_at) - Date.parse(started_at));
}
