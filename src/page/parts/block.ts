/**
 * A block of a page is one place: its questions, the parameters that narrow its files, its drawing. A page is a list of its
 * blocks in their order. Blocks that need the same answer, or the verdict and a block, ask the same question. A page imports
 * from here and from its own folder, never from another page.
 */
import type { Question } from "../../report/ask.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { type Asked, createSender, type Found, type Sender } from "./answers.ts";
import type { PageMoment } from "./freshness.ts";
import { html, type Markup } from "./html.ts";
import { type Link, type Query, renderLinks, withQuery } from "./links.ts";
import { icon, mark } from "./marks.ts";

/**
 * Asks questions and draws their answers. `Scope` is the reader's choice as the page has resolved it; `said` is the verdict of
 * the page, which comes first.
 */
interface PartDrawing<Scope, A extends Asked, Said, Drawn> {
  /** Also called for the files alone, so it has no effect. @default nothing */
  asks?(scope: Scope): A;
  /** Reads more by `tx` where the keys of that are rows of the first answers. */
  draw(found: Found<A>, scope: Scope, said: Said, tx: TransactionSql): Drawn | Promise<Drawn>;
}

/** The same for who knows its questions not by their names: what it asked, and what draws the answers. */
export interface Part<Scope, Said, Drawn> {
  read(
    tx: TransactionSql,
    ask: Sender,
    scope: Scope,
  ): Promise<{ readonly asked: Asked; draw(said: Said): Promise<Drawn> }>;
}

export const part = <Scope, A extends Asked = Record<never, never>, Said = unknown, Drawn = unknown>(
  one: PartDrawing<Scope, A, Said, Drawn>,
): Part<Scope, Said, Drawn> => ({
  async read(tx, ask, scope) {
    const asked = one.asks?.(scope) ?? ({} as A);
    const found = await ask(asked);
    return { asked, draw: async (said) => one.draw(found, scope, said, tx) };
  },
});

interface BlockBody {
  readonly title: string;
  /** The number of rows, or their time: quiet, beside the title. */
  readonly count?: string;
  /** A sentence below the title. */
  readonly note?: Markup | string | undefined;
  /** The answer in some words, for the line that stands for the block on a phone. @default no such line */
  readonly short?: Markup | string | undefined;
  /** The reason why there is nothing to show, in place of the body. */
  readonly empty?: Empty | false | undefined;
  readonly body?: Markup | readonly Markup[];
}

interface BlockFacts {
  /** Its anchor, and the name of its files: letters and hyphens, once a page. */
  readonly id: string;
  /** The parameters that narrow its files; null where it has none. @default those of the page */
  readonly narrowedBy?: Parameters | null | undefined;
}

/** Drawn as null it is not shown. */
interface Block<Scope, Said> extends BlockFacts, Part<Scope, Said, BlockBody | null> {
  /** The rows of its files; `asked` are its questions, where they were made already. */
  file(scope: Scope, asked?: Asked): Question | null | undefined;
}

interface BlockDrawing<Scope, A extends Asked, Said>
  extends BlockFacts,
    PartDrawing<Scope, A, Said, BlockBody | null> {
  /** @default `rows` of its questions */
  file?(scope: Scope): Question;
}

export const block = <Scope, A extends Asked = Record<never, never>, Said = unknown>(
  one: BlockDrawing<Scope, A, Said>,
): Block<Scope, Said> => ({
  id: one.id,
  narrowedBy: one.narrowedBy,
  file: (scope, asked: Asked | undefined = one.asks?.(scope)) => one.file?.(scope) ?? asked?.rows,
  ...part(one),
});

type Blocks<Scope, Said> = readonly Block<Scope, Said>[];

/**
 * From above: blocks, blocks side by side in columns, and a column with a rail of smaller blocks beside it. Of those side by side the ones that
 * have nothing to show come last, a line each. A glance has lines that stand for blocks of the rail before it on a phone.
 */
