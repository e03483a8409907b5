/**
 * A block of a page is one place: what it asks, what narrows its files, how it is drawn. A page is a list of its blocks in
 * their order. Blocks that need the same answer, or the verdict and a block, ask the same question: equal questions are
 * sent once. A page imports from here and from its own folder, never from another page.
 */
import { LRUCache } from "lru-cache";
import type { Question } from "../../report/ask.ts";
import { runText, type TransactionSql, type WrittenStatement } from "../../store/connection/sql.ts";
import { html, type Markup } from "./html.ts";
import { type Link, type Query, renderLinks, withQuery } from "./links.ts";
import { mark } from "./marks.ts";
import type { PageMoment } from "./page-moment.ts";

/** A row of a relation, as the driver returns it. */
export type Row = Readonly<Record<string, unknown>>;

/** A number of a row; 0 where there is no row, or no number. */
export const countIn = (row: Row | undefined, column: string): number => Number(row?.[column] ?? 0);
export const sumIn = (rows: readonly Row[], column: string): number =>
  rows.reduce((sum, row) => sum + countIn(row, column), 0);

/** Questions by name; one that is null is not asked, and has no rows. */
type Asked = Readonly<Record<string, Question | null>>;
type Rows<A extends Asked> = Readonly<Record<keyof A, readonly Row[]>>;

/**
 * What is drawn from answers, such as the verdict. `Scope` is the reader's choice as the page has resolved it; `said` is
 * what the verdict of the page drew, which comes first.
 */
interface Part<Scope, A extends Asked, Drawn, More, Said> {
  /** Also called for the files alone, so it has no effect. */
  asks(scope: Scope): A;
  /** What is read after the first answers, because its keys are rows of them. @default nothing */
  next?(tx: TransactionSql, found: Rows<A>, scope: Scope, said: Said): Promise<More>;
  draw(found: Rows<A> & More, scope: Scope, said: Said): Drawn;
}

export interface BlockFacts {
  /** Its anchor: letters and hyphens, once a page. */
  readonly id: string;
  readonly title: string;
  /** How many there are, or of which time: quiet, beside the title. */
  readonly count?: string;
  /** A sentence below the title. */
  readonly note?: Markup | string;
  /** CSV, JSON and SQL. @default none */
  readonly tools?: Offer;
  readonly body: Markup | readonly Markup[];
}

interface BlockBody extends Omit<BlockFacts, "id" | "tools"> {
  /** Why there is nothing to show, in place of the body. */
  readonly empty?: Empty | false | undefined;
}

/** `Body` may have more than a block shows, such as the line that stands for it on a phone. Drawn as null it is not shown. */
interface Block<
  Scope,
  A extends Asked = Asked,
  Body extends BlockBody = BlockBody,
  More = unknown,
  Said = unknown,
> extends Part<Scope, A, Body | null, More, Said> {
  /** Its anchor, and the name of its files. */
  readonly id: string;
  /** What narrows its files. @default it has none */
  readonly narrowedBy?: Parameters;
  /** What its files have. @default `rows` of what it asks */
  file?(scope: Scope): Question;
}

export const block = <Scope, A extends Asked, Body extends BlockBody, More = unknown, Said = unknown>(
  one: Block<Scope, A, Body, More, Said>,
) => one;
export const part = <Scope, A extends Asked, Drawn, More = unknown, Said = unknown>(
  one: Part<Scope, A, Drawn, More, Said>,
) => one;

type Column<Scope> = readonly Block<Scope>[];

/** From above: blocks, blocks side by side in columns, and a column with a rail of smaller blocks beside it. */
export type Layout<Scope> = readonly (
  | Block<Scope>
  | readonly Column<Scope>[]
  | { readonly main: Column<Scope>; readonly rail: Column<Scope>; readonly railLabel: string }
)[];

export interface BlockPage<Scope> {
  /** Its name in the addresses of files. */
  readonly name: string;
  readonly layout: Layout<Scope>;
  /** The choice that its files keep. */
  kept(scope: Scope): Query;
}

const blocksOf = <Scope>(layout: Layout<Scope>): Block<Scope>[] =>
  layout.flatMap((one) => ("id" in one ? [one] : "rail" in one ? [...one.main, ...one.rail] : one.flat()));

const fileOf = <Scope>(one: Block<Scope>, scope: Scope, asked?: Asked): Question | undefined =>
  one.narrowedBy && (one.file?.(scope) ?? (asked ?? one.asks(scope)).rows ?? undefined);

