import { nearestNames } from "../../base/config/nearest-names.ts";
import { ask, relation } from "../../report/ask.ts";
import { assertNamesKnown } from "../../report/known-names.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { type Asks, askEach } from "../parts/answers.ts";
import { type BlockPage, drawBlocks, filesOf } from "../parts/block.ts";
import { type Address, type Draft, type Drawing, drawNoMatch, noDays } from "../parts/document.ts";
import type { PageMoment } from "../parts/freshness.ts";
import { foreign, html, type Markup, shorten } from "../parts/html.ts";
import { meantLinks, readText, renderSelect, withQuery } from "../parts/links.ts";
import {
  FIRST_DAY,
  findPeriod,
  type Period,
  readPeriodChoice,
  renderPeriodBar,
  resolvePeriod,
  shortenPeriod,
} from "../parts/period.ts";
import { formats, platform, why } from "./breakdown.ts";
import { compare, trendsVerdict } from "./compare.ts";
import { days } from "./days.ts";
import { backlog, durations, phases, waits } from "./times.ts";
import type { TrendsChoice, TrendsScope } from "./trends-scope.ts";
import { flaky, regressions, repairs } from "./unsteady.ts";

const PATH = "/trends";

/** A question about builds one by one may look at so many days, so that it stays quick in a mirror of millions. */
const MOST_BUILD_DAYS = 62;

const TRENDS: BlockPage<TrendsScope> = {
  name: "trends",
  narrowedBy: { since: null, until: null, type: null },
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

/** The formats of all builds. */
const TYPES: Asks<{ readonly type: string }> = ask`
  select ${byType.type} from ${byType} order by ${byType.builds} desc, ${byType.type}`;

const SHORTENED = html`<p class="limit" role="status"><span>One format can be looked at for ${MOST_BUILD_DAYS} days at
  most; these are the last of the chosen ones.</span></p>`;

const NAMED = {
  tab: PATH,
  name: "Trends",
  evidence: "So there is nothing to compare, and this says neither that builds succeed nor that they fail.",
} as const;

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

/** One format has no more days than it can be asked for. */
function scopeOf(choice: TrendsChoice, chosen: Period, moment: PageMoment): TrendsScope {
  const period = choice.type === undefined ? chosen : shortenPeriod(chosen, MOST_BUILD_DAYS);
  return { ...moment, choice, type: choice.type, period };
}

async function draw(tx: TransactionSql, choice: TrendsChoice, moment: PageMoment): Promise<Draft> {
  const { type } = choice;
  const known = await askEach(tx, { days: FIRST_DAY, types: TYPES });
  const firstDay = known.days[0]?.first_day;
  const types = known.types.map((one) => one.type);
  if (types.length === 0 || !firstDay) return drawNoMatch({ ...NAMED, sentence: "No build is known yet." });
  if (type !== undefined && !types.includes(type)) return drawUnknownType(type, types, choice);
  const chosen = resolvePeriod(choice, firstDay, moment);
  if (chosen === null) return drawNoMatch({ ...NAMED, ...noDays(withQuery(PATH, { type })) });
  const scope = scopeOf(choice, chosen, moment);
  const { period } = scope;
  const { verdict, draw: drawBelow } = await drawBlocks(tx, TRENDS, trendsVerdict, scope);
  const main = html`
${renderPeriodBar(PATH, period, choice, { type }, renderTypes(type, types))}
${period !== chosen && SHORTENED}
${await drawBelow(undefined)}`;
  return { verdict, main, tab: PATH };
}

/** A format that no build has says nothing about builds; the nearest ones are offered. */
function drawUnknownType(type: string, types: readonly string[], { since, until }: TrendsChoice): Draft {
  const hrefOf = (type?: string) => withQuery(PATH, { since, until, type });
  const ways = meantLinks(nearestNames(type, types), hrefOf, (name) => foreign(name, 24));
  return drawNoMatch({
    ...NAMED,
    sentence: "No build has this format.",
    evidence: "So this says nothing about how builds do.",
    empty: [
      "no-match",
      "No format matches.",
      html`The mirror has no build of the format ${foreign(type, 40)}.`,
      [...ways, { href: hrefOf(), words: "All formats" }],
    ],
  });
}

const renderTypes = (type: string | undefined, types: readonly string[]): Markup =>
  renderSelect({
    id: "type",
    name: "type",
    label: "Format",
    any: "all",
    chosen: type,
    options: types.map((one) => [one, one === "(none)" ? "not known" : shorten(one, 24)]),
  });
