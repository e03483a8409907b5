import { html } from "hono/html";
import type { TransactionSql } from "../db/connect.ts";
import { askFor, askForCount, type Question } from "../report/question.ts";
import { askAll } from "./ask-all.ts";
import { type Freshness, renderBanner } from "./banner.ts";
import { type BlockSpec, filtersFor, type PageScope, questionOf, renderBlock } from "./block.ts";
import type { Row } from "./cells.ts";
import { type FilterFormFacts, renderFilterForm } from "./page-filters.ts";
import { askForLastRound, LAST_ROUND } from "./run-strip.ts";
import { BY_TYPE, FAILING_NOW, INCIDENT_HOURS, OPEN_BUILDS, STUCK_BUILDS } from "./series-blocks.ts";
import { renderTiles } from "./tiles.ts";
import type { Markup } from "./words.ts";

/** A longer list is of no use to choose from. */
const MOST_CHOICES = 300;

export interface FiguresFacts {
  readonly scope: PageScope;
  /** In the order of the page. The tiles sum up the block called `success-rate`. */
  readonly blocks: readonly BlockSpec[];
  readonly freshness: Freshness;
  readonly form: Pick<FilterFormFacts, "path" | "kept" | "today">;
  /** Other facts about the subject of the page. @default nothing */
  readonly about?: Markup;
}

/**
 * The main part of a page of figures: freshness, filters, tiles, then one block after the other. Everything
 * shows the one snapshot of the transaction. Charts are drawn while the database answers the next questions.
 * Throws ConfigError for an invalid filter.
 */
export async function renderFigures(tx: TransactionSql, facts: FiguresFacts): Promise<Markup> {
  const { scope, blocks, freshness, form, about } = facts;
  const { project } = scope;
  const questions = new Map(drawnFirst(blocks).map((spec) => [spec.id, questionOf(spec, scope)]));
  const asked = new Map<string, Pick<Question, "text" | "params">>([
    [LAST_ROUND, askForLastRound()],
    ...questions,
    ...COUNTED.map(
      (spec) => [`${spec.id} counted`, askForCount(spec.relation, filtersFor(spec, scope))] as const,
    ),
  ]);
  if (!asked.has(BY_TYPE.id)) asked.set(BY_TYPE.id, questionOf(BY_TYPE, scope));
  if (project !== undefined)
    asked.set(VERSIONS, askFor("success_rate_by_version", { project, limit: MOST_CHOICES }));
  const answers = askAll(tx, asked);

  const sections = Promise.all(
    blocks.map((spec) =>
      renderBlock(spec, scope, questions.get(spec.id) ?? questionOf(spec, scope), answers),
    ),
  );
  const count = async ({ id }: BlockSpec) => Number((await answers.of(`${id} counted`))[0]?.rows ?? 0);
  const [days, failing, open, stuck, types, versions, written] = await Promise.all([
    answers.of("success-rate"),
    count(FAILING_NOW),
    count(OPEN_BUILDS),
    count(STUCK_BUILDS),
    answers.of(BY_TYPE.id),
    answers.of(VERSIONS),
    sections,
  ]);
  const choices = {
    types: namesIn(types, "type"),
    ...(project !== undefined && { versions: namesIn(versions, "version_slug") }),
  };
  return html`${renderBanner(freshness)}
${renderFilterForm({ ...form, ...choices, filters: scope.filters })}
${renderTiles(days, { failing, open, stuck })}
${about ?? ""}
<nav class="contents" aria-label="On this page"><ul>
${blocks.map(
  ({ id, title }) => html`<li><a href="#${id}">${title}</a></li>
`,
)}</ul></nav>
${written}`;
}

/** Blocks whose rows are counted, because their lists are cut. */
const COUNTED = [FAILING_NOW, OPEN_BUILDS, STUCK_BUILDS];
const VERSIONS = "versions to choose";

/** The questions behind charts come first, because charts take the most work. */
function drawnFirst(blocks: readonly BlockSpec[]): readonly BlockSpec[] {
  const isDrawn = (spec: BlockSpec) => spec.chart !== undefined || spec === INCIDENT_HOURS;
  return [...blocks.filter(isDrawn), ...blocks.filter((spec) => !isDrawn(spec))];
}

function namesIn(rows: readonly Row[], column: string): string[] {
  return [...new Set(rows.map((row) => String(row[column])))].sort();
}
