import { is, SQL, sql } from "drizzle-orm";
import { ConfigError } from "../base/errors.ts";
import { printableJson } from "../base/text.ts";
import { type WrittenStatement, writeStatement } from "../store/connection/sql.ts";
import { type ColumnOf, columnsOf, DICTIONARY, type Relation } from "./dictionary.ts";
import { readTimeBounds } from "./time-bounds.ts";

export const FILTER_NAMES = ["project", "version", "type", "since", "until", "limit"] as const;
type FilterName = (typeof FILTER_NAMES)[number];

/**
 * The filters of a relation. Slugs and types are compared as they are, `since` and `until` as `readTimeBounds` says. `limit`
 * is how many rows there are at most. @default all
 */
export type AnswerFilters = {
  readonly [Name in FilterName]?: (Name extends "limit" ? number : string) | undefined;
};

/** A statement over schema `report`, as `ask.ts` writes it: text with `$1`, `$2` and so on, and the values for them. */
export interface Question extends WrittenStatement {
  /** The columns that it asks for, in their order; none where its text is its own. */
  readonly columns: readonly string[];
  /** The same without what only a page adds: every row, as the files have it. */
  readonly whole: WrittenStatement;
  /** The whole statement with its values written in, for people to copy. */
  readonly readable: string;
}

/** A relation in a statement, and its columns. */
type RelationSql<R extends Relation> = SQL & { readonly [Column in ColumnOf<R>]: SQL };

/**
 * A relation of schema `report` for drizzle's `sql`. With `build` for `relation("fact_builds")`, `${build}` is
 * `report.fact_builds` and `${build.type}` is `type`; with an alias the column is `ALIAS.type`. A column that the
 * dictionary does not have does not compile.
 */
export function relation<R extends Relation>(name: R, alias?: string): RelationSql<R> {
  const [as, of] = alias === undefined ? ["", ""] : [` as ${alias}`, `${alias}.`];
  const columns = columnsOf(name).map((column) => [column, sql.raw(of + column)]);
  return Object.assign(sql.raw(`report.${name}${as}`), Object.fromEntries(columns));
}

/** Several columns of a relation, in this order. */
export function pick<C extends string>(from: Readonly<Record<C, SQL>>, ...columns: C[]): SQL {
  return sql.join(
    columns.map((column) => from[column]),
    sql`, `,
  );
}

/** The WHERE of a statement, on a line of its own. Nothing where there are no conditions. */
export function where(...conditions: (SQL | false)[]): SQL | undefined {
  const given = conditions.filter((condition) => condition !== false);
  return given.length === 0 ? undefined : sql`\nwhere ${sql.join(given, sql`\n  and `)}`;
}

/** A number of ours in the text: a statement without values takes one round trip less. */
export const inline = (number: number): SQL => sql.raw(String(number));

/** As many names as fit in a line of 100 characters, behind `select `. */
const LINE = /(?<=^|, ).{1,93}(?=,|$)/g;
const PROJECTS = relation("dim_projects");

/** The filters that a relation accepts. */
export function filtersOf(relation: Relation): FilterName[] {
  const columns: readonly string[] = columnsOf(relation);
  const isTimed = DICTIONARY[relation].time !== undefined;
  const accepts: Record<FilterName, boolean> = {
    project: columns.includes("project_slug") || columns.includes("project_id"),
    version: columns.includes("version_slug"),
    type: columns.includes("type"),
    since: isTimed,
    until: isTimed,
    limit: true,
  };
  return FILTER_NAMES.filter((name) => accepts[name]);
}

/** A piece of a statement that only a page has. */
class PagePiece extends SQL {}

/**
 * A tag for what a page adds to a question: its limit, and how many rows there are without it. The shown SQL and the
 * files lack such pieces, so they have every row.
 */
export function onPage(text: TemplateStringsArray, ...values: unknown[]): SQL {
  return new PagePiece(sql(text, ...values).queryChunks);
}

/**
 * The statement that reads a relation of schema `report`: its columns by name, narrowed by the filters and by `also`, in
 * the relation's order; `part` is what `onPage` adds, `columns` those that are wanted. Throws ConfigError for a filter that
 * the relation does not accept, or an invalid value. Does not check whether a slug exists.
 */
