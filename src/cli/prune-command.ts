import { InvalidArgumentError } from "commander";
import { duration } from "../base/config/setting.ts";
import { ConfigError, EXIT } from "../base/errors.ts";
import { counted, sized } from "../base/text.ts";
import {
  countPrunable,
  describePruned,
  findHistoryBegin,
  type PruneCounts,
  prune,
} from "../mirror/run/prune.ts";
import { type LogPruneCounts, pruneLogs } from "../report/logs/prune-logs.ts";
import type { Sql } from "../store/connection/sql.ts";
import type { CommandContext } from "./context/run-command.ts";
import { withMirror } from "./context/with-mirror.ts";
import type { CommandDeclaration } from "./usage/create-command.ts";
import { parsedBy } from "./usage/flag-values.ts";

interface Options {
  olderThan?: number;
  logsOlderThan?: number;
  logsExport?: string;
  dryRun?: true;
}

const KIND = "changes and runs";
const MAX_YEARS = 100;
const YEAR_MS = 365 * 86_400_000;

export const command: CommandDeclaration<Options> = {
  settings: ["database", "sourceTimezone"],
  exits: ["partial", "unprinted"],
  examples: [
    ["prune --older-than 400d --dry-run", "counts the changes and runs that would be removed"],
    ["prune --older-than 400d", "removes them; the history then begins 400 days ago"],
    [
      "prune --logs-older-than 400d --logs-export /data/logs",
      "removes the logs of builds of before that the export holds",
    ],
  ],
  hasJson: true,
  flags: (command) =>
    command
      .option(
        "--older-than <duration>",
        "remove changes and runs that are older than this, such as 400d",
        parseAge,
      )
      .option(
        "--logs-older-than <duration>",
        "remove logs of finished builds that are older than this",
        parseAge,
      )
      .option("--logs-export <folder>", "the folder of `export --logs`; only logs that it holds are removed")
      .option("--dry-run", "count what would be removed, remove nothing"),
  run: async (context, { options }) => {
    assertWhole(options);
    return withMirror(context, async (sql, { describe }) => {
      const now = context.clock.now();
      const horizon = horizonOf(now, options.olderThan);
      const isDry = options.dryRun === true;
      // First, because a folder that is no export leaves everything as it was.
      const logs = await pruneOldLogs(context, sql, now, options);
      let counts = { changes: 0, runs: 0 };
      if (horizon !== null)
        counts = await (isDry
          ? countPrunable(sql, KIND, horizon)
          : prune({ sql, kind: KIND, horizon, prunedAt: now.toISOString(), signal: context.signal }));
      const begin = await findHistoryBegin(sql);
      const facts = { horizon, dry_run: isDry, ...counts, history_begins_at: begin, logs };
      await context.printStored({ database: describe, ...facts }, () => {
        const history = horizon === null ? "" : render(counts, horizon, isDry, begin);
        return history + (logs === null ? "" : renderLogs(logs, isDry));
      });
      return logs !== null && logs.damaged.length > 0 ? EXIT.partial : EXIT.done;
    });
  },
};

function assertWhole({ olderThan, logsOlderThan, logsExport }: Options): void {
  if (olderThan === undefined && logsOlderThan === undefined)
    throw new ConfigError("nothing to prune: --older-than and --logs-older-than are both missing", {
      hint: "as in: `docmirror prune --older-than 400d`",
    });
  if ((logsOlderThan === undefined) !== (logsExport === undefined))
    throw new ConfigError("--logs-older-than and --logs-export need each other", {
      hint: "only logs that an export holds are removed: `docmirror export --logs --out FOLDER`",
    });
}

function parseAge(text: string): number {
  const ageMs = parsedBy(duration)(text);
  if (ageMs > MAX_YEARS * YEAR_MS) throw new InvalidArgumentError(`It is longer than ${MAX_YEARS} years.`);
  return ageMs;
}

const horizonOf = (now: Date, age: number | undefined): string | null =>
  age === undefined ? null : new Date(now.getTime() - age).toISOString();

type LogFacts = LogPruneCounts & { horizon: string };

async function pruneOldLogs(
  { config, signal }: CommandContext,
  sql: Sql,
  now: Date,
  { logsOlderThan, logsExport, dryRun }: Options,
): Promise<LogFacts | null> {
  const horizon = horizonOf(now, logsOlderThan);
  if (horizon === null || logsExport === undefined) return null;
  const what = { sql, folder: logsExport, horizon, sourceTimezone: config.sourceTimezone };
  return { horizon, ...(await pruneLogs({ ...what, isDry: dryRun === true, signal })) };
}

function render(counts: PruneCounts, horizon: string, isDry: boolean, begin: string | null) {
  const what = `${describePruned(counts)} from before ${horizon}`;
  if (isDry) return `${what} would be removed\n`;
  const past = begin === null ? "" : `the mirror's history begins at ${begin}\n`;
  return `${what} removed\n${past}`;
}

function renderLogs({ removed, bytes, not_exported, damaged, horizon }: LogFacts, isDry: boolean): string {
  const lines = [
    `${counted(removed, "log")} (${sized(bytes)}) of builds from before ${horizon} ${isDry ? "would be removed" : "removed"}`,
    ...(not_exported > 0
      ? [`${counted(not_exported, "log")} not removed: the export does not hold them as they are`]
      : []),
    ...damaged.map((path) => `${path} is missing or damaged, so none of its logs was removed`),
  ];
  return `${lines.join("\n")}\n`;
}