type Layout<Scope, Said> = readonly (
  | Block<Scope, Said>
  | readonly Blocks<Scope, Said>[]
  | { readonly glance: Blocks<Scope, Said> }
  | {
      readonly main: Blocks<Scope, Said>;
      readonly rail: Blocks<Scope, Said>;
      readonly railLabel: string;
    }
)[];

export interface BlockPage<Scope, Said = unknown> {
  /** Its name in the addresses of files. */
  readonly name: string;
  readonly layout: Layout<Scope, Said>;
  /** The parameters that narrow the files of its blocks, where a block says nothing else. */
  readonly narrowedBy: Parameters;
  /** The choice that its files keep. */
  kept(scope: Scope): Query;
}

const blocksOf = <Scope, Said>(layout: Layout<Scope, Said>): Blocks<Scope, Said> =>
  layout.flatMap((row) => {
    if ("id" in row) return [row];
    return "rail" in row ? [...row.main, ...row.rail] : "glance" in row ? [] : row.flat();
  });

/** Parameters of the query, each with its values where these are few. */
type Parameters = Readonly<Record<string, readonly string[] | null>>;

/** The rows of a page's blocks as files. */
export interface PageFiles {
  readonly parameters: Readonly<Record<string, Parameters>>;
  /** The question of each block, by its id. Throws ConfigError for a choice that names nothing. */
  ask(tx: TransactionSql, moment: PageMoment): Promise<Readonly<Record<string, Question>>>;
}

/** The files of a page's blocks; `find` resolves the reader's choice, to undefined where there is nothing to ask. */
export function filesOf<Scope, Said>(
  page: BlockPage<Scope, Said>,
  find: (tx: TransactionSql, moment: PageMoment) => Scope | undefined | Promise<Scope | undefined>,
): PageFiles {
  const blocks = blocksOf(page.layout).filter(({ narrowedBy }) => narrowedBy !== null);
  return {
    parameters: Object.fromEntries(blocks.map(({ id, narrowedBy }) => [id, narrowedBy ?? page.narrowedBy])),
    async ask(tx, moment) {
      const scope = await find(tx, moment);
      if (scope === undefined) return {};
      const files = blocks.map((one) => [one.id, one.file(scope)] as const);
      return Object.fromEntries(files.flatMap(([id, file]) => (file ? [[id, file]] : [])));
    },
  };
}

/**
 * Asks all that a page needs at once, and gives the verdict; `draw` then draws the blocks by it, or by what the page makes of
 * it.
 */
export async function drawBlocks<Scope, Said, Verdict>(
  tx: TransactionSql,
  { name, layout, kept, narrowedBy: ofPage }: BlockPage<Scope, Said>,
  verdict: Part<Scope, undefined, Verdict>,
  scope: Scope,
): Promise<{ readonly verdict: Verdict; draw(said: Said): Promise<Markup> }> {
  const ask = createSender(tx);
  const blocks = blocksOf(layout);
  const [judge, reads] = await Promise.all([
    verdict.read(tx, ask, scope),
    Promise.all(blocks.map(async (one) => [one, await one.read(tx, ask, scope)] as const)),
  ]);
  const toolsOf = (one: Block<Scope, Said>, asked: Asked): Tools | undefined => {
    const { narrowedBy = ofPage } = one;
    const question = narrowedBy && one.file(scope, asked);
    if (!question) return undefined;
    const own = Object.fromEntries(Object.keys(narrowedBy).map((key) => [key, kept(scope)[key]]));
    return { question, href: (ending) => withQuery(`/files/${name}/${one.id}.${ending}`, own) };
  };
  return {
    verdict: await judge.draw(undefined),
    async draw(said) {
      const drawn = await Promise.all(
        reads.map(async ([one, { asked, draw }]) => {
          const body = await draw(said);
          return [one, body && { id: one.id, ...body, tools: toolsOf(one, asked) }] as const;
        }),
      );
      return renderLayout(layout, new Map(drawn));
    },
  };
}

