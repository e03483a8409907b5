import { html } from "hono/html";
import type { TransactionSql } from "../../db/connect.ts";
import { countAnswers } from "../../report/count-answers.ts";
import { askFor, type Question } from "../../report/question.ts";
import { askAll } from "./ask-all.ts";
import { type Currency, renderBanner } from "./banner.ts";
import {
  type Answers,
  type BlockSpec,
  filtersFor,
  type PageScope,
  questionOf,
  renderBlock,
} from "./block.ts";
import type { Row } from "./cells.ts";
import { type FilterFormFacts, renderFilterForm } from "./page-filters.ts";
import { askForLastRound, LAST_ROUND } from "./run-strip.ts";
import { FAILING_NOW, OPEN_BUILDS, STUCK_BUILDS } from "./series-blocks.ts";
import { type Counts, renderTiles } from "./tiles.ts";
import type { Markup } from "./words.ts";

/** A choice of more is no choice. */
const MOST_CHOICES = 300;

/** What a page of figures asks and is told. */
export interface Figures {
  readonly scope: PageScope;
  readonly blocks: readonly BlockSpec[];
  readonly questions: ReadonlyMap<string, Question>;
  readonly answers: Answers;
  readonly counts: Counts;
}

/** Asks all that a page of figures shows. Throws ConfigError for a filter that is none. */
export async function findFigures(
  tx: TransactionSql,
  blocks: readonly BlockSpec[],
  scope: PageScope,
): Promise<Figures> {
  const questions = new Map<string, Question>(blocks.map((spec) => [spec.id, questionOf(spec, scope)]));
  const extras = new Map<string, Question>([
    [LAST_ROUND, askForLastRound()],
    ["type", askFor("success_rate_by_type", { limit: MOST_CHOICES })],
  ]);
  const { project } = scope;
  if (project !== undefined)
    extras.set("version", askFor("success_rate_by_version", { project, limit: MOST_CHOICES }));
  const [answers, counts] = await Promise.all([
    askAll(tx, new Map([...questions, ...extras])),
    findCounts(tx, scope),
  ]);
  return { scope, blocks, questions, answers, counts };
}

export interface FiguresFrame {
  readonly currency: Currency;
  readonly form: Pick<FilterFormFacts, "path" | "kept" | "today">;
  /** What stands before the filters. @default nothing */
  readonly preface?: Markup;
}

/**
 * The main part of a page of figures: how current it is, filters, tiles that sum up the block `success-rate`, then block by block.
 */
export async function renderFigures(
  { scope, blocks, questions, answers, counts }: Figures,
  { currency, form, preface }: FiguresFrame,
): Promise<Markup> {
  const versions = answers.get("version");
  const choices = {
    types: namesIn(answers.get("type") ?? [], "type"),
    ...(versions && { versions: namesIn(versions, "version_slug") }),
  };
  return html`${renderBanner(currency)}
${preface ?? ""}
${renderFilterForm({ ...form, ...choices, filters: scope.filters })}
${renderTiles(answers.get("success-rate") ?? [], counts)}
<nav class="contents" aria-label="On this page"><ul>
${blocks.map(
  ({ id, title }) => html`<li><a href="#${id}">${title}</a></li>
`,
)}</ul></nav>
${await renderBlocks(blocks, scope, questions, answers)}`;
}

async function renderBlocks(
  blocks: readonly BlockSpec[],
  scope: PageScope,
  questions: ReadonlyMap<string, Question>,
  answers: Answers,
): Promise<Markup[]> {
  return Promise.all(
    blocks.map((spec) =>
      renderBlock(spec, scope, questions.get(spec.id) ?? questionOf(spec, scope), answers),
    ),
  );
}

async function findCounts(tx: TransactionSql, scope: PageScope): Promise<Counts> {
  const count = (spec: BlockSpec) => countAnswers(tx, spec.ask(filtersFor(spec, scope)));
  const [failing, open, stuck] = await Promise.all([FAILING_NOW, OPEN_BUILDS, STUCK_BUILDS].map(count));
  return { failing: failing ?? 0, open: open ?? 0, stuck: stuck ?? 0 };
}

function namesIn(rows: readonly Row[], column: string): string[] {
  return [...new Set(rows.map((row) => String(row[column])))].sort();
}
