import { scaleLinear } from "d3-scale";
import { counted, grouped } from "../../base/text.ts";
import { countIn, sumIn } from "../parts/answers.ts";
import { part } from "../parts/block.ts";
import {
  type Count,
  differenceOf,
  RISING_MARK,
  rateOf,
  renderPoints,
  risingLinks,
  shareWords,
} from "../parts/changes.ts";
import type { Figure, Verdict } from "../parts/document.ts";
import { foreign, html, type Markup, wholePercent } from "../parts/html.ts";
import { buildHref, withQuery } from "../parts/links.ts";
import { dayWords, when } from "../parts/marks.ts";
import { lastBuildWords, longSpan, rangeWords } from "./arrivals-verdict.ts";
import {
  askForVerdict,
  type NowAnswers,
  type NowScope,
  type NowSpan,
  type RateDay,
  spanOf,
  spanUntil,
} from "./now-scope.ts";
import { usualOf } from "./ordinary.ts";
import { judge, type NowVerdict, type NowVerdictFacts, readVerdictFacts } from "./verdict.ts";

/** The verdict, as the blocks take it. */
export interface NowSaid {
  readonly verdict: Verdict;
  readonly facts: NowVerdictFacts;
  /** Builds do not arrive as usual. */
  readonly isSilent: boolean;
  /** Nothing was built since the end of `of`. */
  readonly isQuiet: boolean;
  readonly of: NowSpan;
}

/** The failures of now against what is usual, with the figures of the page. */
export const nowVerdict = part({
  asks: askForVerdict,
  draw(answers, scope: NowScope): NowSaid {
    const facts = readVerdictFacts(answers, scope);
    const judged = judge(facts);
    const { arrivals, now } = facts;
    const isQuiet = judged.kind === "quiet";
    const last = () => spanUntil(new Date(arrivals.lastBuildAt), lastBuildWords(arrivals, now), now);
    return {
      verdict: withFigures(judged, facts, answers),
      facts,
      isSilent: isQuiet || judged.kind === "few",
      isQuiet,
      of: isQuiet ? last() : spanOf(scope),
    };
  },
});

/** The verdict with its links, and the figures of the page. */
function withFigures(
  { kind, title, look, sentence, evidence }: NowVerdict,
  facts: NowVerdictFacts,
  answers: NowAnswers,
): Verdict {
  const {
    rising: [risen],
    arrivals,
    at,
  } = facts;
  const said = { title, look, sentence, evidence };
  if (kind === "quiet")
    return {
      ...said,
      mark: { kind: "alarm", word: "Builds stopped arriving" },
      acts: html`<a href="${buildHref(arrivals.lastBuildId)}">The last build, ${foreign(arrivals.lastBuildId, 24)}</a>
        <a href="#checked">What was checked</a>
        <a href="#rules">When this is red</a>`,
      figures: quietFigures(facts, answers),
    };
  const figures = figuresOf(facts, answers);
  if (kind !== "rising" || risen === undefined) return { ...said, figures };
  return {
    ...said,
    mark: RISING_MARK,
    acts: html`${risingLinks(risen, at)}
      <a href="/errors">All that rises</a>`,
    figures,
  };
}

function figuresOf(
  { failing, projects, broke, now, at, isNow, day, usualDays }: NowVerdictFacts,
  answers: NowAnswers,
): Figure[] {
  const last = sumUp(answers.rates.filter(({ is_last_day }) => is_last_day));
  const week = sumUp(answers.rates.filter(({ is_last_day }) => !is_last_day));
  const difference = differenceOf(last, week);
  const [[open], [fixed]] = [answers.openCounts, answers.fixedCounts];
  const span = day?.name ?? (isNow ? "last 24 hours" : "those 24 hours");
  const most = usualOf(usualDays);
  return [
    {
      label: "Succeeded",
      labelRest: `, ${span}`,
      value: shareWords(last),
      unit: last.finished ? `of ${counted(last.finished, "build")}` : "none finished",
      note:
        difference === null
          ? "nothing to compare it with"
          : html`${renderPoints(difference)} <span class="gone">on the 7 days before${difference.isChance && ":\u00a0"}</span>
            ${difference.isChance && "within chance"}`,
      spark: drawSpark(answers.days.slice(-SPARK_DAYS), now),
    },
    {
      label: "Failing",
      labelRest: day !== undefined ? " at its end" : isNow ? " now" : ` at ${when(at.getTime(), now)}`,
      ...amount(failing, "project"),
      ...(day === undefined && { unit: `of ${counted(projects, "project")}` }),
      note: html`<a href="${withQuery("/", { show: "main", day: day?.text })}#failing">${grouped(sumIn(answers.failing, "main"))} in their main docs</a>`,
    },
    {
      label: "Fixed",
      labelRest: `, ${span}`,
      ...amount(countIn(fixed, "projects"), "project"),
      note: html`<a href="#failing">against ${grouped(broke)} that broke</a>`,
    },
    day === undefined
      ? {
          label: "Stuck",
          ...amount(countIn(open, "stuck"), "build"),
          note: html`<a href="/projects?state=stuck">${grouped(countIn(open, "lately"))} in 24 hours</a>`,
        }
      : {
          label: "Broke",
          labelRest: `, ${span}`,
          ...amount(broke, "project"),
          note: most === null ? "what is usual is not known" : `usually ${rangeWords(most)}`,
        },
  ];
}

