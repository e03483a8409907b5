import { nearestNames } from "../../base/config/nearest-names.ts";
import { assertNamesKnown } from "../../report/known-names.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { askEach } from "../parts/ask-all.ts";
import type { Address, Draft, Drawing } from "../parts/drawing.ts";
import type { Link } from "../parts/empty.ts";
import { html } from "../parts/html.ts";
import { withQuery } from "../parts/links.ts";
import { drawNoMatch } from "../parts/no-match.ts";
import type { PageMoment } from "../parts/page-moment.ts";
import { type Period, readPeriodChoice, resolvePeriod, shortenPeriod } from "../parts/period.ts";
import { findPeriod } from "../parts/questions/find-period.ts";
import { readText } from "../parts/questions/read-query.ts";
import { foreign } from "../parts/words.ts";
import { drawTrends, type TrendsChoice } from "./trends-blocks.ts";
import { KNOWN, MOST_BUILD_DAYS, TRENDS_FILES, trendsBlocks, trendsQuestions } from "./trends-questions.ts";

const PATH = "/trends";

/** The page of trends: the rate against the period before, and what did change. */
export function trendsPage({ query }: Address): Drawing {
  const choice = { ...readPeriodChoice(query), type: readText(query, "type") };
  return {
    key: ["trends", choice],
    draw: (tx, moment) => draw(tx, choice, moment),
    files: {
      parameters: TRENDS_FILES,
      async ask(tx, moment) {
        await assertNamesKnown(tx, { type: choice.type });
        const period = shownPeriod(await findPeriod(tx, choice, moment), choice);
        return trendsBlocks(trendsQuestions(period, choice.type), period, choice.type);
      },
    },
  };
}

/** Of one format no more days than it can be asked for. */
const shownPeriod = (chosen: Period, { type }: TrendsChoice): Period =>
  type === undefined ? chosen : shortenPeriod(chosen, MOST_BUILD_DAYS);

async function draw(tx: TransactionSql, choice: TrendsChoice, moment: PageMoment): Promise<Draft> {
  const known = await askEach(tx, KNOWN);
  const firstDay = known.days[0]?.first_day;
  const types = known.types.map(({ type }) => String(type));
  if (types.length === 0 || firstDay === null || firstDay === undefined)
    return drawNothing("No build is known yet.");
  const { type } = choice;
  if (type !== undefined && !types.includes(type)) return drawUnknownType(type, types, choice);
  const chosen = resolvePeriod(choice, String(firstDay), moment);
  if (chosen === null) {
    return drawNothing("No build of these days is known.", [
      { href: withQuery(PATH, { type }), words: "The last 14 days" },
    ]);
  }
  const period = shownPeriod(chosen, choice);
  const questions = trendsQuestions(period, type);
  const answers = await askEach(tx, questions);
  return drawTrends({ choice, period, isShortened: period !== chosen, types, questions, answers, moment });
}

function drawNothing(sentence: string, ways?: readonly Link[]): Draft {
  return drawNoMatch({
    tab: PATH,
    name: "Trends",
    sentence,
    evidence: "So there is nothing to compare, and this says neither that builds succeed nor that they fail.",
    ...(ways !== undefined && {
      empty: { strong: "No day matches.", say: "The mirror knows no build of these days.", ways },
    }),
  });
}

/** A format that no build has says nothing about builds; the nearest ones are offered. */
function drawUnknownType(type: string, types: readonly string[], { since, until }: TrendsChoice): Draft {
  return drawNoMatch({
    tab: PATH,
    name: "Trends",
    sentence: "No build has this format.",
    evidence: "So this says nothing about how builds do.",
    empty: {
      strong: "No format matches.",
      say: html`The mirror has no build of the format ${foreign(type, 40)}.`,
      ways: [
        ...nearestNames(type, types).map((name) => ({
          href: withQuery(PATH, { since, until, type: name }),
          words: html`Did you mean ${foreign(name, 24)}?`,
        })),
        { href: withQuery(PATH, { since, until }), words: "All formats" },
      ],
    },
  });
}
