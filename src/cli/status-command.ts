import { type Command, InvalidArgumentError, Option } from "commander";
import { formatSpan } from "../builds/format-span.ts";
import { duration } from "../config/setting-values.ts";
import { EXIT } from "../errors.ts";
import { findStatus, type MirrorStatus, type RunRow } from "../sync/find-status.ts";
import { createCommand } from "./create-command.ts";
import type { Output } from "./output.ts";
import { runCommand } from "./run-command.ts";
import { renderTable } from "./table.ts";
import { withMirror } from "./with-mirror.ts";

interface Options {
  maxAge?: number;
  json?: true;
}

export function statusCommand(summary: string): Command {
  return createCommand({
    name: "status",
    summary,
    settings: ["databaseUrl", "dataDir", "stuckAfter", "sourceTimezone"],
    examples: [
      ["status", "how fresh the mirror is, the last runs, open builds"],
      ["status --max-age 30h", "exits 11 when the last good sync is older"],
    ],
  })
    .addOption(
      new Option("--max-age <duration>", "exit 11 when the last good sync is older, such as 30h").argParser(
        parseAge,
      ),
    )
    .option("--json", "print one JSON document")
    .action(
      runCommand<Options>((context, { options }) =>
        withMirror(context, { command: "status", max: 4 }, async (sql, database) => {
          const { config, clock, out } = context;
          const now = clock.now();
          const { stuckAfterMs, sourceTimezone } = config;
          const status = await findStatus(sql, { now, stuckAfterMs, sourceTimezone });
          const ageMs = status.last_good_sync_at
            ? Math.max(0, now.getTime() - Date.parse(status.last_good_sync_at))
            : null;
          const isStale = options.maxAge !== undefined && (ageMs === null || ageMs > options.maxAge);
          if (options.json) await out.json({ database: database.describe, stale: isStale, ...status });
          else await out.write(render(status, ageMs, out));
          if (!isStale) return EXIT.done;
          const age = ageMs === null ? "there was none" : `it was ${formatSpan(ageMs)} ago`;
          context.log.error(`the last good sync is too old: ${age}`);
          return EXIT.stale;
        }),
      ),
    );
}

function parseAge(text: string): number {
  const parsed = duration(text);
  if ("fault" in parsed) throw new InvalidArgumentError(`It ${parsed.fault}.`);
  return parsed.value;
}

function render(status: MirrorStatus, ageMs: number | null, out: Output): string {
  const { colour } = out;
  const good = ageMs === null ? "none yet" : `${status.last_good_sync_at} (${formatSpan(ageMs)} ago)`;
  const resources = renderTable({
    head: ["resource", "rows", "last good walk", "walk"],
    rows: status.resources.map(({ resource, rows, last_good_at, walk }) => [
      resource,
      rows,
      last_good_at ?? "never",
      walk,
    ]),
    right: ["rows"],
    colour,
  });
  const runs = renderTable({
    head: ["run", "kind", "status", "started", "finished", "requests", "error"],
    rows: status.runs.map((run) => [
      run.run_id,
      run.kind,
      run.status,
      run.started_at,
      run.finished_at,
      run.requests,
      run.error,
    ]),
    right: ["run", "requests"],
    colour,
  });
  const open = renderTable({
    head: ["state", "open", "stuck", "vanished", "oldest"],
    rows: status.open_builds.map((row) => [row.state, row.open, row.stuck, row.vanished, row.oldest]),
    right: ["open", "stuck", "vanished"],
    colour,
  });
  return [
    `last good sync: ${good}\n`,
    resources,
    status.runs.length > 0 ? runs : "no runs yet\n",
    renderRound(status.last_watch_round),
    status.open_builds.length > 0 ? open : "no open builds\n",
    `${status.quarantined} records in quarantine, ${status.unresolved_references} unresolved references\n`,
  ].join("\n");
}

function renderRound(round: RunRow | null): string {
  if (round === null) return "no round of the watch yet\n";
  const { run_id, status, started_at, error } = round;
  return `last round of the watch: run ${run_id}, ${status}, ${started_at}${error ? `: ${error}` : ""}\n`;
}
