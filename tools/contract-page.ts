import { SETTING_KEYS, SETTINGS } from "../src/base/config/settings.ts";
import { EXITS } from "../src/base/errors.ts";
import { COMMANDS } from "../src/cli/commands.ts";
import * as client from "../src/client/index.ts";
import type { RunSummary, WalkSummary } from "../src/mirror/lists/summary.ts";
import type { StatusDocument } from "../src/report/status/read-status.ts";
import { figureMetrics, type MetricFacts, processMetrics } from "./metrics-page.ts";

const WALK: WalkSummary = {
  walk: "whole",
  pages: 0,
  records: 0,
  inserted: 0,
  updated: 0,
  unchanged: 0,
  deleted: 0,
  restored: 0,
  quarantined: 0,
  total_count: 0,
};
const SUMMARY: RunSummary = {
  run_id: 7,
  kind: "full",
  status: "succeeded",
  started_at: "…Z",
  finished_at: "…Z",
  duration_ms: 0,
  requests: 0,
  asked_for: { pages: 0, root: 0, schemas: 0, details: 0, references: 0 },
  bytes: 0,
  resources: { build: WALK },
  references: { resolved: 0, unresolved: 0 },
  unfinished: { deletions: 0, waiting: 0, references: 0, open_builds: 0, deficit: 0 },
  transitions: 0,
};

/** A document with a row in each list. A test holds its fields against a real one. */
export const STATUS: StatusDocument = {
  service: "docs.example.org",
  stale: false,
  stale_after_ms: 108_000_000,
  last_good_at: "…Z",
  age_ms: 0,
  oldest_list: { resource: "user", why: "…" },
  clock_faults: [],
  resources: [
    {
      resource: "build",
      last_good_at: "…Z",
      age_ms: 0,
      stale: false,
      walk: "head",
      read_since: "…Z",
      rows: 0,
    },
  ],
  runs: [
    {
      run_id: 7,
      kind: "full",
      status: "succeeded",
      started_at: "…Z",
      finished_at: "…Z",
      requests: 0,
      error: null,
      reason: null,
    },
  ],
  last_watch_round: {
    run_id: 8,
    kind: "watch",
    status: "succeeded",
    started_at: "…Z",
    finished_at: "…Z",
    requests: 0,
    error: null,
    reason: null,
  },
  jobs: [
    {
      job: "backup",
      good_at: "…Z",
      what: "/backups/docmirror-….backup",
      bytes: 0,
      failed_at: null,
      error: null,
      failures: 0,
    },
  ],
  leader: { instance: "…", pid: 4711, host: "…", term: 1, since: "…Z", heartbeat_at: "…Z" },
  reports_behind_since: "…Z",
  reports_failed: { at: "…Z", error: "…" },
  open_builds: [{ state: "building", open: 0, stuck: 0, vanished: 0, oldest: "2026-11-03T12:00:00Z" }],
  quarantined: 0,
  unresolved_references: 0,
  count_gaps: [],
  held_deletions: [{ resource: "file", records: 0, since: "…Z", until: "…Z" }],
  dates_in_change: null,
  dropped_lists: [],
  checked: {
    nights: 30,
    checked: 600,
    equal: 599,
    wrong: [{ resource: "build", id: "4711", fields: ["success"], fault: "success" }],
    denied: [],
  },
  below_head: {
    run_id: 7,
    round_records: 0,
    round_reason: "…",
    search_requests: 0,
    search_is_done: true,
    round: { began_at: "…Z", records: 0, total_count: 0 },
  },
  muted_projects: [{ project_slug: "pip", until: "…Z" }],
  undecided_records: {
    count: 1,
    first: [{ resource: "user", id: "…", noticed_at: "…Z", asked_at: "…Z" }],
  },
  sizes: {
    database_bytes: 0,
    schema_bytes: { mirror: 0, report: 0, rollup: 0, sync: 0 },
    logs_bytes: 0,
    growth_bytes_per_day: 0,
    limit_bytes: null,
    days_left: null,
  },
  next_runs: [{ job: "sync", cron: "17 2 * * *", timezone: "Etc/UTC", due_at: "…Z" }],
  schema: { state: "current", migrations: 17, missing: 0, unknown: 0, outdated: 0 },
  version: "1.0.0",
  generated_at: "…Z",
};

/** What supervisors and monitors ask. A test holds them against the app's own. */
export const HEALTH_PATHS: Readonly<Record<string, string>> = {
  "/livez": "200 `ok` as long as the process turns; never asks the database",
  "/readyz": "200 when the database answers and the program may use its schema, else 503 with the reason",
  "/status.json": "[the status document](#the-status-document)",
};

