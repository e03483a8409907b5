import { type Command, InvalidArgumentError } from "commander";
import { duration } from "../base/config/setting-values.ts";
import { countPrunable, type PruneCounts } from "../mirror/run/prunable.ts";
import { findHistoryBegin, prune } from "../mirror/run/prune.ts";
import { runCommand } from "./context/run-command.ts";
import { withMirror } from "./context/with-mirror.ts";
import { createCommand } from "./usage/create-command.ts";
import { parsedBy } from "./usage/parsed-by.ts";

interface Options {
  olderThan: number;
  dryRun?: true;
  json?: true;
}

const MAX_YEARS = 100;
const YEAR_MS = 365 * 86_400_000;

export function pruneCommand(summary: string): Command {
  return createCommand({
    name: "prune",
    summary,
    settings: ["databaseUrl", "dataDir"],
    examples: [
      ["prune --older-than 400d --dry-run", "counts the changes and runs that would be removed"],
      ["prune --older-than 400d", "removes them; the history then begins 400 days ago"],
    ],
  })
    .requiredOption(
      "--older-than <duration>",
      "remove changes and runs that are older than this, such as 400d; required",
      parseAge,
    )
    .option("--dry-run", "count what would be removed, remove nothing")
    .option("--json", "print one JSON document")
    .action(
      runCommand<Options>((context, { options }) =>
        withMirror(context, "prune", async (sql, { describe }) => {
          const { clock, out, signal } = context;
          const now = clock.now();
          const horizon = new Date(now.getTime() - options.olderThan).toISOString();
          const isDry = options.dryRun === true;
          const counts = isDry
            ? await countPrunable(sql, horizon)
            : await prune({ sql, horizon, prunedAt: now.toISOString(), signal });
          const begin = await findHistoryBegin(sql);
          if (options.json) {
            const facts = { horizon, dry_run: isDry, ...counts, history_begins_at: begin };
            await out.json({ database: describe, ...facts });
          } else await out.write(render(counts, horizon, isDry, begin));
          return 0;
        }),
      ),
    );
}

function parseAge(text: string): number {
  const ageMs = parsedBy(duration)(text);
  if (ageMs > MAX_YEARS * YEAR_MS) throw new InvalidArgumentError(`It is longer than ${MAX_YEARS} years.`);
  return ageMs;
}

function render({ changes, runs }: PruneCounts, horizon: string, isDry: boolean, begin: string | null) {
  const what = `${count(changes, "change")} and ${count(runs, "run")} from before ${horizon}`;
  if (isDry) return `${what} would be removed\n`;
  const past = begin === null ? "" : `the mirror's history begins at ${begin}\n`;
  return `${what} removed\n${past}`;
}

const count = (number: number, what: string): string =>
  `${number.toLocaleString("en-US")} ${what}${number === 1 ? "" : "s"}`;
