import { ConfigError } from "../base/errors.ts";
import { printableJson } from "../base/printable.ts";
import { DICTIONARY, type Relation } from "./dictionary.ts";
import { RELATION_FACTS } from "./relations.ts";
import { readTimeBounds } from "./time-bounds.ts";

/**
 * The filters of a relation. Slugs and types are compared as they are, `since` and `until` as
 * `readTimeBounds` says.
 */
export interface AnswerFilters {
  readonly project?: string | undefined;
  readonly version?: string | undefined;
  readonly type?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  /** Rows at most. @default all */
  readonly limit?: number | undefined;
}

export type FilterName = keyof AnswerFilters;

export interface Question {
  readonly relation: Relation;
  /** The columns that it asks for, in their order. */
  readonly columns: readonly string[];
  /** For `sql.unsafe(text, params)`. */
  readonly text: string;
  readonly params: (string | number)[];
  /** The same statement with its values written in, for people to copy. */
  readonly readable: string;
}

export const FILTER_NAMES = ["project", "version", "type", "since", "until", "limit"] as const;
const LINE_LENGTH = 100;

/** The columns of a relation, in the order in which it has them. */
export function columnsOf(relation: Relation): string[] {
  return Object.keys(DICTIONARY[relation].columns);
}

/** The filters that a relation accepts. */
export function filtersOf(relation: Relation): FilterName[] {
  const columns = columnsOf(relation);
  const { time } = RELATION_FACTS[relation];
  return FILTER_NAMES.filter((name) => {
    switch (name) {
      case "project":
        return columns.includes("project_slug") || columns.includes("project_id");
      case "version":
        return columns.includes("version_slug");
      case "type":
        return columns.includes("type");
      case "limit":
        return true;
      default:
        return time !== undefined;
    }
  });
}

/** SQL conditions in addition to the filters; `hold` takes a value and returns the parameter for it. */
export type Conditions = (hold: (value: string | number) => string) => readonly string[];

/**
 * The statement that reads a relation of schema `report`: its columns by name, narrowed by the filters and by
 * `also`, in the relation's order. Throws ConfigError for a filter that the relation does not accept, or an
 * invalid value. Does not check whether a slug exists.
 */
export function askFor(
  relation: Relation,
  filters: AnswerFilters = {},
  also: Conditions = () => [],
): Question {
  const columns = columnsOf(relation);
  const { params, hold, source } = narrow(relation, filters, also);
  const lines = [`select ${wrap(columns)}`, source];
  lines.push(`order by ${RELATION_FACTS[relation].order}`);
  if (filters.limit !== undefined) lines.push(`limit ${hold(filters.limit)}`);
  return asQuestion(relation, columns, lines.join("\n"), params);
}

/** A statement over `relation` as a question, where no relation has the answer by itself. */
export function asQuestion(
  relation: Relation,
  columns: readonly string[],
  text: string,
  params: (string | number)[],
): Question {
  return { relation, columns, text, params, readable: `${writeIn(text, params)};\n` };
}

/** The FROM and WHERE of a question. Values are added to `params`. Throws ConfigError as `askFor` does. */
export function narrow(
  relation: Relation,
  filters: AnswerFilters,
  also: Conditions = () => [],
  params: (string | number)[] = [],
) {
  assertFilters(relation, filters);
  const columns = columnsOf(relation);
  const { time } = RELATION_FACTS[relation];
  const conditions: string[] = [];
  const hold = (value: string | number): string => `$${params.push(value)}`;

  if (filters.project !== undefined) {
    conditions.push(
      columns.includes("project_slug")
        ? `project_slug = ${hold(filters.project)}`
        : `project_id in (select project_id from report.dim_projects where project_slug = ${hold(filters.project)})`,
    );
  }
  if (filters.version !== undefined) conditions.push(`version_slug = ${hold(filters.version)}`);
  if (filters.type !== undefined) conditions.push(`type = ${hold(filters.type)}`);
  if (time !== undefined) {
    const { from, before } = readTimeBounds(filters, time.span);
    const bound = (sign: ">=" | "<", moment: string) => {
      const isMoment = time.span === "moment" || time.span === "hour";
      const { column, day = isMoment ? undefined : column } = time;
      if (day !== undefined) conditions.push(`${day} ${sign} ${hold(dayOf(moment, sign))}::date`);
      if (day !== column && !(day !== undefined && isMidnight(moment)))
        conditions.push(`${column} ${sign} ${hold(moment)}::timestamptz`);
    };
    if (from !== null) bound(">=", from);
    if (before !== null) bound("<", before);
  }
  conditions.push(...also(hold));
  const where = conditions.length > 0 ? `\nwhere ${conditions.join("\n  and ")}` : "";
  return { params, hold, source: `from report.${relation}${where}` };
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
  if (wrong.length > 0) {
    throw new ConfigError(`${relation} cannot be narrowed by ${wrong.join(", ")}`, {
      hint: `it can be narrowed by ${possible.join(", ")}`,
    });
  }
  for (const name of ["project", "version", "type"] as const) {
    if (filters[name]?.includes("\0")) {
      throw new ConfigError(`${name} contains a character that no text in the mirror has`);
    }
  }
  const { limit } = filters;
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 0)) {
    throw new ConfigError(`limit is not a whole number: ${limit}`);
  }
}

function wrap(names: readonly string[]): string {
  const lines = [""];
  for (const name of names) {
    const line = lines.at(-1) ?? "";
    if (line === "") lines[lines.length - 1] = name;
    else if (line.length + name.length + 9 <= LINE_LENGTH) lines[lines.length - 1] = `${line}, ${name}`;
    else lines.push(name);
  }
  return lines.join(",\n       ");
}

function writeIn(text: string, params: readonly (string | number)[]): string {
  return text.replace(/\$(\d+)/g, (_, place) => literal(params[Number(place) - 1] ?? ""));
}

/**
 * Quotes as Postgres' quote_literal does, so that a backslash means the same under all session settings.
 * Control characters are written by their number.
 */
function literal(value: string | number): string {
  if (typeof value === "number") return String(value);
  const quoted = `'${value.toWellFormed().replaceAll("'", "''").replaceAll("\\", "\\\\")}'`;
  // JSON has the same escapes as an E string.
  const printed = printableJson(quoted);
  return printed.includes("\\") ? `E${printed}` : printed;
}