function renderLayout<Scope, Said>(
  layout: Layout<Scope, Said>,
  drawn: ReadonlyMap<Block<Scope, Said>, DrawnBlock | null>,
): Markup {
  const column = (blocks: Blocks<Scope, Said>) =>
    blocks.map((one) => {
      const body = drawn.get(one);
      return html`${body && renderBlock(body)}
`;
    });
  return html`${layout.map((row) => {
    if ("id" in row) return column([row]);
    if ("glance" in row)
      return html`
${renderGlance(row.glance.map((one) => drawn.get(one)))}
`;
    if ("rail" in row)
      return html`<div class="cols">
<div class="col">
${column(row.main)}</div>
<aside class="col rail" aria-label="${row.railLabel}">
${column(row.rail)}</aside>
</div>`;
    const isBare = (one: Block<Scope, Said>) => Boolean(drawn.get(one)?.empty);
    const columns = row.map((inner) => inner.filter((one) => !isBare(one)));
    const bare = row.flat().filter(isBare);
    return html`<div class="pair">
${columns.map(
  (inner) =>
    inner.length > 0 &&
    html`<div class="col">
${column(inner)}</div>
`,
)}</div>
${
  bare.length > 0 &&
  html`<div class="bares">
${column(bare)}</div>
`
}`;
  })}`;
}

/** The rail for a phone: each answer is a line that opens. A wide page does not show it. */
function renderGlance(blocks: readonly (DrawnBlock | null | undefined)[]): Markup | "" {
  const lines = blocks.flatMap((one) => (one?.short === undefined ? [] : one));
  if (lines.length === 0) return "";
  return html`<section class="block glance" aria-label="At a glance">${lines.map(
    (one) =>
      html`<details><summary><b>${one.title}</b><span class="count">${one.count ?? ""}</span>
        <small>${one.short}</small>${icon("next")}</summary>${bodyOf(one)}</details>`,
  )}</section>`;
}

interface Tools {
  readonly question: Question;
  /** The address of a file of its rows. */
  href(ending: "csv" | "json"): string;
}

interface DrawnBlock extends BlockBody {
  readonly id: string;
  /** CSV, JSON and SQL. @default none */
  readonly tools?: Tools | undefined;
}

const bodyOf = ({ empty, body }: BlockBody) => (empty ? renderNoRows(...empty) : body);

/** One answer of a page: a heading with its quiet tools, and the answer. Without an answer it is a line with the reason. */
export function renderBlock(one: DrawnBlock): Markup {
  const { id, title, count, tools } = one;
  const note = one.empty ? undefined : one.note;
  return html`<section class="block" id="${id}" aria-labelledby="${id}-t">
<header class="bh"><h2 id="${id}-t">${title}
  ${count !== undefined && html` <span class="count">${count}</span>`}</h2>
  ${tools === undefined ? "" : renderTools(id, title, tools)}
  ${note && html`<p class="note">${note}</p>`}</header>
${bodyOf(one)}
</section>`;
}

/**
 * The quiet tools of a block: its rows as CSV and JSON, and its SQL. The SQL opens in a popover; a browser
 * without popovers has it in the page.
 */
function renderTools(id: string, title: string, { question, href }: Tools): Markup {
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
 * The states of an empty answer. `none`: it was looked for, and there is none, which is well. `zero`: the same, neither good nor bad.
 * `unknown`: nobody has looked. `no-match`: the filter leaves nothing, which says nothing about builds.
 */
const EMPTY_MARKS = {
  none: ["good", "none"],
  zero: ["flat", "none"],
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
    ${ways.length > 0 && html`<p class="acts-inline">${renderLinks(ways)}</p>`}</div>`;
}

/** The head of a page that has no verdict. */
export function renderHead(title: Markup | string, say?: Markup | string): Markup {
  return html`<div class="head"><div><h1>${title}</h1>${say !== undefined && html`<p class="say">${say}</p>`}</div></div>`;
}
