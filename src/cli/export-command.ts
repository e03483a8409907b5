import { Option } from "commander";
import { EXIT } from "../base/errors.ts";
import { counted } from "../base/text.ts";
import {
  EXPORT_FORMATS,
  type ExportFacts,
  type ExportFormat,
  exportReport,
} from "../report/export/export-report.ts";
import { exportLogs, type LogExport } from "../report/logs/export-logs.ts";
import { repeatAfterConflict, type Sql } from "../store/connection/sql.ts";
import { withReports } from "./context/with-reports.ts";
import type { Output } from "./output/output.ts";
import { renderTable } from "./output/table.ts";
import type { CommandDeclaration } from "./usage/create-command.ts";
import { addTimeOptions, readTimes, type TimeOptions } from "./usage/flag-values.ts";

interface Options extends TimeOptions {
  out: string;
  format: ExportFormat;
  incremental?: true;
  logs?: true;
}

export const command: CommandDeclaration<Options> = {
  settings: ["database", "readUrl", "reports"],
  exits: ["partial", "unprinted"],
  examples: [
    ["export --out /data/builds", "all builds as Parquet, a folder a month; replaces the last export"],
    ["export --out /data/builds --incremental", "the same, and writes only months that changed since"],
    ["export --logs --out /data/logs", "adds the logs of finished builds that the folder does not hold yet"],
    ["export --out /data/recent --since 2026-01-01 --format csv", "builds of this year, as CSV"],
  ],
  hasJson: true,
  flags: (command) =>
    addTimeOptions(
      command
        .requiredOption(
          "--out <folder>",
          "the folder to write; an earlier export in it is replaced; required",
        )
        .addOption(
          new Option("--format <format>", "format of the files").choices(EXPORT_FORMATS).default("parquet"),
        )
        .option("--incremental", "keep the files of months that have not changed since the last export"),
    ).addOption(
      new Option("--logs", "the logs of finished builds instead; only adds files, as Parquet").conflicts([
        "format",
        "incremental",
        "since",
        "until",
      ]),
    ),
  run: async (context, { options }) => {
    const { clock, config, out, printStored, signal } = context;
    const { out: folder, format, incremental } = options;
    if (options.logs) {
      const done = await withReports(context, (sql) =>
        repeatAfterConflict(() => exportLogs({ sql, folder, sourceTimezone: config.sourceTimezone, signal })),
      );
      await printStored({ folder, ...done }, () => renderLogs(done));
      return done.damaged.length > 0 ? EXIT.partial : EXIT.done;
    }
    const { since, until } = readTimes(options, clock.now());
    const write = (sql: Sql) =>
      repeatAfterConflict(() => exportReport({ sql, folder, format, since, until, incremental, signal }));
    const facts = await withReports(context, write, { expensive: true });
    await printStored({ folder, ...facts }, () => render(facts, out));
    return EXIT.done;
  },
};

function renderLogs({ added, too_long, damaged, files }: LogExport): string {
  const lines = [
    `${counted(added.rows, "log")} added in ${counted(added.files, "file")}; the folder has ${counted(files.length, "file")}`,
    ...(too_long > 0 ? [`${counted(too_long, "log")} too long for a file`] : []),
    ...damaged.map(
      (path) => `${path} is missing or damaged; what the mirror has of its logs is in another file now`,
    ),
  ];
  return `${lines.join("\n")}\n`;
}

function render({ relations, full_because }: ExportFacts, out: Output): string {
  const head = ["relation", "rows", "files", "written"];
  const rows = Object.entries(relations).map(([relation, { rows, files, kept }]) => {
    return [relation, rows, files.length, files.length - kept];
  });
  const table = renderTable({ head, rows }, out);
  return full_because === null
    ? table
    : `${table}all months are written; of the last export: ${full_because}\n`;
}
