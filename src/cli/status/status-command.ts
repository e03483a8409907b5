import type { Command } from "commander";
import { duration } from "../../base/config/setting.ts";
import { EXIT, SchemaVersionError } from "../../base/errors.ts";
import { readDefinitions } from "../../report/definitions.ts";
import { createReadStatus } from "../../report/status/read-status.ts";
import { STATUS_SETTINGS } from "../../report/status/status-settings.ts";
import { type CommandContext, runCommand } from "../context/run-command.ts";
import { withMirror } from "../context/with-mirror.ts";
import { createCommand } from "../usage/create-command.ts";
import { parsedBy } from "../usage/parsed-by.ts";
import { renderStatus } from "./render-status.ts";

interface Options {
  /** True where the flag has no value: `DOCMIRROR_STALE_AFTER` then. */
  maxAge?: number | true;
  json?: true;
}

export function statusCommand(summary: string): Command {
  return createCommand({
    name: "status",
    summary,
    settings: ["databaseUrl", "dataDir", ...STATUS_SETTINGS],
    examples: [
      ["status", "how fresh the mirror is, who leads, the last and next runs, open builds"],
      ["status --max-age 30h", "exits 11 when any list is older, as a health check"],
    ],
  })
    .option(
      "--max-age [duration]",
      "exit 11 when the oldest list is older than this, such as 30h; without a value, than DOCMIRROR_STALE_AFTER",
      parsedBy(duration),
    )
    .option("--json", "print one JSON document")
    .action(runCommand<Options>((context, { options }) => showStatus(context, options)));
}

function showStatus(context: CommandContext, { maxAge, json }: Options): Promise<number> {
  const { config, clock, log, out } = context;
  const staleAfterMs = typeof maxAge === "number" ? maxAge : config.staleAfterMs;
  const readStatus = createReadStatus({ ...config, staleAfterMs }, readDefinitions());
  return withMirror(context, "status", async (sql, database) => {
    const status = await readStatus(sql, clock.now());
    // Another process has just migrated it.
    if ("fault" in status) throw new SchemaVersionError(status.fault);
    if (json) await out.json({ database: database.describe, ...status });
    else await out.write(renderStatus(status, out));
    if (maxAge === undefined || !status.stale) return EXIT.done;
    const { resource, why } = status.oldest_list;
    log.error({ resource, reason: `the ${resource} list ${why}` }, "the mirror is too old");
    return EXIT.stale;
  });
}
