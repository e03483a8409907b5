/** Questions to the reports and the rows that answer them: sent at once over one connection, equal ones once. */
import { type SQL, sql } from "drizzle-orm";
import { LRUCache } from "lru-cache";
import { ask, onPage, type Question } from "../../report/ask.ts";
import {
  type Places,
  readSqlFile,
  runText,
  type TransactionSql,
  template,
  type WrittenStatement,
} from "../../store/connection/sql.ts";

/** A row by its columns. Numbers are numbers, and times are the text of Postgres. */
export type Row = Readonly<Record<string, unknown>>;

/** A question whose author says what its rows are. */
export interface Asks<R> extends Question {
  readonly row?: R;
}

/**
 * The SQL of a file in the folder `sql` beside the code at `url`. The lines of the file that end with `-- on the page` are what only the
 * page adds, as `onPage` has it. It is read once: an upgrade may replace the program's files meanwhile. Throws where a place is not named:
 * a filter that is misspelt would be none.
 */
export function piece(name: string, url: string): (places?: Places) => SQL {
  const lines = readSqlFile(new URL(`sql/${name}.sql`, url))
    .trimEnd()
    .split("\n");
  const parts = lines.map((line, place) => {
    const [text = "", mark] = `${place > 0 ? "\n" : ""}${line}`.split(/ -- on the page$()/);
    return { isOfPage: mark !== undefined, write: template(text) };
  });
  return (places) =>
    sql.join(parts.map(({ isOfPage, write }) => (isOfPage ? onPage`${write(places)}` : write(places))));
}

/** The same as a question, whose rows are what the author says they are. */
export function question<R>(name: string, url: string): (places?: Places) => Asks<R> {
  const written = piece(name, url);
  return (places) => ask`${written(places)}`;
}

/**
 * The questions of a page, each from its file in the folder `sql` beside the code at `url`, with the places that its scope has; `more` are those
 * that only one has.
 */
export const questionsOf =
  <Scope>(url: string, placesOf: (scope: Scope) => Places) =>
  <R>(name: string) => {
    const write = question<R>(name, url);
    return (scope: Scope, more: Places = {}): Asks<R> => write({ ...placesOf(scope), ...more });
  };

/** Questions by name; one that is null is not asked, and has no rows. */
export type Asked = Readonly<Record<string, Asks<unknown> | null>>;
type RowOf<Q> = Q extends { readonly row?: infer R } ? (unknown extends R ? Row : R) : Row;
/** The rows of each. */
export type Found<A extends Asked> = { readonly [Name in keyof A]: readonly RowOf<NonNullable<A[Name]>>[] };

/** A number of a row; 0 where there is no row, or no number. */
export const countIn = <C extends string>(
  row: { readonly [Name in C]?: unknown } | undefined,
  column: C,
): number => Number(row?.[column] ?? 0);
export const sumIn = <C extends string>(
  rows: readonly { readonly [Name in C]?: unknown }[],
  column: C,
): number => rows.reduce<number>((sum, row) => sum + countIn(row, column), 0);

/** Rows by a key of theirs, in the order of the first of each. */
export function groupBy<R, K>(rows: readonly R[], keyOf: (row: R) => K): Map<K, [R, ...R[]]> {
  const groups = new Map<K, [R, ...R[]]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group === undefined) groups.set(keyOf(row), [row]);
    else group.push(row);
  }
  return groups;
}

type Answer = Promise<readonly Row[]>;
const KEPT = new WeakMap<TransactionSql, LRUCache<string, Answer>>();
/** Four pages have no more questions. */
const MOST_KEPT = 100;

/** Lets the pages that are drawn one after the other from this snapshot share their answers, the latest ones. */
export function keepAnswers(tx: TransactionSql): void {
  KEPT.set(tx, new LRUCache({ max: MOST_KEPT }));
}

/** Sends questions, and gives the rows of each when all are there. */
export type Sender = <A extends Asked>(questions: A) => Promise<Found<A>>;

/**
 * Sends questions over the transaction's connection without waiting for the answers before, equal ones once. The
 * transaction must not end before all needed answers have been awaited.
 */
export function createSender(tx: TransactionSql): Sender {
  const sent = KEPT.get(tx) ?? new Map<string, Answer>();
  const send = ({ text, params }: WrittenStatement) => {
    const key = JSON.stringify([text, params]);
    const answer = sent.get(key) ?? runText<Row>(tx, text, params).then(withNumbers);
    // When one question fails, all later ones fail too, and nothing may be waiting for them.
    answer.catch(() => {});
    sent.set(key, answer);
    return answer;
  };
  return async <A extends Asked>(questions: A) => {
    const rows = Object.entries(questions).map(
      async ([name, question]) => [name, question === null ? [] : await send(question)] as const,
    );
    return Object.fromEntries(await Promise.all(rows)) as Found<A>;
  };
}

/** The type of sums and quotients, which the driver leaves as text. */
const NUMERIC = 1700;

/** Rows as the driver gives them, with the type of each column. */
interface TypedRows extends ReadonlyArray<Row> {
  readonly columns: readonly { readonly name: string; readonly type: number }[];
}

function withNumbers(rows: TypedRows): readonly Row[] {
  const numeric = rows.columns.filter(({ type }) => type === NUMERIC);
  const numbersOf = (row: Row) =>
    numeric.map(({ name }) => [name, row[name] === null ? null : Number(row[name])] as const);
  return numeric.length === 0 ? rows : rows.map((row) => ({ ...row, ...Object.fromEntries(numbersOf(row)) }));
}

/** The rows of each of the questions, which are all sent at once. */
export const askEach = <A extends Asked>(tx: TransactionSql, questions: A): Promise<Found<A>> =>
  createSender(tx)(questions);
