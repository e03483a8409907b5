import { nearestNames } from "../../base/config/nearest-names.ts";
import { ask, relation } from "../../report/ask.ts";
import { assertNamesKnown } from "../../report/known-names.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { askEach } from "../parts/answers.ts";
import { type BlockPage, drawBlocks, type Empty, filesOf } from "../parts/block.ts";
import { type Address, type Draft, type Drawing, drawNoMatch, noDayMatches } from "../parts/document.ts";
import type { PageMoment } from "../parts/freshness.ts";
import { foreign, html, type Markup, shorten } from "../parts/html.ts";
import { meantLinks, readText, withQuery } from "../parts/links.ts";
import {
  FIRST_DAY,
  findPeriod,
  type Period,
  readPeriodChoice,
  renderPeriodChips,
  renderPeriodForm,
  resolvePeriod,
  shortenPeriod,
} from "../parts/period.ts";
import { formats, platform, why } from "./breakdown.ts";
import { compare } from "./compare.ts";
import { days } from "./days.ts";
import { backlog, durations, phases, waits } from "./times.ts";
import { MOST_BUILD_DAYS, type TrendsChoice, type TrendsScope } from "./trends-scope.ts";
import { trendsVerdict } from "./trends-verdict.ts";
import { flaky, regressions, repairs } from "./unsteady.ts";

const PATH = "/trends";

const TRENDS: BlockPage<TrendsScope> = {
  name: "trends",
  layout: [
    compare,
    days,
    why,
    [
      [durations, phases, waits, repairs, flaky],
      [formats, platform, regressions, backlog],
    ],
  ],
  kept: ({ choice }) => ({ ...choice }),
};

const byType = relation("success_rate_by_type");

/** What a choice is judged by: the first day with a build, and the formats of all builds. */
const KNOWN = {
  days: FIRST_DAY,
  types: ask("success_rate_by_type")`
select ${byType.type} from ${byType} order by ${byType.builds} desc, ${byType.type}`,
};

const SHORTENED = html`<p class="limit" role="status"><span>One format can be looked at for ${MOST_BUILD_DAYS} days at
  most; these are the last of the chosen ones.</span></p>`;

/** The page of trends: the rate against the period before, and what did change. */
export function trendsPage({ query }: Address): Drawing {
  const choice = { ...readPeriodChoice(query), type: readText(query, "type") };
  return {
    key: ["trends", choice],
    draw: (tx, moment) => draw(tx, choice, moment),
    files: filesOf(TRENDS, async (tx, moment) => {
      await assertNamesKnown(tx, { type: choice.type });
      return scopeOf(choice, await findPeriod(tx, choice, moment), moment);
    }),
  };
}

/** Of one format no more days than it can be asked for. */
const scopeOf = (choice: TrendsChoice, chosen: Period, { now }: PageMoment): TrendsScope => ({
  choice,
  type: choice.type,
  period: choice.type === undefined ? chosen : shortenPeriod(chosen, MOST_BUILD_DAYS),
  now,
});

async function draw(tx: TransactionSql, choice: TrendsChoice, moment: PageMoment): Promise<Draft> {
  const known = await askEach(tx, KNOWN);
  const firstDay = known.days[0]?.first_day;
  const types = known.types.map(({ type }) => String(type));
  if (types.length === 0 || firstDay === null || firstDay === undefined)
    return drawNothing("No build is known yet.");
  const { type } = choice;
  if (type !== undefined && !types.includes(type)) return drawUnknownType(type, types, choice);
  const chosen = resolvePeriod(choice, String(firstDay), moment);
  if (chosen === null)
    return drawNothing("No build of these days is known.", noDayMatches(withQuery(PATH, { type })));
  const scope = scopeOf(choice, chosen, moment);
  const { period } = scope;
  const { verdict, draw: drawBelow } = await drawBlocks(tx, TRENDS, trendsVerdict, scope);
  const main = html`
<div class="bar controls">${renderPeriodChips(PATH, period, choice, { type })}
${renderPeriodForm(PATH, period, renderTypes(type, types))}</div>
${period === chosen ? "" : SHORTENED}
${await drawBelow(undefined)}`;
  return { verdict, main, tab: PATH };
}

const drawNothing = (sentence: string, empty?: Empty): Draft =>
  drawNoMatch(
    PATH,
    "Trends",
    sentence,
    "So there is nothing to compare, and this says neither that builds succeed nor that they fail.",
    empty,
  );

/** A format that no build has says nothing about builds; the nearest ones are offered. */
function drawUnknownType(type: string, types: readonly string[], { since, until }: TrendsChoice): Draft {
  const sentence = "No build has this format.";
  return drawNoMatch(PATH, "Trends", sentence, "So this says nothing about how builds do.", [
    "no-match",
    "No format matches.",
    html`The mirror has no build of the format ${foreign(type, 40)}.`,
    [
      ...meantLinks(
        nearestNames(type, types),
        (name) => withQuery(PATH, { since, until, type: name }),
        (name) => foreign(name, 24),
      ),
      { href: withQuery(PATH, { since, until }), words: "All formats" },
    ],
  ]);
}

function renderTypes(type: string | undefined, types: readonly string[]): Markup {
  return html`<label for="type">Format</label>
    <select id="type" name="type"><option value="">all</option>${types.map(
      (name) =>
        html`<option value="${name}"${name === type ? html` selected` : ""}>${name === "(none)" ? "not known" : shorten(name, 24)}</option>`,
    )}</select>`;
}