/** What narrows the rows of a block: parameters of the query, each with its values where these are few. */
type Parameters = Readonly<Record<string, readonly string[] | null>>;

/** How a page gives the rows of its blocks as files. */
export interface PageFiles {
  readonly parameters: Readonly<Record<string, Parameters>>;
  /** What each block asks, by its id. Throws ConfigError for a choice that names nothing. */
  ask(tx: TransactionSql, moment: PageMoment): Promise<Readonly<Record<string, Question>>>;
}

/** The files of a page's blocks; `find` resolves the reader's choice, to undefined where there is nothing to ask. */
export function filesOf<Scope>(
  { layout }: BlockPage<Scope>,
  find: (tx: TransactionSql, moment: PageMoment) => Scope | undefined | Promise<Scope | undefined>,
): PageFiles {
  const blocks = blocksOf(layout);
  return {
    parameters: Object.fromEntries(
      blocks.flatMap((one) => (one.narrowedBy ? [[one.id, one.narrowedBy]] : [])),
    ),
    async ask(tx, moment) {
      const scope = await find(tx, moment);
      if (scope === undefined) return {};
      const files = blocks.map((one) => [one.id, fileOf(one, scope)] as const);
      return Object.fromEntries(files.flatMap(([id, file]) => (file ? [[id, file]] : [])));
    },
  };
}

/**
 * Asks all that a page needs at once, then what the answers lead to. `verdict` is drawn first; `draw` draws the blocks, `facts`
 * gives one of them, with its tools, to what is drawn otherwise.
 */
export async function drawBlocks<Scope, A extends Asked, Said, More>(
  tx: TransactionSql,
  { name, layout, kept }: BlockPage<Scope>,
  verdict: Part<Scope, A, Said, More, unknown>,
  scope: Scope,
) {
  type AnyPart = Part<Scope, Asked, unknown, unknown, unknown>;
  const blocks = blocksOf(layout);
  const ask = createSender(tx);
  const parts: AnyPart[] = [verdict as AnyPart, ...blocks];
  const questions = new Map(parts.map((one) => [one, one.asks(scope)]));
  const asked = new Map(
    await Promise.all([...questions].map(async ([one, its]) => [one, await ask(its)] as const)),
  );
  const find = async (one: AnyPart, said: unknown) => {
    const rows = asked.get(one) ?? {};
    return { ...rows, ...((await one.next?.(tx, rows, scope, said)) as object) };
  };
  const said = verdict.draw((await find(verdict as AnyPart, undefined)) as Rows<A> & More, scope, undefined);
  const found = new Map(
    await Promise.all(blocks.map(async (one) => [one.id, await find(one, said)] as const)),
  );

  function facts<B extends Asked, Body extends BlockBody, M, S>(one: Block<Scope, B, Body, M, S>) {
    const { id, narrowedBy = {} } = one;
    const body = one.draw(found.get(id) as Rows<B> & M, scope, said as unknown as S);
    const plain = one as unknown as Block<Scope>;
    const question = fileOf(plain, scope, questions.get(plain));
    const own = Object.fromEntries(Object.keys(narrowedBy).map((key) => [key, kept(scope)[key]]));
    const href = (ending: string) => withQuery(`/files/${name}/${id}.${ending}`, own);
    const tools = question && { tools: { question, href } };
    return body && { id, ...tools, ...body, body: body.empty ? renderNoRows(...body.empty) : body.body };
  }
  const column = (all: Column<Scope>) =>
    html`${all.map((one) => {
      const drawn = facts(one);
      return html`${drawn && renderBlock(drawn)}
`;
    })}`;
  const draw = (shown: Layout<Scope> = layout): Markup =>
    html`${shown.map((one) => {
      if ("id" in one) return column([one]);
      if ("rail" in one)
        return html`<div class="cols">
<div class="col">
${column(one.main)}</div>
<aside class="col rail" aria-label="${one.railLabel}">
${column(one.rail)}</aside>
</div>`;
      return html`<div class="pair">
${one.map(
  (inner) => html`<div class="col">
${column(inner)}</div>
`,
)}</div>
`;
    })}`;
  return { verdict: said, facts, draw };
}

type Answer = Promise<readonly Row[]>;
const KEPT = new WeakMap<TransactionSql, LRUCache<string, Answer>>();
/** Four pages have no more questions. */
const MOST_KEPT = 100;

