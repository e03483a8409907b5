import { type Command, Option } from "commander";
import { withSql } from "../db/connect.ts";
import { EXIT } from "../errors.ts";
import {
  EXPORT_FORMATS,
  type ExportFacts,
  type ExportFormat,
  exportReport,
} from "../report/export/export-report.ts";
import { createCommand } from "./create-command.ts";
import { useAnswersOfNow } from "./report/answers-of-now.ts";
import { runCommand } from "./run-command.ts";
import { renderTable } from "./table.ts";
import { withDatabase } from "./with-database.ts";

interface Options {
  out: string;
  format: ExportFormat;
  since?: string;
  until?: string;
  json?: true;
}

export function exportCommand(summary: string): Command {
  return createCommand({
    name: "export",
    summary,
    settings: ["databaseUrl", "dataDir", "sourceTimezone", "stuckAfter"],
    examples: [
      ["export --out /data/builds", "all builds as Parquet, a folder a month; replaces the last export"],
      ["export --out /data/recent --since 2026-01-01 --format csv", "builds of this year, as CSV"],
    ],
  })
    .addOption(
      new Option(
        "--out <folder>",
        "where to; an export that is there is replaced whole; required",
      ).makeOptionMandatory(),
    )
    .addOption(new Option("--format <format>", "of the files").choices(EXPORT_FORMATS).default("parquet"))
    .addOption(
      new Option(
        "--since <time>",
        "builds from this day (2026-11-03) or moment (2026-11-03T12:00Z) on, in UTC",
      ),
    )
    .addOption(new Option("--until <time>", "builds up to this day, which counts too, or up to this moment"))
    .option("--json", "print one JSON document")
    .action(
      runCommand<Options>((context, { options }) =>
        withDatabase(context, async ({ url }) => {
          const { out, signal } = context;
          const { out: folder, format, since, until } = options;
          const facts = await withSql(url, { applicationName: "docmirror export", max: 1 }, async (sql) => {
            await useAnswersOfNow(context, url, sql);
            return exportReport({ sql, folder, format, since, until, signal });
          });
          if (options.json) await out.json({ folder, ...facts });
          else await out.write(render(facts, out.colour));
          return EXIT.done;
        }),
      ),
    );
}

function render({ relations }: ExportFacts, colour: boolean): string {
  const rows = Object.entries(relations).map(([relation, { rows, files }]) => [relation, rows, files.length]);
  return renderTable({ head: ["relation", "rows", "files"], right: ["rows", "files"], rows, colour });
}
