import { Option } from "commander";
import { ConfigError, EXIT } from "../base/errors.ts";
import { readsExpensive } from "../report/dictionary.ts";
import { withSnapshot } from "../report/read-answer.ts";
import { becomeReader, READER, readStatement } from "../report/read-statement.ts";
import { repeatAfterConflict, type Sql, type TransactionSql } from "../store/connection/sql.ts";
import type { CommandContext } from "./context/run-command.ts";
import { withReports } from "./context/with-reports.ts";
import {
  addFormatOptions,
  type Format,
  MOST_TABLE_ROWS,
  printAnswer,
  readFormat,
} from "./output/answer-writer.ts";
import type { CommandDeclaration } from "./usage/create-command.ts";
import { wholeFrom } from "./usage/flag-values.ts";

interface Options {
  format?: Format;
  json?: true;
  bom?: true;
  role?: string;
  timeout: number;
}

const MOST_SECONDS = 86_400;

export const command: CommandDeclaration<Options> = {
  settings: ["database", "readUrl", "reports"],
  examples: [
    [
      'sql "select * from report.failing_projects limit 10"',
      "one query, as a table; docs/cookbook.md has some",
    ],
    ['sql "table report.success_rate_daily" --format csv --bom > days.csv', "every row, as CSV for Excel"],
    ['sql "$(cat query.sql)" --json --timeout 600', "a query of a file that may take ten minutes"],
  ],
  flags: (command) =>
    addFormatOptions(command)
      .argument("<statement>", "one query of the schema report: SELECT, VALUES, TABLE or WITH")
      .addOption(
        new Option("--role <role>", `whose rights it has [default: ${READER}, unless the login is a reader]`),
      )
      .option(
        "--timeout <seconds>",
        "how long Postgres may work until the first rows, and on each further batch",
        wholeFrom(1, MOST_SECONDS),
        60,
      ),
  run: async (context, { options, args: [text = ""] }) => {
    const format = readFormat(options);
    if (text.trim() === "") throw new ConfigError("there is no statement");
    const { config, out, signal } = context;
    const isEmbedded = config.databaseUrl === null && config.readUrl === null;
    const role = options.role ?? (isEmbedded ? READER : undefined);
    const limits = { role, timeoutMs: options.timeout * 1000 };
    const ask = (sql: Sql) => {
      const answer = async (tx: TransactionSql) => {
        await becomeReader(tx, limits);
        await print(context, tx, text, format, options.bom === true);
      };
      return repeatAfterConflict(
        () => withSnapshot(sql, answer, signal),
        () => !out.hasWritten,
      );
    };
    await withReports(context, ask, { login: "docmirror_sql", role, expensive: readsExpensive(text) });
    return EXIT.done;
  },
};

async function print(
  { out, log }: CommandContext,
  tx: TransactionSql,
  text: string,
  format: Format,
  hasBom: boolean,
): Promise<void> {
  const batches = readStatement(tx, text);
  const first = await batches.next();
  if (first.done) return;
  const { columns } = first.value;
  const twice = columns.find((name, place) => columns.indexOf(name) < place);
  if (format === "json" && twice !== undefined)
    throw new ConfigError(`two columns are called ${twice}, which no JSON object can have`, {
      hint: "give one of them another name by AS",
    });
  const rows = (async function* () {
    yield first.value.rows;
    for await (const batch of batches) yield batch.rows;
  })();
  const most = format === "table" ? MOST_TABLE_ROWS : Number.POSITIVE_INFINITY;
  const { printed, hasMore } = await printAnswer(rows, { format, columns, facts: {}, hasBom, most }, out);
  if (hasMore) log.info({ shown: printed }, "only the first rows are shown; --format csv shows all");
}