/** The paths of the report page. A test holds them against the app's own. */
export const PATHS: Readonly<Record<string, string>> = {
  "/": "what is broken now; `show` is main, worked or never, `why` an error class, `page` from 1",
  "/trends": "how builds went over time",
  "/projects?q=TEXT": "the projects whose slug or name contains a text",
  "/project/SLUG": "one project, its versions and builds; also `/project?slug=SLUG`",
  "/build/ID": "one build; also `/build?id=ID`",
  "/build/ID/log.txt": "the log of a build as text",
  "/errors": "why builds fail; `kind` is an error class",
  "/mirror": "how fresh the mirror is, and its runs",
  "/find?q=TEXT": "goes to the project or build of that name",
  "/report/RELATION.csv": "every row of a relation of schema `report`; also `.json`, an array of objects",
  "/dictionary": "the columns of all relations, with a sentence for each",
  "/files/PAGE/BLOCK.csv":
    "every row of a block of a page, as its link names them: PAGE is now, trends, projects, errors, mirror, dictionary, project or build; also `.json`",
  "/feed.atom": "breaks and fixes as an Atom feed",
  "/project/SLUG/feed.atom": "those of one project; also `/feed.atom?project=SLUG`",
};

/** `docs/contract.md`: the names that other people rely on, from the code that defines them. */
export async function contractPage(): Promise<string> {
  return `# The contract

For authors of scripts, monitors and dashboards: the names that a new version keeps. Everything else may change. What a page calls an older name goes
with version 2.0.0. \`npm run docs:contract\` writes this page from the code.

## Commands

The commands, arguments, flags and examples of [cli.md](cli.md):
${COMMANDS.map(({ name }) => `\`${name}\``).join(", ")}.

Results go to stdout, the log and progress to stderr.

## Exit codes

Any other code is a failure. A script may try again after 3 and 5. Code 10 is not a fault, and after 8 all is stored. With any other code, a person must look.

${Object.values(EXITS)
  .map(([code, ...words]) => `- ${code}: ${words.filter(Boolean).join(" → ")}`)
  .join("\n")}

## Settings

The names, flags and defaults of [settings.md](settings.md), and the order in which flags, environment and \`.env\` count:
${SETTING_KEYS.map((key) => `\`${SETTINGS[key].name}\``).join(", ")}.