export function askFor<R extends Relation>(
  relation: R,
  filters: AnswerFilters = {},
  also: readonly SQL[] = [],
  part?: SQL,
  columns: readonly ColumnOf<R>[] = columnsOf(relation),
): Question {
  const { order } = DICTIONARY[relation];
  const { limit } = filters;
  const statement = sql`select ${sql.raw(wrap(columns))}
from ${sql.raw(`report.${relation}`)}${where(...conditionsOf(relation, filters), ...also)}
order by ${sql.raw(order.join(", "))}${limit === undefined ? undefined : sql`\nlimit ${limit}`}${part}`;
  return asQuestion(statement, columns);
}

/**
 * A tag for a question that no relation answers by itself: ``ask`select …` ``, with values and pieces as in drizzle's `sql`. The
 * text may begin on a line of its own.
 */
export const ask = (text: TemplateStringsArray, ...values: unknown[]): Question =>
  asQuestion(sql(text, ...values));

function asQuestion(statement: SQL, columns: readonly string[] = []): Question {
  return {
    columns,
    ...write(statement),
    // Most questions are not shown.
    get whole() {
      return write(withoutPage(statement));
    },
    get readable() {
      const { text, params } = this.whole;
      return `${text.replace(/\$(\d+)/g, (_, place) => literal(params[Number(place) - 1]))};\n`;
    },
  };
}

function write(statement: SQL): WrittenStatement {
  const { text, params } = writeStatement(statement);
  return { text: text.trimStart(), params };
}

function withoutPage({ queryChunks }: SQL): SQL {
  const kept = queryChunks.filter((chunk) => !(chunk instanceof PagePiece));
  return new SQL(kept.map((chunk) => (is(chunk, SQL) ? withoutPage(chunk) : chunk)));
}

function conditionsOf(relation: Relation, filters: AnswerFilters): SQL[] {
  assertFilters(relation, filters);
  const columns: readonly string[] = columnsOf(relation);
  const { time } = DICTIONARY[relation];
  const { project, version, type } = filters;
  const conditions: SQL[] = [];
  if (project !== undefined)
    conditions.push(
      columns.includes("project_slug")
        ? sql`project_slug = ${project}`
        : sql`project_id in (select ${PROJECTS.project_id} from ${PROJECTS} where ${PROJECTS.project_slug} = ${project})`,
    );
  if (version !== undefined) conditions.push(sql`version_slug = ${version}`);
  if (type !== undefined) conditions.push(sql`type = ${type}`);
  if (time !== undefined) {
    const { from, before } = readTimeBounds(filters, time.span);
    const bound = (sign: ">=" | "<", moment: string) => {
      const { column, day = time.span === "day" ? column : undefined } = time;
      if (day !== undefined) conditions.push(sql`${sql.raw(`${day} ${sign}`)} ${dayOf(moment, sign)}::date`);
      if (day !== column && !(day !== undefined && isMidnight(moment)))
        conditions.push(sql`${sql.raw(`${column} ${sign}`)} ${moment}::timestamptz`);
    };
    if (from !== null) bound(">=", from);
    if (before !== null) bound("<", before);
  }
  return conditions;
}

const isMidnight = (moment: string): boolean => moment.endsWith("T00:00:00.000Z");

/** For a bound within a day: the first day that counts, or the first that does not. */
function dayOf(moment: string, sign: ">=" | "<"): string {
  const day = moment.slice(0, 10);
  if (sign === ">=" || isMidnight(moment)) return day;
  return new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);
}

function assertFilters(relation: Relation, filters: AnswerFilters): void {
  const possible = filtersOf(relation);
  const wrong = FILTER_NAMES.filter((name) => filters[name] !== undefined && !possible.includes(name));
  if (wrong.length > 0)
    throw new ConfigError(`${relation} cannot be narrowed by ${wrong.join(", ")}`, {
      hint: `it can be narrowed by ${possible.join(", ")}`,
    });
  for (const name of ["project", "version", "type"] as const)
    if (filters[name]?.includes("\0"))
      throw new ConfigError(`${name} contains a character that no text in the mirror has`);
  const { limit } = filters;
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 0))
    throw new ConfigError(`limit is not a whole number: ${limit}`);
}

/** Names in lines that are as long as they may be. */
const wrap = (names: readonly string[]): string => names.join(", ").match(LINE)?.join(",\n       ") ?? "";

/**
 * Quotes as Postgres' quote_literal does, so that a backslash means the same under all session settings.
 * Control characters are written by their number.
 */
function literal(value: unknown): string {
  if (typeof value === "number") return String(value);
  const quoted = `'${String(value).toWellFormed().replaceAll("'", "''").replaceAll("\\", "\\\\")}'`;
  // JSON has the same escapes as an E string.
  const printed = printableJson(quoted);
  return printed.includes("\\") ? `E${printed}` : printed;
}