const sumUp = (rows: readonly Count[]): Count => ({
  succeeded: sumIn(rows, "succeeded"),
  finished: sumIn(rows, "finished"),
});

const amount = (count: number, noun: string) => ({
  value: grouped(count),
  unit: count === 1 ? noun : `${noun}s`,
});

const [HEIGHT, TOP, BOTTOM] = [58, 6, 40];

const SPARK_DAYS = 30;

/**
 * A rate by day as one line, the oldest first, with the rate of all of them dashed and the lowest day named; that is red where it is
 * surely lower than the others. Nothing with fewer than three days.
 */
function drawSpark(days: readonly RateDay[], now: Date): Markup | null {
  const usual = rateOf(sumUp(days))?.share ?? null;
  const known = days.flatMap(({ day, success_rate: rate, ...count }, place) =>
    rate === null ? [] : { day: dayWords(Date.parse(day), now), rate, count, place },
  );
  const [first, last] = [known[0], known.at(-1)];
  if (known.length < 3 || first === undefined || last === undefined) return null;
  const lowest = known.reduce((least, one) => (one.rate < least.rate ? one : least));
  const rates = [...known.map(({ rate }) => rate), ...(usual === null ? [] : [usual])];
  const scale = scaleLinear([Math.min(...rates), Math.max(...rates)], [BOTTOM, TOP]);
  const x = (place: number) => `${((100 * (place + 0.5)) / days.length).toFixed(2)}%`;
  const y = (rate: number) => scale(rate).toFixed(1);
  const lowestWords = `${wholePercent(lowest.rate)} on ${lowest.day}`;
  const told = `Success rate by day, ${first.day} to ${last.day}: from ${wholePercent(first.rate)} to ${wholePercent(last.rate)}, lowest ${lowestWords}`;
  const rest = differenceOf(lowest.count, sumUp(days.filter((_, place) => place !== lowest.place)));
  const isLow = rest !== null && !rest.isChance && rest.by < 0;
  const isLate = lowest.place > days.length * 0.6;
  return html`<svg class="spark" role="img" height="${HEIGHT}" aria-label="${told}">
    ${usual !== null && html`<line class="usual" x1="0" x2="100%" y1="${y(usual)}" y2="${y(usual)}"/>`}
    ${known.slice(1).map((to, place) => {
      const from = known[place] ?? to;
      return html`<line class="trace" x1="${x(from.place)}" y1="${y(from.rate)}" x2="${x(to.place)}" y2="${y(to.rate)}"/>`;
    })}<circle class="dot${isLow && " low"}" cx="${x(lowest.place)}" cy="${y(lowest.rate)}" r="3.5"/>
    <text class="${isLate && "end"}" x="${x(lowest.place)}" y="${Number(y(lowest.rate)) + 15}"
    dx="${isLate ? 4 : -4}">${lowestWords}</text>
    ${last !== lowest && html`<circle class="dot" cx="${x(last.place)}" cy="${y(last.rate)}" r="3.5"/>`}</svg>`;
}

/** Figures of a silence. Nothing says what fails now, so that is as of the last build. */
function quietFigures(
  { arrivals, now, failing, projects }: NowVerdictFacts,
  { openCounts: [open] }: NowAnswers,
): Figure[] {
  const last = lastBuildWords(arrivals, now);
  return [
    {
      label: "Arrived",
      labelRest: ` since ${last}`,
      value: "0",
      unit: `of usually ${grouped(arrivals.usual)}`,
      note: `at least ${grouped(arrivals.fewest)} on each of ${arrivals.daysKnown} days`,
    },
    {
      label: "Failing",
      labelRest: ` at ${last}`,
      value: grouped(failing),
      unit: `of ${counted(projects, "project")}`,
      note: html`<a href="#failing">as the last builds left it</a>`,
    },
    {
      label: "In progress",
      ...amount(countIn(open, "builds"), "build"),
      note: html`<a href="#checked">${grouped(countIn(open, "stuck"))} of them stuck</a>`,
    },
    {
      label: "Gap",
      value: longSpan(arrivals.gapMs),
      note: `longest of ${arrivals.daysKnown} days: ${longSpan(arrivals.longestGapMs)}`,
    },
  ];
}
