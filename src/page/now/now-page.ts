import { scaleLinear } from "d3-scale";
import { counted, grouped } from "../../base/text.ts";
import { countIn, sumIn } from "../parts/answers.ts";
import { type BlockPage, drawBlocks, filesOf, part } from "../parts/block.ts";
import { countOf, differenceOf, isLower, rateOf, renderPoints, shareWords } from "../parts/changes.ts";
import {
  type Address,
  type Draft,
  type Drawing,
  drawNoMatch,
  type Figure,
  type Verdict,
} from "../parts/document.ts";
import type { PageMoment } from "../parts/freshness.ts";
import { html, type Markup, wholePercent } from "../parts/html.ts";
import { assertKindKnown } from "../parts/kinds.ts";
import { readOneOf, readPageNumber, readText, withQuery } from "../parts/links.ts";
import { clockWords, dayWords, mark, when } from "../parts/marks.ts";
import { findDay, findDayMoment, readDayChoice, renderDays } from "../parts/period.ts";
import { findMine } from "../parts/projects.ts";
import { arrivals, checked, rules } from "./arrivals.ts";
import { failing } from "./failing.ts";
import {
  askForVerdict,
  keptBy,
  type NowAnswers,
  type NowChoice,
  type NowScope,
  type RateDay,
  SHOWN,
  spanOf,
  spanUntil,
} from "./now-scope.ts";
import { fixed, stuck, why } from "./rail.ts";
import { longSpan, rangeWords, usualOf } from "./usual.ts";
import { judge, type NowSaid, type NowVerdictFacts, readVerdictFacts } from "./verdict.ts";

const NOW: BlockPage<NowScope, NowSaid> = {
  name: "now",
  narrowedBy: {},
  layout: [
    arrivals,
    { main: [failing], rail: [why, stuck, fixed, checked, rules], railLabel: "More about now" },
    { glance: [why, stuck, fixed, rules] },
  ],
  kept: keptBy,
};

/** The page of now: what is broken, since when, why; and whether that is usual. */
export function nowPage({ query }: Address): Drawing {
  const choice: NowChoice = {
    show: readOneOf(query, "show", SHOWN),
    why: readText(query, "why"),
    page: readPageNumber(query),
  };
  const maintainer = readText(query, "maintainer");
  const day = readDayChoice(query);
  const every = day === undefined ? readRefresh(query) : undefined;
  return {
    key: ["now", choice, maintainer, every, day],
    files: filesOf(NOW, async (tx, moment) => {
      await assertKindKnown(tx, choice.why);
      return { choice, mine: await findMine(tx, maintainer), ...(await findDayMoment(tx, day, moment)) };
    }),
    async draw(tx, moment) {
      const mine = await findMine(tx, maintainer);
      const found = await findDay(tx, day, moment);
      const scope = { choice, mine, ...found.moment };
      const days = renderDays(found, day, { ...keptBy(scope), day: undefined }, moment.now);
      if (found.refusal !== null) return drawUnknownDay(found.refusal, days);
      const drawn = await drawBlocks(tx, NOW, nowVerdict, scope);
      const { verdict } = drawn.verdict;
      return {
        verdict,
        above: every === undefined ? "" : renderWallboard(every, moment),
        // What fails comes first; a reader who has chosen a day goes on to choose.
        main: html`
${day !== undefined && days}
${await drawn.draw(drawn.verdict)}
${day === undefined && days}`,
        tab: "/",
        feed: { href: withQuery("/feed.atom", { day }), title: "What broke and what was fixed" },
        renewSeconds: every,
        ...ofDay(scope, verdict),
      };
    },
  };
}

/** The title and the header name a day of the past. */
const ofDay = ({ day }: NowScope, verdict: Verdict) =>
  day && {
    verdict: { ...verdict, title: `${day.name}: ${verdict.title}` },
    age: html`<a class="fresh idle" href="/">${mark("flat", "a day of the past")}<span><b>End of ${day.name}</b> <small>not now</small></span></a>`,
  };

/** A day of which nothing can be said, and the form for another. */
function drawUnknownDay(why: string, days: Markup): Draft {
  const draft = drawNoMatch({
    tab: "/",
    name: "Now",
    sentence: `Nothing can be said of this day. ${why}`,
    evidence: "So this says neither that builds failed then nor that they did not.",
  });
  return { ...draft, main: html`${draft.main}${days}` };
}

/** `?refresh=60` is for a screen on a wall. A page is drawn once a minute at most, and a day is no refresh. */
function readRefresh(query: URLSearchParams): number | undefined {
  const seconds = Number(query.get("refresh") ?? Number.NaN);
  return Number.isSafeInteger(seconds) && seconds > 0 ? Math.min(Math.max(seconds, 10), 3600) : undefined;
}

const renderWallboard = (every: number, { now }: PageMoment): Markup =>
  html`<p class="note">Asks again every ${counted(every, "second")}; asked at ${clockWords(now)} UTC.
  <a href="/">Stop</a></p>`;

/** The failures of now against what is usual, with the figures of the page. */
const nowVerdict = part({
  asks: askForVerdict,
  draw(answers, scope: NowScope): NowSaid {
    const facts = readVerdictFacts(answers, scope);
    const { kind, ...judged } = judge(facts);
    const { arrivals, now } = facts;
    const isQuiet = kind === "quiet";
    const last = () => spanUntil(new Date(arrivals.lastBuildAt), when(arrivals.lastBuildAt, now));
    return {
      verdict: { ...judged, figures: isQuiet ? quietFigures(facts, answers) : figuresOf(facts, answers) },
      facts,
      isSilent: isQuiet || kind === "few",
      isQuiet,
      of: isQuiet ? last() : spanOf(scope),
    };
  },
});

function figuresOf(
  { failing, projects, broke, now, at, isNow, day, usualDays, lately: last }: NowVerdictFacts,
  answers: NowAnswers,
): Figure[] {
  const week = countOf(answers.rates.filter(({ is_last_day }) => !is_last_day));
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
      labelRest: day !== undefined ? " at its end" : isNow ? " now" : ` at ${when(at, now)}`,
      ...amount(failing, "project"),
      ...(day === undefined && { unit: `of ${counted(projects, "project")}` }),
      note: html`<a href="${withQuery("/", { show: "main", day: day?.text })}#failing">${grouped(sumIn(answers.failing, "main"))} in their main docs</a>`,
    },
    {
      label: "Fixed",
      labelRest: `, ${span}`,
      ...amount(countIn(fixed, "projects"), "project"),
      note: html`<a href="#failing">in a version or format, against ${grouped(broke)} that broke</a>`,
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
  const usual = rateOf(countOf(days))?.share ?? null;
  const known = days.flatMap(({ day, success_rate: rate, ...count }, place) =>
    rate === null ? [] : { day: dayWords(day, now), rate, count, place },
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
  const isLow = isLower(lowest.count, countOf(days.filter((_, place) => place !== lowest.place)));
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
  const last = when(arrivals.lastBuildAt, now);
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
