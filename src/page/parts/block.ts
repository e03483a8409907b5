/**
 * What the pages share: blocks with their tools, tables, charts, marks, words for figures and times, links, periods. A
 * page imports from here and from its own folder, never from another page. Charts and questions have folders of their
 * own.
 */
import type { Question } from "../../report/question.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { askAll } from "./ask-all.ts";
import { html } from "./html.ts";
import { type Query, withQuery } from "./links.ts";
import { type BlockQuestions, type Offer, type PageFiles, type Parameters, renderTools } from "./offers.ts";
import type { PageMoment } from "./page-moment.ts";
import type { Row } from "./row.ts";
import type { Markup } from "./words.ts";

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

/** The head of a page that has no verdict. */
export function renderHead(title: Markup | string, say?: Markup | string): Markup {
  return html`<div class="head"><div><h1>${title}</h1>${say === undefined ? "" : html`<p class="say">${say}</p>`}</div></div>`;
}

// A block of a page is one file: what it asks, what narrows its files, how it is drawn; a page is a list of them. Blocks that need
// the same answer, or the verdict and a block, ask the same question: equal questions are sent once (`ask-all.ts`).

type Asked = Readonly<Record<string, Question>>;
type Rows<A extends Asked> = Readonly<Record<keyof A, readonly Row[]>>;

/** What is drawn from answers, such as the verdict. `Scope` is the reader's choice as the page has resolved it. */
export interface Part<Scope, A extends Asked, Drawn> {
  asks(scope: Scope): A;
  draw(rows: Rows<A>, scope: Scope): Drawn;
}

export type BlockBody = Omit<BlockFacts, "id" | "tools">;

/** `Body` may have more than a block shows, such as the line that stands for it on a phone. */
export interface Block<Scope, A extends Asked = Asked, Body extends BlockBody = BlockBody>
  extends Part<Scope, A, Body | null> {
  /** Its anchor, and the name of its files. */
  readonly id: string;
  /** What narrows its files. @default it has none */
  readonly narrowedBy?: Parameters;
  /** What its files have. @default `rows` of what it asks */
  file?(scope: Scope): Question;
}

/** A block, or blocks side by side: the columns, each from above. */
export type Layout<Scope> = readonly (Block<Scope> | readonly (readonly Block<Scope>[])[])[];

export interface BlockPage<Scope> {
  /** Its name in the addresses of files. */
  readonly name: string;
  readonly layout: Layout<Scope>;
  /** The choice that its files keep. */
  kept(scope: Scope): Query;
}

export const block = <Scope, A extends Asked, Body extends BlockBody>(
  one: Block<Scope, A, Body>,
): Block<Scope, A, Body> => one;
export const part = <Scope, A extends Asked, Drawn>(one: Part<Scope, A, Drawn>): Part<Scope, A, Drawn> => one;

const blocksOf = <Scope>(layout: Layout<Scope>): Block<Scope>[] => layout.flat(2) as Block<Scope>[];

const fileOf = <Scope>(one: Block<Scope>, scope: Scope, asked?: Asked): Question | undefined =>
  one.narrowedBy && (one.file?.(scope) ?? (asked ?? one.asks(scope)).rows);

/** The files of a page's blocks; `find` resolves the reader's choice. */
export function filesOf<Scope>(
  { layout }: BlockPage<Scope>,
  find: (tx: TransactionSql, moment: PageMoment) => Promise<Scope>,
): PageFiles {
  const blocks = blocksOf(layout);
  return {
    parameters: Object.fromEntries(
      blocks.flatMap((one) => (one.narrowedBy ? [[one.id, one.narrowedBy]] : [])),
    ),
    async ask(tx, moment): Promise<BlockQuestions> {
      const scope = await find(tx, moment);
      return Object.fromEntries(
        blocks.flatMap((one) => {
          const file = fileOf(one, scope);
          return file ? [[one.id, file]] : [];
        }),
      );
    },
  };
}

/** Asks all that some parts of a page need, at once. `draw` draws one of them; `facts` a block, with its tools. */
export async function askParts<Scope>(
  tx: TransactionSql,
  { name, kept }: BlockPage<Scope>,
  parts: readonly Part<Scope, Asked, unknown>[],
  scope: Scope,
) {
  const asked = new Map<unknown, Asked>(parts.map((one) => [one, one.asks(scope)]));
  const keyed = [...asked.values()].flatMap((questions, place) =>
    Object.entries(questions).map(([name, question]) => [`${place} ${name}`, question] as const),
  );
  const answers = askAll(tx, new Map(keyed));
  const rows = new Map<unknown, Rows<Asked>>();
  for (const [place, [one, questions]] of [...asked].entries()) {
    const found = Object.keys(questions).map(
      async (name) => [name, await answers.of(`${place} ${name}`)] as const,
    );
    rows.set(one, Object.fromEntries(await Promise.all(found)));
  }
  const draw = <A extends Asked, Drawn>(one: Part<Scope, A, Drawn>): Drawn =>
    one.draw((rows.get(one) ?? {}) as Rows<A>, scope);

  function facts<A extends Asked, Body extends BlockBody>(one: Block<Scope, A, Body>) {
    const { id, narrowedBy = {} } = one;
    const body = draw(one);
    const question = fileOf(one as unknown as Block<Scope>, scope, asked.get(one));
    const own = Object.fromEntries(Object.keys(narrowedBy).map((key) => [key, kept(scope)[key]]));
    const href = (ending: string) => withQuery(`/files/${name}/${id}.${ending}`, own);
    return body && { id, ...(question && { tools: { question, href } }), ...body };
  }
  return { draw, facts };
}

/** The parts of a page: `verdict` is drawn from the same answers, and what it says comes back beside the blocks. */
export async function drawBlocks<Scope, A extends Asked, Drawn>(
  tx: TransactionSql,
  page: BlockPage<Scope>,
  verdict: Part<Scope, A, Drawn>,
  scope: Scope,
): Promise<{ verdict: Drawn; blocks: Markup }> {
  const { layout } = page;
  const parts = [verdict as Part<Scope, Asked, unknown>, ...blocksOf(layout)];
  const drawn = await askParts(tx, page, parts, scope);
  const draw = (one: Block<Scope>) => {
    const facts = drawn.facts(one);
    return facts === null ? "" : renderBlock(facts);
  };
  const blocks = html`${layout.map((one) =>
    "id" in one
      ? html`${draw(one)}
`
      : html`<div class="pair">
${one.map(
  (column) => html`<div class="col">
${column.map(
  (inner) => html`${draw(inner)}
`,
)}</div>
`,
)}</div>
`,
  )}`;
  return { verdict: drawn.draw(verdict), blocks };
}
