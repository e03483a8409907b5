import { join } from "node:path";
import { ConfigError, EXIT } from "../base/errors.ts";
import { counted } from "../base/text.ts";
import { type AnswerFilters, askFor, FILTER_NAMES, filtersOf, type Question } from "../report/ask.ts";
import { EXPENSIVE_TIME } from "../report/declare-relation.ts";
import { DICTIONARY, RELATIONS, type Relation, readsExpensive } from "../report/dictionary.ts";
import { assertNamesKnown, parseRelation } from "../report/known-names.ts";
import { asIso, readAnswer, withSnapshot } from "../report/read-answer.ts";
import { findSpanEnd } from "../report/span-end.ts";
import { oneRow, repeatAfterConflict, type Sql, type TransactionSql } from "../store/connection/sql.ts";
import type { CommandContext } from "./context/run-command.ts";
import { withReports } from "./context/with-reports.ts";
import {
  addFormatOptions,
  type Format,
  MOST_TABLE_ROWS,
  printAnswer,
  readFormat,
} from "./output/answer-writer.ts";
import { breakLines, type Output, textColumns } from "./output/output.ts";
import type { CommandDeclaration } from "./usage/create-command.ts";
import { addTimeOptions, readTimes, type TimeOptions, wholeFrom } from "./usage/flag-values.ts";

interface Options extends TimeOptions, Omit<AnswerFilters, "since" | "until"> {
  format?: Format;
  json?: true;
  bom?: true;
  wide?: true;
  html?: string;
  withPeople?: boolean;
}

/** The rows of a table or Markdown where no limit is given. */
const SHOWN_ROWS = 50;

export const command: CommandDeclaration<Options> = {
  settings: ["database", "readUrl", "reports"],
  examples: [
    ["report", "lists the reports and what each answers"],
    ["report success_rate_daily --since 2026-11-01", "how often builds succeeded, day by day"],
    ["report failing_now --project pip", "what fails now in one project"],
    ["report failing_now --wide", "with all columns, however wide the terminal is"],
    ["report runs --since 24h", "what docmirror did in the last day"],
    ["report fact_builds --format csv > builds.csv", "every build, as CSV"],
    ["report error_classes --json", "why builds fail, as JSON"],
    ["report --html /srv/www/builds", "the report page as a folder of files, for any web server"],
  ],
  words: { name: RELATIONS },
  flags: (command) =>
    addTimeOptions(
      addFormatOptions(command.argument("[name]", "a table or view of the schema report"))
        .option("--wide", "all columns in a table on a terminal [default: those that answer the question]")
        .option("--project <slug>", "only this project")
        .option("--version <slug>", "only versions of this slug")
        .option("--type <type>", "only builds of this type, such as html"),
    )
      .option(
        "--limit <rows>",
        `rows at most [default: ${SHOWN_ROWS} in a table or md, else all]`,
        wholeFrom(1, Number.MAX_SAFE_INTEGER - 1),
      )
      .option(
        "--html <folder>",
        "write the report page as files instead; an older one in the folder is replaced",
      )
      .option("--with-people", "with --html: with the names of maintainers"),
  run: async (context, { options, args: [name] }) => {
    const format = readFormat(options);
    if (options.html !== undefined) return writePages(context, name, options.html, options);
    if (name === undefined) return listReports(context.out, format, options);
    const relation = parseRelation(name);
    const isReplica = context.config.readUrl !== null;
    const now = context.clock.now();
    const askUntil = (end: Date) =>
      chooseRows(relation, format, { ...options, ...readTimes(options, end) }, isReplica);
    // Before any database is opened: a wrong choice is refused at once.
    askUntil(now);
    const read = (sql: Sql) => {
      const answer = async () => {
        await assertNamesKnown(sql, options);
        await withSnapshot(sql, async (tx) => {
          const chosen = askUntil(await findSpanEnd(tx, relation, now));
          await print(context, tx, format, chosen, options.bom);
        });
      };
      return repeatAfterConflict(answer, () => !context.out.hasWritten);
    };
    await withReports(context, read, { expensive: readsExpensive(relation) });
    return EXIT.done;
  },
};

