import { type Command, Option } from "commander";
import { maskUrl } from "../config/mask-url.ts";
import { baseUrl } from "../config/setting-values.ts";
import { withSql } from "../db/connect.ts";
import { migrate, migrationStatus, pendingSql } from "../db/migrate.ts";
import { moveService, serviceUrl } from "../db/mirrored-service.ts";
import type { OpenDatabase } from "../embedded/open-database.ts";
import { ConfigError } from "../errors.ts";
import { tryRefresh } from "../report/after-run.ts";
import { REFRESH_SETTINGS } from "../report/refresh-settings.ts";
import { breakLines } from "./break-lines.ts";
import { createCommand } from "./create-command.ts";
import { assertMirrorPlace } from "./mirror-place.ts";
import type { Output } from "./output.ts";
import { type CommandContext, runCommand } from "./run-command.ts";
import { renderTable } from "./table.ts";
import { withDatabase } from "./with-database.ts";

interface Options {
  service?: string;
  status?: true;
  dryRun?: true;
  json?: true;
}

export function migrateCommand(summary: string): Command {
  return createCommand({
    name: "migrate",
    summary,
    settings: ["databaseUrl", "dataDir", ...REFRESH_SETTINGS],
    examples: [
      ["migrate", "applies what is missing, all or nothing; safe to repeat"],
      ["migrate --status", "lists the migrations and when each was applied"],
      ["migrate --dry-run > pending.sql", "the SQL that would run, for a reader"],
      ["migrate --service https://docs.example.org", "the same service moved to this base URL"],
    ],
  })
    .addOption(new Option("--status", "list the migrations, change nothing").conflicts(["dryRun", "service"]))
    .addOption(new Option("--dry-run", "print the SQL that would run, change nothing").conflicts("service"))
    .addOption(
      new Option(
        "--service <url>",
        "say that the service of this mirror moved to this base URL; a sync of another one is refused",
      ),
    )
    .option("--json", "print one JSON document")
    .action(
      runCommand<Options>((context, { options }) => {
        const service = options.service === undefined ? null : parseService(options.service);
        // Looking makes nothing.
        if (options.status || options.dryRun) assertMirrorPlace(context.config);
        return withDatabase(context, async (database) => {
          if (options.status) await printStatus(database, context.out, options);
          else if (options.dryRun) await printPending(database, context.out, options);
          else {
            const applied = await migrate(database.url, { signal: context.signal });
            if (applied.length > 0) await refreshAnswers(context, database);
            const moved = service && (await move(database, service, context));
            if (options.json) await context.out.json({ applied, ...(moved && { service: moved }) });
            else await context.out.write(appliedText(applied) + (moved ? movedText(moved) : ""));
          }
          return 0;
        });
      }),
    );
}

interface Moved {
  from: string | null;
  to: string;
}

function parseService(text: string): URL {
  const parsed = baseUrl(text);
  if ("fault" in parsed) throw new ConfigError(`--service: "${maskUrl(text)}" ${parsed.fault}`);
  return parsed.value;
}

async function move({ url }: OpenDatabase, to: URL, { clock }: CommandContext): Promise<Moved> {
  const from = await withSql(url, APPLICATION, (sql) => moveService(sql, to, clock.now().toISOString()));
  return { from, to: serviceUrl(to) };
}

function movedText({ from, to }: Moved): string {
  return from === to
    ? `this mirror is of ${to} already\n`
    : `this mirror is of ${to} now${from ? `, no longer of ${from}` : ""}\n`;
}

/** A mirror that is older than the reports, or than what they compute now, is not left without them until the next run. */
async function refreshAnswers({ config, log, signal }: CommandContext, { url }: OpenDatabase): Promise<void> {
  await tryRefresh(url, { ...config, keepsSettings: true, signal }, log);
  signal.throwIfAborted();
}

function appliedText(applied: readonly string[]): string {
  if (applied.length === 0) return "the schema is up to date, nothing to apply\n";
  return `applied ${applied.join(", ")}\n`;
}

const APPLICATION = { applicationName: "docmirror migrate", max: 1 };

async function printStatus({ url, describe }: OpenDatabase, out: Output, options: Options): Promise<void> {
  const status = await withSql(url, APPLICATION, migrationStatus);
  if (options.json) return out.json({ database: describe, ...status });
  const rows = status.migrations.map(({ tag, appliedAt }) => [tag, appliedAt ?? "to come"]);
  await out.write(
    renderTable({ head: ["migration", "applied"], rows, columns: out.columns, colour: out.colour }),
  );
  const unknown = status.unknown === 0 ? "" : `; it holds ${status.unknown} that this program does not know`;
  const state = breakLines(`the schema of ${describe} is ${status.state}${unknown}`, out.columns ?? Infinity);
  await out.write(`\n${state.join("\n")}\n`);
}

async function printPending({ url }: OpenDatabase, out: Output, options: Options): Promise<void> {
  const sql = await withSql(url, APPLICATION, pendingSql);
  if (options.json) return out.json({ sql });
  await out.write(sql === "" ? "-- the schema is up to date, nothing to apply\n" : sql);
}