\`DATABASE_URL\` and \`DOCMIRROR_READ_URL\` are read as libpq reads them:

- Without \`sslmode\` it is \`prefer\`: TLS without a check of the server, and none only where the server says that it has no TLS. After a handshake or a login
  that failed, libpq would go on without TLS; docmirror does not. \`allow\` is \`prefer\`. \`sslrootcert\` without \`sslmode\` is \`verify-full\`.
- A unix socket (\`?host=/folder\`) has no TLS.
- A parameter of libpq is honoured or refused with exit code 2. Another name is a setting of the session, such as \`statement_timeout=5s\`; one that
  the server does not know is exit code 2 too.
- Of the variables of libpq, \`PGUSER\`, \`PGPASSWORD\`, \`PGDATABASE\`, \`PGSSLMODE\`, \`PGSSLROOTCERT\`, \`PGSSLCERT\`, \`PGSSLKEY\` and \`PGTARGETSESSIONATTRS\`
  count where the URL does not say otherwise. Each other variable that begins with \`PG\` is left to other programs.

\`DOCMIRROR_WEBHOOK_URL\` gets the types and fields of [notices.md](notices.md). Types and fields are only ever added.

## The run summary

\`sync --json\` and \`watch --once --json\` print:

\`\`\`json
${summaryExample()}
\`\`\`

- \`kind\`: \`full\`, \`incremental\`, \`watch\`, \`quarantine\` or \`repair\` (\`verify --repair\`).
- \`status\`: \`succeeded\`, \`partial\`, \`failed\` or \`interrupted\`.
- \`walk\`: \`whole\`, \`not_whole\`, \`head\` or \`skipped\` ([glossary](README.md#glossary)).
- \`asked_for\` are the \`requests\` by kind: pages of lists, the root listing, schemas, single records, and records that others refer to.
- \`records\` counts distinct ids. \`unfinished\` counts work that is left for the next run. Two of its numbers make
  no run partial: \`waiting\`, records that are gone but were seen within \`DOCMIRROR_REPLICA_LAG\`, and \`deficit\`, records that the service no longer
  counts and that a search did not find. Their list does not count as read well meanwhile.
- \`dropped\` of a walk is true where the service has no such list for over a week, or a setting leaves it out. Its \`reason\` makes no run partial.
- \`shown\` of a walk is how many records a reading from end to end showed, where that is not \`total_count\`, else absent. Above 20 records and
  5 % that are not shown the list is cut, and \`not_whole\`.
- \`lagging\` of a walk is true where its head came from a replica that is behind, else absent. Its \`reason\` then makes no run partial.
- \`round\` of a walk is the part of a [round](internals/reliability.md#rounds) that was read again below the head: its \`records\`, and the \`reason\` why
  it read nothing or broke off, which makes the run partial. \`search\` is a search for what came or went there: its \`requests\`, and whether it \`settled\` the difference.
- \`content\` ([content.md](content.md)) is there with \`DOCMIRROR_CONTENT\`: \`fetched\`, \`unchanged\`, \`failed\`, \`left_out\` (by \`robots.txt\`) and \`left\` pages, \`ended\` (\`done\`, \`budget\`, \`lost\`,
  \`stopped\`, \`busy\` or \`failed\`), \`requests\`, \`bytes\` and \`duration_ms\`. It has no part in \`status\`.
- \`reason\` of a walk, \`error\` and \`warnings\` are there when there is something to say. So is \`damaged\`: the records with bytes that
  did not fit the charset of their reply. They are stored with U+FFFD in their place, and the log names each.

## The status document

\`status --json\`, and \`/status.json\` of \`worker\` and \`serve\`, print how the mirror is. The document is the same for the same settings and the
same database; only \`status --json\` names that, in one field more, \`database\`, because anyone may read the other.

\`\`\`json
${statusExample()}
\`\`\`

- \`stale\`: whether any list is. A list is stale when it was not read well for \`stale_after_ms\`, or never: \`DOCMIRROR_STALE_AFTER\`, or the value of
  \`--max-age\`. A list was read well when a
  walk was whole, or when its head was read down to known builds and the counts were then equal.
- \`last_good_at\` is when the walk began that read the list well, in an earlier run where it was resumed: its first page is its oldest. It and
  \`age_ms\` are those of the oldest list, \`oldest_list\`. They are null while a list was never read well; \`age_ms\` also where a clock
  was wrong, and \`clock_faults\` then says so.
- \`resources\`: the lists. \`walk\` is \`whole\` or \`head\`. \`rows\` are not deleted. \`read_since\`: since
  when every record was read at least once, by a whole walk or in rounds of some nights; null where that never was.
- \`runs\`: the newest 20 that are no round of the watch. \`kind\` and \`status\` are those of [the run summary](#the-run-summary), or \`status\` is \`running\`; \`reason\` says why one did not succeed.
- \`last_watch_round\`: null when there was none.
- \`jobs\`: how backups, exports and prunes ended last (\`what\` was written or removed, \`good_at\` is when that began), and since when they failed.
- \`leader\`: the process that runs the schedule; null when none does. \`term\` counts the takeovers.
- \`reports_behind_since\`: since when a run has ended that the reports lack; null while they lack none.
- \`reports_failed\`: when their refresh failed last, and why; null once one has gone well.
- \`service\`: the host of the mirrored service, or \`demo\`; null before the first sync.
- \`open_builds\`: builds that have not ended, by state, null for those without one. \`oldest\` is when the oldest of them was triggered.
- \`quarantined\`: records that could not be stored. \`unresolved_references\`: references to records that the mirror lacks.
- \`dropped_lists\`: lists that the root listing lacks (\`why\` is \`absent\`, after a week \`dropped\`), or that \`DOCMIRROR_LEAVE_OUT\` names (\`left out\`).
- \`count_gaps\`: lists that showed another number of records (\`shown\`), when they were read from end to end, than the service counts (\`counted\`).
- \`held_deletions\`: lists that miss more records than \`DOCMIRROR_MAX_DELETE_RATIO\` allows, \`since\` when, and \`until\` when they are kept at least; null: until a person decides.
- \`checked\`: the records that checks by sample (\`docmirror verify\`) of 30 days compared, how many were equal, and which are wrong by the newest one (\`fault\` says it in words).
  \`denied\` are those that the service's list shows and whose detail it denies: no fault of the mirror. Null without one.
- \`below_head\`: the night of a round (\`round_records\`, \`round_reason\`) and the search of the newest sync, as \`report.walks\` has them, and the round under way.
- \`dates_in_change\`: \`since\` when the service shows most builds with another date, and how (\`detail\`), until all were read since; else null.
- \`muted_projects\`: projects of which no notice is noted (\`docmirror notify --mute\`), and until when.
- \`undecided_records\`: records that their lists no longer show and whose details decided nothing in three runs. They are kept and still asked for.
  \`first\` has at most 20.
- \`sizes\`: bytes of the database, of docmirror's schemas, and of the logs of builds (a part of \`mirror\`). \`growth_bytes_per_day\` is that of the syncs of 30 days, null
  until they span seven. \`limit_bytes\` is \`DOCMIRROR_DATABASE_LIMIT\`, of the embedded Postgres the room on its disk, else null; \`days_left\` until then, null where it does not grow.
- \`next_runs\`: when \`sync\`, \`watch\`, \`backup\`, \`export\` and \`prune\` are due by the cron lines of the process that answers; give \`serve\` and \`status\` the worker's settings. A failed run
  is tried again earlier, and a leader that is a \`watch\` makes rounds alone. Null where nobody leads, so that no process runs a schedule.
- \`schema\`: the database compared with the program. \`state\` is \`current\`, \`older\`, \`newer\` or \`none\`. The others count migrations that the program knows,
  that the database lacks, that only the database has, and views and functions that differ.
- \`version\`: of the program that answers. \`generated_at\`: when it read the document.

Moments are ISO 8601 in UTC.

## Tables

- Schemas \`mirror\` and \`sync\`: every table, view, function and column of [tables.md](tables.md) and [internals/tables.md](internals/tables.md).
- Schema \`report\`: every relation and column of [data-dictionary.md](data-dictionary.md). Columns are only ever added, at the end.

Schema \`rollup\` is not part of the contract. [Each refresh](reports.md#refreshes) notifies the channel \`docmirror_run\`.

## The client

\`docmirror/client\` ([client.md](client.md)) exports the types of its options and answers, and:
${Object.keys(client)
  .toSorted()
  .map((name) => `\`${name}\``)
  .join(", ")}.