async function writePages(
  context: CommandContext,
  name: string | undefined,
  folder: string,
  { json, withPeople = false }: Options,
): Promise<number> {
  if (name !== undefined) throw new ConfigError(`--html writes all pages, and takes no name such as ${name}`);
  const { writeSite } = await import("../page/write-site.ts");
  const { config, clock, log, signal, out } = context;
  const write = (tx: TransactionSql) =>
    writeSite(tx, folder, { ...config, clock, log }, { withPeople, signal });
  const site = await withReports(context, (sql) => withSnapshot(sql, write, signal), { expensive: true });
  const words = `${counted(site.pages, "page")} and ${counted(site.files, "file")} of rows; open ${join(folder, "index.html")}\n`;
  await (json ? out.json({ folder, ...site }) : out.write(words));
  return EXIT.done;
}

/** A question, and how its answer is shown. */
interface ChosenRows {
  relation: Relation;
  /** It asks for one row more than is shown, to know whether there are more. */
  question: Question;
  shown: number;
  isLimitGiven: boolean;
  /** The columns of a table on a terminal; undefined for all. */
  answer: readonly string[] | undefined;
}

function chooseRows(relation: Relation, format: Format, options: Options, isReplica: boolean): ChosenRows {
  const isForPeople = format === "table" || format === "md";
  const shown = options.limit ?? (isForPeople ? SHOWN_ROWS : Number.POSITIVE_INFINITY);
  if (format === "table" && shown > MOST_TABLE_ROWS) {
    throw new ConfigError(`a table has ${MOST_TABLE_ROWS} rows at most`, {
      hint: "--format csv, json or md print all rows",
    });
  }
  const { project, version, type, since, until } = options;
  const limit = Number.isFinite(shown) ? shown + 1 : undefined;
  return {
    relation,
    question: askFor(relation, { project, version, type, since, until, limit }),
    shown,
    isLimitGiven: options.limit !== undefined,
    answer: options.wide ? undefined : shownColumns(relation, isReplica),
  };
}

/** The lag of a replica is of use only where one is read. */
function shownColumns(relation: Relation, isReplica: boolean): readonly string[] {
  const { answer } = DICTIONARY[relation];
  return isReplica && relation === "freshness" ? ["resource", "replica_lag_s", ...answer.slice(1)] : answer;
}

async function print(
  { out, log, signal }: CommandContext,
  tx: TransactionSql,
  format: Format,
  { relation, question, shown, isLimitGiven, answer }: ChosenRows,
  hasBom: boolean | undefined,
): Promise<void> {
  const { columns } = question;
  // The rows of freshness have both.
  const time = tx(relation !== "freshness" && readsExpensive(relation) ? EXPENSIVE_TIME : "refreshed_at");
  const { at } = await oneRow(tx<{ at: string | null }[]>`select max(${time}) as at from report.freshness`);
  const facts = { report: relation, refreshed_at: at && asIso(at) };
  const wanted = { format, columns, facts, hasBom, answer, most: shown };
  const { printed, hasMore } = await printAnswer(readAnswer(tx, question, { signal }), wanted, out);
  if (out.isTty && format === "table" && answer !== undefined && printed > 0)
    log.info({ relation, columns: columns.length }, "some columns are left out; --wide shows all");
  if (printed === 0) log.info({ relation }, "the relation has no such rows");
  if (hasMore && !isLimitGiven) {
    log.info({ shown }, "only the first rows are shown; --limit shows more, --format csv shows all");
  }
}

/** Lists all reports. It needs no database: the names are part of the program. */
async function listReports(out: Output, format: Format, filters: AnswerFilters): Promise<number> {
  const given = FILTER_NAMES.filter((name) => filters[name] !== undefined);
  if (given.length > 0) {
    throw new ConfigError(`--${given.join(", --")} ${given.length > 1 ? "are" : "is"} for one report`, {
      hint: "name it, as in: `docmirror report success_rate_daily --since 2026-11-01`",
    });
  }
  const rows = RELATIONS.map((relation) => {
    const { answers } = DICTIONARY[relation];
    return [relation, answers, filtersOf(relation).join(", ")];
  });
  if (format === "table") {
    const columns = textColumns(out) - 2;
    for (const [relation = "", answers = ""] of rows) {
      await out.write(`${relation}\n  ${breakLines(answers, columns).join("\n  ")}\n`);
    }
    return EXIT.done;
  }
  await printAnswer([rows], { format, columns: ["report", "answers", "filters"], facts: {} }, out);
  return EXIT.done;
}