/** Lets the pages that are drawn one after the other from this snapshot share their answers, the latest ones. */
export function keepAnswers(tx: TransactionSql): void {
  KEPT.set(tx, new LRUCache({ max: MOST_KEPT }));
}

/**
 * Sends questions over the transaction's connection without waiting for the answers before, equal ones once. The
 * transaction must not end before all needed answers have been awaited.
 */
function createSender(tx: TransactionSql) {
  const sent = KEPT.get(tx) ?? new Map<string, Answer>();
  const send = ({ text, params }: WrittenStatement) => {
    const key = JSON.stringify([text, params]);
    const answer = sent.get(key) ?? runText<Row>(tx, text, params).then((rows): readonly Row[] => rows);
    // When one question fails, all later ones fail too, and nothing may be waiting for them.
    answer.catch(() => {});
    sent.set(key, answer);
    return answer;
  };
  return async <Name extends string>(questions: Readonly<Record<Name, WrittenStatement | null>>) => {
    const rows = Object.entries<WrittenStatement | null>(questions).map(
      async ([name, question]) => [name, question === null ? [] : await send(question)] as const,
    );
    return Object.fromEntries(await Promise.all(rows)) as Record<Name, readonly Row[]>;
  };
}

/** The rows of each of the questions, which are all sent at once. */
export const askEach = <Name extends string>(
  tx: TransactionSql,
  questions: Readonly<Record<Name, WrittenStatement | null>>,
): Promise<Record<Name, readonly Row[]>> => createSender(tx)(questions);

interface Offer {
  readonly question: Question;
  /** The address of a file of its rows. */
  href(ending: "csv" | "json"): string;
}

/** One answer of a page: a heading with its quiet tools, and the answer. */
export function renderBlock({ id, title, count, note, tools, body }: BlockFacts): Markup {
  return html`<section class="block" id="${id}" aria-labelledby="${id}-t">
<header class="bh"><h2 id="${id}-t">${title}
  ${count === undefined ? "" : html` <span class="count">${count}</span>`}</h2>
  ${tools === undefined ? "" : renderTools(id, title, tools)}
  ${note === undefined ? "" : html`<p class="note">${note}</p>`}</header>
${body}
</section>`;
}

/**
 * The quiet tools of a block: its rows as CSV and JSON, and its SQL. The SQL opens in a popover; a browser
 * without popovers has it in the page.
 */
function renderTools(id: string, title: string, { question, href }: Offer): Markup {
  return html`<div class="tools">
    <a href="${href("csv")}" download>CSV<span class="unseen"> of ${title}</span></a>
    <a href="${href("json")}">JSON<span class="unseen"> of ${title}</span></a>
    <button type="button" popovertarget="sql-${id}">SQL<span class="unseen"> of ${title}</span></button>
<div class="pop" popover id="sql-${id}">
  <div class="pop-head"><strong>${title}: the query</strong>
  <button type="button" popovertarget="sql-${id}" popovertargetaction="hide">Close</button></div>
  <pre tabindex="0" role="region" aria-label="SQL of ${title}">${question.readable}</pre>
  <p>At the command line <code>docmirror sql</code> runs it.</p></div></div>`;
}

/**
 * The three states of an empty answer. `none`: it was looked for, and there is none. `unknown`: nobody has
 * looked. `no-match`: the filter leaves nothing, which says nothing about builds.
 */
const EMPTY_MARKS = {
  none: ["good", "none"],
  unknown: ["idle", "not known"],
  "no-match": ["idle", "nothing matches"],
} as const;

/**
 * The state in some words, such as "None found.", and with `none` how much was looked at, else what to do; then links to go on
 * by.
 */
export type Empty = readonly [
  kind: keyof typeof EMPTY_MARKS,
  strong: string,
  say: Markup | string,
  ways?: readonly Link[],
];

/** An empty answer that never claims more than is known. */
export function renderNoRows(...[kind, strong, say, ways = []]: Empty): Markup {
  const [sign, word] = EMPTY_MARKS[kind];
  return html`<div class="empty"><p>${mark(sign, word)} <strong>${strong}</strong> ${say}</p>
    ${ways.length === 0 ? "" : html`<p class="acts-inline">${renderLinks(ways)}</p>`}</div>`;
}

/** The head of a page that has no verdict. */
export function renderHead(title: Markup | string, say?: Markup | string): Markup {
  return html`<div class="head"><div><h1>${title}</h1>${say === undefined ? "" : html`<p class="say">${say}</p>`}</div></div>`;
}