No other path of the package is part of the contract.

## The log

With \`DOCMIRROR_LOG_FORMAT=json\` each line of the log has \`level\`, \`time\` and \`msg\`, those of a run \`run_id\`, those about a list \`resource\`, and those about a
failed request \`request_id\` ([how](operations.md#the-log)). Names of facts are in snake_case. Sentences and other facts may change.

## HTTP

Each reply has \`X-Request-Id\`.

\`worker\` and \`serve\` answer GET and HEAD:

${Object.entries(PATHS)
  .map(([path, shows]) => `- \`${path}\`: ${shows}`)
  .join("\n")}

For supervisors and monitors ([how](serving.md#health)):

${Object.entries(HEALTH_PATHS)
  .map(([path, shows]) => `- \`${path}\`: ${shows}`)
  .join("\n")}

Pages, CSV and JSON take \`since\`, \`until\`, \`version\` and \`type\`. CSV and JSON take \`project\` too. Below \`/api/\` the
server answers the service's own API, and \`/openapi.json\` describes it ([how](serving.md)).

## Metrics

\`/metrics\` and \`--metrics-file\` give these ([what they mean](metrics.md)). New ones may come, and labels may get new values.

${[...(await figureMetrics()), ...(await processMetrics())].map(metricLine).join("\n")}
`;
}

function metricLine({ name, labels }: MetricFacts): string {
  return `- \`${name}${labels.length > 0 ? `{${labels.join(",")}}` : ""}\``;
}

/** A line for each field. */
function statusExample(): string {
  const line = (value: unknown) =>
    JSON.stringify(value)
      .replaceAll(/([{,]|":)(?=["[{\dtfn])/g, "$1 ")
      .replaceAll("}", " }")
      .replaceAll("{  ", "{ ");
  const fields = Object.entries(STATUS).map(([name, value]) => `  "${name}": ${line(value)}`);
  return `{\n${fields.join(",\n")}\n}`;
}

/** The outer object with a line for each field, each object in it on one line. */
function summaryExample(): string {
  const line = (value: unknown) =>
    JSON.stringify(value)
      .replace(/([{,:])(?=["\d{])/g, "$1 ")
      .replaceAll("}", " }");
  const { resources, ...rest } = SUMMARY;
  const fields = [
    ...Object.entries(rest).map(([name, value]) => `  "${name}": ${line(value)}`),
    `  "resources": { "build":\n    ${line(resources.build)} }`,
  ];
  return `{\n${fields.join(",\n")}\n}`;
}
