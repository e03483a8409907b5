import type { Command } from "commander";
import { createCommand } from "./create-command.ts";
import { runCommand } from "./run-command.ts";
import { untilStopped } from "./until-stopped.ts";
import { withDatabase } from "./with-database.ts";

/** Only this command prints a password: its URL is made to be pasted into psql. */
export function databaseCommand(summary: string): Command {
  return createCommand({
    name: "database",
    summary,
    settings: ["dataDir"],
    examples: [
      ["database", "stays in the foreground until Ctrl-C; paste the URL into psql or a BI tool"],
      ["database --data-dir /var/lib/docmirror", "the same for data that lie elsewhere"],
      ["database --json", "the URL, the port and the server's log as JSON"],
    ],
  })
    .option("--json", "print one JSON document")
    .action(
      runCommand<{ json?: true }>(async ({ config, log, signal, out }, { options }) => {
        if (config.databaseUrl !== null) {
          log.warn("DATABASE_URL is set and other commands use it; this is the embedded Postgres");
        }
        return withDatabase({ config: { ...config, databaseUrl: null }, log, signal }, async (database) => {
          const { url, embedded } = database;
          await (options.json ? out.json({ url, ...embedded }) : out.write(`${url}\n`));
          log.info({ ...embedded }, "the embedded Postgres is up; Ctrl-C leaves it");
          return untilStopped(signal);
        });
      }),
    );
}
