import { Option } from "commander";
import { spellProgram } from "../base/config/program.ts";
import { requireBaseUrl } from "../base/config.ts";
import { EXIT } from "../base/errors.ts";
import { counted, printableJson } from "../base/text.ts";
import {
  countQuarantine,
  listQuarantine,
  type QuarantineFilter,
  type QuarantineRow,
} from "../mirror/load/quarantine.ts";
import { type RetryCounts, retryQuarantine } from "../mirror/run/retry-quarantine.ts";
import { tryRefresh } from "../report/refresh/refresh.ts";
import { RESOURCES, type Resource } from "../resources/resources.ts";
import type { Sql } from "../store/connection/sql.ts";
import type { Connections } from "../store/ledger/connections.ts";
import { assertNotDemo } from "../store/ledger/mirrored-service.ts";
import type { CommandContext } from "./context/run-command.ts";
import { withMirror } from "./context/with-mirror.ts";
import { renderTable } from "./output/table.ts";
import type { CommandDeclaration } from "./usage/create-command.ts";
import { parseResource, wholeFrom } from "./usage/flag-values.ts";

interface Options {
  resource?: Resource;
  all?: true;
  limit: number;
  retry?: true;
  json?: true;
}

/** The characters of a payload that the table shows. */
const MAX_PAYLOAD_LENGTH = 60;

export const command: CommandDeclaration<Options> = {
  settings: ["database", "baseUrl", "reports"],
  exits: ["partial", "locked", "unprinted"],
  examples: [
    ["quarantine", "the newest 50, with reason and payload"],
    ["quarantine --resource build --json", "builds alone, payloads whole"],
    ["quarantine --retry", "tries all of them again, as after an upgrade"],
  ],
  words: { "--resource": RESOURCES },
  hasJson: true,
  flags: (command) =>
    command
      .option("--resource <name>", `only this one: ${RESOURCES.join(", ")} [default all]`, parseResource)
      .addOption(new Option("--all", "list resolved ones too").conflicts("retry"))
      .addOption(
        new Option("--limit <records>", "how many to list")
          .argParser(wholeFrom(1, 10_000))
          .default(50)
          .conflicts("retry"),
      )
      .option("--retry", "try to store them again; exits 3 when some stay"),
  run: (context, { options }) => {
    const baseUrl = options.retry ? requireBaseUrl(context.config) : null;
    return withMirror(context, async (sql, database, connections) => {
      if (baseUrl !== null) {
        const { describe } = database;
        return retry(context, { describe, connections }, baseUrl, options.resource ?? null);
      }
      await printList(sql, context, database.describe, options);
      return EXIT.done;
    });
  },
};

async function printList(sql: Sql, { out, signal }: CommandContext, describe: string, options: Options) {
  const filter: QuarantineFilter = { resource: options.resource ?? null, all: options.all === true };
  const totals = await countQuarantine(sql, filter);
  const payloadLength = options.json ? null : MAX_PAYLOAD_LENGTH + 1;
  const rows = listQuarantine(sql, filter, { limit: options.limit, payloadLength });
  if (options.json) {
    const facts = JSON.stringify({ database: describe, ...totals });
    await out.write(`${facts.slice(0, -1)},"quarantine":[`);
    let separator = "\n";
    for await (const row of rows) {
      signal.throwIfAborted();
      await out.write(`${separator}${printableJson(jsonRow(row))}`);
      separator = ",\n";
    }
    return out.write("\n]}\n");
  }
  const cells: ReturnType<typeof tableRow>[] = [];
  for await (const row of rows) cells.push(tableRow(row, filter.all));
  const { records, holes } = totals;
  const head = ["id", "resource", "record", "seen", ...(filter.all ? ["resolved"] : []), "reason", "payload"];
  const more = cells.length < records + holes ? ` (the newest ${cells.length} are shown: see --limit)` : "";
  await out.write(
    (cells.length > 0 ? `${renderTable({ head, rows: cells }, out)}\n` : "") +
      `${counted(records, "record")} and ${counted(holes, "hole")} in lists${filter.all ? ", resolved ones too" : ""}${more}\n` +
      (records > 0 && !filter.all
        ? spellProgram("`docmirror quarantine --retry` tries the records again\n")
        : ""),
  );
}

function tableRow(row: QuarantineRow, all: boolean): (string | number | null)[] {
  const isHole = row.list_offset !== null;
  const payload = row.payload ?? "";
  const shown = payload.length > MAX_PAYLOAD_LENGTH ? `${payload.slice(0, MAX_PAYLOAD_LENGTH)}…` : payload;
  return [
    row.id,
    row.resource,
    isHole ? `at offset ${row.list_offset}` : row.record_id,
    row.created_at,
    ...(all ? [row.resolved_at] : []),
    row.reason,
    isHole ? "none: the next sync asks again" : shown,
  ];
}

/** The payload is JSON already and may be long, so it is inserted as it is. */
function jsonRow({ payload, ...row }: QuarantineRow): string {
  return `${JSON.stringify(row).slice(0, -1)},"payload":${payload}}`;
}

async function retry(
  { config, clock, log, signal, printStored }: CommandContext,
  { describe, connections }: { describe: string; connections: Connections },
  baseUrl: URL,
  resource: Resource | null,
): Promise<number> {
  const { sql } = connections;
  await assertNotDemo(sql, baseUrl);
  const counts = await retryQuarantine({
    settings: { ...config, baseUrl },
    connections,
    resource,
    clock,
    log,
    signal,
  });
  await tryRefresh(sql, { ...config, signal }, log);
  signal.throwIfAborted();
  await printStored({ database: describe, ...counts }, () => retryText(counts));
  return counts.refused + counts.holes === 0 ? EXIT.done : EXIT.partial;
}

function retryText({ stored, superseded, refused, holes }: RetryCounts): string {
  return (
    `${counted(stored, "record")} stored, ${superseded} superseded by what the mirror has, ${refused} still refused\n` +
    (refused > 0 ? spellProgram("`docmirror quarantine` says why\n") : "") +
    (holes > 0 ? `${counted(holes, "hole")} in lists: the next sync asks again\n` : "")
  );
}
