import {
  COMMAND_LABELS,
  OUTCOMES,
  REQUEST_LABELS,
  RUN_KINDS,
  RUN_STATUSES,
} from "../src/base/metrics/labels.ts";
import { createMeters } from "../src/base/metrics/meters.ts";
import { FIGURE_METRICS } from "../src/report/status/figures.ts";
import { createFigureRegistry } from "../src/report/status/read-figures.ts";
import { OPEN_STATES } from "../src/resources/build-states.ts";

export interface MetricFacts {
  name: string;
  type: string;
  labels: readonly string[];
  help: string;
}

/** The metrics that come from the database, and so are in the file of `--metrics-file` too. */
export async function figureMetrics(): Promise<MetricFacts[]> {
  const up = await createFigureRegistry(false, null).getMetricsAsJSON();
  return [...up.map(({ name, help }) => ({ name, type: "gauge", labels: [], help })), ...FIGURE_METRICS];
}

/** The metrics of our own that a process counts. */
export async function processMetrics(): Promise<MetricFacts[]> {
  const { registry } = createMeters();
  const metrics = await registry.getMetricsAsJSON();
  return metrics
    .filter(({ name }) => name.startsWith("docmirror_"))
    .map(({ name, help, type }) => {
      const { labelNames } = registry.getSingleMetric(name) as unknown as { labelNames: string[] };
      // The names of the types are numbers for the compiler and texts in truth.
      return { name, help, type: String(type), labels: labelNames };
    });
}

const row = ({ name, type, labels, help }: MetricFacts) =>
  `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(", ")} | ${help} |`;
const table = (metrics: readonly MetricFacts[]) =>
  ["| metric | type | labels | means |", "| --- | --- | --- | --- |", ...metrics.map(row)].join("\n");
const list = (values: readonly string[]) => values.map((value) => `\`${value}\``).join(", ");

/** `docs/metrics.md`: every metric with its meaning, from the code that defines it. */
export async function metricsPage(): Promise<string> {
  return `# Metrics

For operators with Prometheus: what can be watched, how it gets there, and what each figure means. \`npm run docs:contract\` writes this page from
the code.

## Scraping

\`docmirror worker\` and \`docmirror serve\` answer \`/metrics\` in the text format of Prometheus, without a limit of rate and without a password, like
their pages. \`deploy/prometheus/prometheus.yml\` is a sample. Give all processes of one mirror one job. A target that is a name and not an
address must be in \`DOCMIRROR_HTTP_ALLOWED_HOSTS\`.

What is told of the mirror is read from the database, in 2 s at most and at most every 3 s. So a restarted process and a standby tell the same as
the leader. While the database is away, the reply still has status 200, \`docmirror_database_up\` is 0, and those figures are absent rather than
old. A role that lacks rights, as after an upgrade, shows \`docmirror_database_up\` 1 without them; run \`docmirror grant-reader\` again.

## Runs that end

\`docmirror sync --metrics-file PATH\` and \`docmirror watch --once --metrics-file PATH\` write a file for the textfile collector of node_exporter. Its
folder must be there, and its name must end in \`.prom\`:

\`\`\`
17 2 * * *  docmirror sync --metrics-file /var/lib/node_exporter/docmirror.prom
\`\`\`

- It is written at the end of each run, also of one that failed or was stopped, and replaced in one step. The samples have no times.
- It has the figures [from the database](#from-the-database) and \`docmirror_build_info\`. The counters of a process are not in it: they would begin
  at 0 in each run, and \`increase()\` would count nothing. \`docmirror_last_run_*\` are the numbers of the newest run of each kind instead.
- All commands of a mirror can share one file. Two mirrors on one machine cannot both use the collector, which refuses equal series.

## Alerts

\`deploy/prometheus/alerts.yml\` has rules for both ways, and \`deploy/prometheus/alerts_test.yml\` shows when each one comes. Each
alert has a severity, says what to do, and names its section of [operations.md](operations.md#alerts) in \`runbook\`. The rules assume the default of
\`DOCMIRROR_STALE_AFTER\`.

## From the database

${table(await figureMetrics())}

## Counted by a process

These begin at 0 when a process starts. A standby counts no runs.

${table(await processMetrics())}

\`process_*\` and \`nodejs_*\` are those of any Node process: processor time, memory, heap, event loop lag, garbage collection, open files.

## Labels

Labels have fixed values, whatever the service sends. No label is a project.

- \`resource\`: a resource. Requests also have ${list(REQUEST_LABELS.slice(5))}: the root listing, a schema, a page of documentation, anything else.
- \`code\`, \`reason\`: the status of the reply, \`timeout\`, \`network\` (no reply), \`shape\` (a reply that does not follow the interface), or \`stopped\` (given up
  because the run ended). A status that no standard names is shown by its class, such as \`5xx\`.
- \`kind\`: ${list(RUN_KINDS)}. \`status\`: ${list(RUN_STATUSES)}.
- \`command\`: ${list(COMMAND_LABELS)}, where the first is each run that reads the lists.
- \`outcome\`: ${list(OUTCOMES)}. They are those of the run summary, with records that were asked for one by one.
- \`state\` of an open build: ${list(OPEN_STATES)} or \`other\`.
`;
}
