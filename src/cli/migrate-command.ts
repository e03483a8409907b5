import { Option } from "commander";
import { maskUrl } from "../base/config/addresses.ts";
import { baseUrl } from "../base/config/setting.ts";
import { ConfigError } from "../base/errors.ts";
import { readDefinitions } from "../report/definitions.ts";
import { tryRefresh } from "../report/refresh/refresh.ts";
import { withSql } from "../store/connection/connect.ts";
import type { Sql } from "../store/connection/sql.ts";
import type { OpenDatabase } from "../store/embedded/open-embedded.ts";
import { moveService, serviceUrl } from "../store/ledger/mirrored-service.ts";
import {
  listOrCount,
  type MigrationResult,
  migrate,
  migrationStatus,
  pendingSql,
  whatIsMissing,
} from "../store/migrate/migrate.ts";
import { grantWorker } from "../store/migrate/rights.ts";
import type { CommandContext } from "./context/run-command.ts";
import { assertMirrorPlace, withDatabase } from "./context/with-mirror.ts";
import { type Output, paragraph } from "./output/output.ts";
import { renderTable } from "./output/table.ts";
import type { CommandDeclaration } from "./usage/create-command.ts";

interface Options {
  service?: string;
  worker?: string;
  status?: true;
  dryRun?: true;
}

const CHANGES = ["service", "worker"];

export const command: CommandDeclaration<Options> = {
  settings: ["database", "reports"],
  exits: ["locked", "unprinted"],
  examples: [
    ["migrate", "applies what is missing, all or nothing; safe to repeat"],
    ["migrate --status", "lists the migrations and when each was applied"],
    ["migrate --dry-run > pending.sql", "the SQL that would run, to read first"],
    ["migrate --service https://docs.example.org", "the same service moved to this base URL"],
    ["migrate --worker docmirror_worker", "a worker that owns no table may use all of them"],
  ],
  hasJson: true,
  flags: (command) =>
    command
      .addOption(
        new Option("--status", "list the migrations, change nothing").conflicts(["dryRun", ...CHANGES]),
      )
      .addOption(
        new Option("--dry-run", "print the SQL that would run, change nothing").conflicts([...CHANGES]),
      )
      .option(
        "--service <url>",
        "store that the service of this mirror moved to this base URL; a sync of another one is refused",
      )
      .option(
        "--worker <role>",
        "give this role, which has to be there, all that a worker needs, and no right to change a table",
      ),
  run: (context, { options }) => {
    const service = options.service === undefined ? null : parseService(options.service);
    // These two never make a mirror.
    if (options.status || options.dryRun) assertMirrorPlace(context.config);
    return withDatabase(context, async (database) => {
      if (options.status) await printStatus(database, context);
      else if (options.dryRun) await printPending(database, context);
      else {
        const { config, log, signal } = context;
        const { worker } = options;
        const result = await migrate(database.url, readDefinitions(), { log, signal });
        if (worker !== undefined) await withSql(database.url, APPLICATION, (sql) => grantWorker(sql, worker));
        if (!isEmpty(result)) {
          // An upgraded mirror has its stored answers before the next run.
          const refresh = (sql: Sql) => tryRefresh(sql, { ...config, keepsSettings: true, signal }, log);
          await withSql(database.url, { ...APPLICATION, log }, refresh);
          signal.throwIfAborted();
        }
        const moved = service && (await move(database, service, context));
        const granted = worker === undefined ? "" : `${worker} may do all that a worker needs\n`;
        await context.printStored(
          { ...result, worker, ...(moved && { service: moved }) },
          () => resultText(result) + granted + (moved ? movedText(moved) : ""),
        );
      }
      return 0;
    });
  },
};

function parseService(text: string): URL {
  const parsed = baseUrl(text);
  if ("fault" in parsed) throw new ConfigError(`--service: "${maskUrl(text)}" ${parsed.fault}`);
  return parsed.value;
}

async function move({ url }: OpenDatabase, to: URL, { clock }: CommandContext) {
  const from = await withSql(url, APPLICATION, (sql) => moveService(sql, to, clock.now().toISOString()));
  return { from, to: serviceUrl(to) };
}

function movedText({ from, to }: Awaited<ReturnType<typeof move>>): string {
  return from === to
    ? `this mirror is of ${to} already\n`
    : `this mirror is of ${to} now${from ? `, no longer of ${from}` : ""}\n`;
}

const isEmpty = ({ applied, redefined }: MigrationResult) => applied.length + redefined.length === 0;

function resultText(result: MigrationResult): string {
  if (result.newer) return "the schema is a later version's, and this program may use it; nothing to apply\n";
  if (isEmpty(result)) return "the schema is up to date, nothing to apply\n";
  const { applied, redefined } = result;
  const migrations = applied.length === 0 ? "" : `applied ${applied.join(", ")}\n`;
  return `${migrations}${redefined.length === 0 ? "" : `defined ${listOrCount(redefined)}\n`}`;
}

const APPLICATION = { applicationName: "docmirror migrate", max: 1 };

async function printStatus({ url, describe }: OpenDatabase, { out, print }: CommandContext): Promise<void> {
  const status = await withSql(url, APPLICATION, (sql) => migrationStatus(sql, readDefinitions()));
  const { temporaryGrant: _, missing: _counted, ...document } = status;
  await print({ database: describe, ...document }, () => statusText(status, describe, out));
}

function statusText(status: Awaited<ReturnType<typeof migrationStatus>>, describe: string, out: Output) {
  const rows = status.migrations.map(({ tag, appliedAt, additive }) => {
    return [tag, appliedAt ?? "to come", additive ? "yes" : "no"];
  });
  const table = renderTable({ head: ["migration", "applied", "additive"], rows }, out);
  const unknown = status.unknown === 0 ? "" : `; it holds ${status.unknown} that this program does not know`;
  const lacking = status.state === "older" && status.missing === 0 ? `; ${whatIsMissing(status)}` : "";
  const use = status.usable ? "; this program may use it" : "; upgrade docmirror to use it";
  const usable = status.state === "newer" ? use : "";
  const state = `the schema of ${describe} is ${status.state}${unknown}${lacking}${usable}`;
  return `${table}\n${paragraph(state, out)}`;
}

async function printPending({ url }: OpenDatabase, { print }: CommandContext): Promise<void> {
  const pending = await withSql(url, APPLICATION, (sql) => pendingSql(sql, readDefinitions()));
  await print({ sql: pending }, () => pending || "-- the schema is up to date, nothing to apply\n");
}
