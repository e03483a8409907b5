/**
 * A statement that somebody wrote, run with the rights of a reader of the reports. Three fences of Postgres are around it:
 * a transaction that only reads, the rights of the role, and a cursor, which takes one query and nothing else. At the
 * embedded Postgres it has a login of its own (`reader-login.ts`). Elsewhere the role is switched to, so these hold mistakes, not
 * malice: what strangers write belongs to a login that `docmirror grant-reader` made, in `DOCMIRROR_READ_URL`.
 */
import { nearestNames } from "../base/config/nearest-names.ts";
import { ConfigError, StoreError } from "../base/errors.ts";
import type { TransactionSql } from "../store/connection/sql.ts";
import { sqlstateOf } from "../store/connection/store-errors.ts";
import { DICTIONARY, RELATIONS } from "./dictionary.ts";
import { asCell, DECLARE, readBatches } from "./read-answer.ts";
import { PEOPLE } from "./relations/people.ts";

/** The role whose rights a statement has where the session has more. */
export const READER = "docmirror_reader";

/**
 * Takes the rights of `role` until the transaction ends: without one those of `docmirror_reader`, where the session may do
 * more than read. `timeoutMs` is how long Postgres may work until the first rows come, and on each further batch. Throws
 * ConfigError where that role is missing, may not be taken, or could do more than read the reports.
 */
export async function becomeReader(
  tx: TransactionSql,
  { role, timeoutMs }: { role: string | undefined; timeoutMs: number },
): Promise<void> {
  const wanted = role ?? ((await mayReadMore(tx)) ? READER : undefined);
  if (wanted !== undefined) {
    try {
      await tx`select set_config('role', ${wanted}, true)`;
    } catch (error) {
      throw roleError(error, wanted);
    }
    if (await mayReadMore(tx)) throw tooWideError(wanted);
  }
  await tx`select set_config('statement_timeout', ${`${timeoutMs}ms`}, true), set_config('TimeZone', 'UTC', true)`;
}

export const tooWideError = (role: string): ConfigError =>
  new ConfigError(`${role} can read more than the reports`, {
    hint: "`docmirror grant-reader` makes a role that cannot",
  });

async function mayReadMore(tx: TransactionSql): Promise<boolean> {
  const [rights] = await tx<{ more: boolean | null }[]>`
    select has_schema_privilege(to_regnamespace('rollup')::oid, 'usage') as more`;
  return rights?.more === true;
}

function roleError(error: unknown, role: string): unknown {
  const code = sqlstateOf(error);
  const make = `make it by \`docmirror grant-reader ${READER}\`, or name another by --role`;
  if (code === "22023") return new ConfigError(`there is no role ${role}`, { cause: error, hint: make });
  if (code !== "42501") return error;
  return new ConfigError(`this session may not act as ${role}`, {
    cause: error,
    hint: `let a superuser grant it ${role}, or set DOCMIRROR_READ_URL to that role's own login`,
  });
}

/**
 * Runs one query and gives its rows in batches, the first also where there are none. Must run in a transaction, such as
 * `withSnapshot`. Throws ConfigError for what the query itself does wrong, and StoreError.
 */
export async function* readStatement(tx: TransactionSql, text: string) {
  if (text.includes("\0")) throw new ConfigError("no statement has a character of number 0");
  try {
    yield* readBatches(tx, { text, params: [] }, asCell, { isSingle: true });
  } catch (error) {
    throw statementError(error, text);
  }
}

/** Names, types, rights and values that the query has wrong. All else is the database's trouble. */
const OF_STATEMENT = /^(?:08P01|0A|21|22|25001|25006|2F|34|3D|3F|42|54)/;

function statementError(error: unknown, text: string): unknown {
  const code = sqlstateOf(error) ?? "";
  const { message, position, hint, severity } = error as Error & Record<string, string | undefined>;
  if (code === "57014")
    return new StoreError(`the statement was cancelled: ${message} (${code})`, {
      cause: error,
      sqlstate: code,
      hint: "--timeout gives it longer; narrow it by day or project",
    });
  if (severity === undefined || !OF_STATEMENT.test(code)) return error;
  return new ConfigError(`${message}${placeIn(text, position)} (${code})`, {
    cause: error,
    hint: hintFor(code, message ?? "", hint),
  });
}

function hintFor(code: string, message: string, hint?: string): string | undefined {
  switch (code) {
    case "0A000":
    case "42601":
      return "one query that only reads is taken: SELECT, VALUES, TABLE or WITH";
    case "08P01":
      return "write the values where $1 and so on stand";
    case "42501":
      return message.includes("report_people")
        ? "people need a role of their own: `docmirror grant-reader people --with-people`, then `docmirror sql … --role people`"
        : "`docmirror report` lists what a reader may read; `docmirror grant-reader docmirror_serve --interface` is for the records";
    case "42P01": {
      const [, name = ""] = /"(?:report\.)?([^"]*)"/.exec(message) ?? [];
      const [near] = nearestNames(name, RELATIONS);
      return near === undefined
        ? "`docmirror report` lists the relations; write them as report.NAME"
        : `write report.${near}`;
    }
    case "42703":
      return hintForColumn(/([^\s".]+)"? does not exist$/.exec(message)?.[1] ?? "") ?? hint ?? COLUMNS;
    default:
      return hint;
  }
}

const COLUMNS = "docs/data-dictionary.md has the columns of each relation";
/** More relations than these have a column such as `project_slug`, of which Postgres names the nearest. */
const MOST_NAMED = 3;

/** Where a column is that the statement looks for elsewhere. */
function hintForColumn(column: string): string | undefined {
  const named = (schema: string, relations: Readonly<Record<string, { columns: object }>>) =>
    Object.keys(relations)
      .filter((name) => Object.hasOwn(relations[name]?.columns ?? {}, column))
      .map((name) => `${schema}.${name}`);
  const found = [...named("report", DICTIONARY), ...named("report_people", PEOPLE)];
  return found.length === 0 || found.length > MOST_NAMED
    ? undefined
    : `${column} is a column of ${found.join(", ")}`;
}

/** Postgres counts characters, with those of the cursor in front. */
function placeIn(text: string, position: string | undefined): string {
  const place = Number(position) - DECLARE.length;
  if (!(place > 0)) return "";
  const before = [...text].slice(0, place - 1).join("");
  const line = before.split("\n");
  return `, at line ${line.length}, column ${[...(line.at(-1) ?? "")].length + 1}`;
}
