import { counted, grouped } from "../../base/text.ts";
import { countIn, type Row, sumIn } from "../parts/answers.ts";
import { part } from "../parts/block.ts";
import { differenceOf, renderPoints } from "../parts/changes.ts";
import type { Figure, Verdict } from "../parts/document.ts";
import { foreign, html, type Markup, percent, slugWords, wholePercent } from "../parts/html.ts";
import { buildHref, projectHref, withQuery } from "../parts/links.ts";
import { dayWords } from "../parts/marks.ts";
import { linesHref } from "../parts/rising.ts";
import { longSpan, rangeWords, sinceWords } from "./arrivals-verdict.ts";
import {
  askForVerdict,
  type NowAnswers,
  type NowScope,
  type NowSpan,
  spanOf,
  spanUntil,
} from "./now-scope.ts";
import { judge, type NowVerdict, type NowVerdictFacts, readVerdictFacts, usualOf } from "./verdict.ts";

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

/** What is broken, and whether that is usual, with the figures of the page. */
export const nowVerdict = part({
  asks: askForVerdict,
  draw(answers, scope: NowScope): NowSaid {
    const facts = readVerdictFacts(answers, scope);
    const judged = judge(facts);
    const { arrivals, now } = facts;
    const isQuiet = judged.kind === "quiet";
    const last = () => spanUntil(new Date(arrivals.lastBuildAt), sinceWords(arrivals, now), now);
    return {
      verdict: withLinks(judged, facts, answers),
      facts,
      isSilent: isQuiet || judged.kind === "few",
      isQuiet,
      of: isQuiet ? last() : spanOf(scope),
    };
  },
});

/** The verdict with what it links to, and the figures of the page. */
function withLinks(
  { kind, title, look, sentence, evidence }: NowVerdict,
  facts: NowVerdictFacts,
  answers: NowAnswers,
): Verdict {
  return {
    title,
    look,
    sentence: withNewest(sentence, facts),
    evidence: withNewest(evidence, facts),
    ...(kind === "quiet" && {
      mark: { kind: "alarm", word: "Builds stopped arriving" } as const,
      acts: renderQuietActs(facts),
    }),
    ...(kind === "rising" && {
      mark: { kind: "rises", word: "An error rises" } as const,
      acts: renderRisingActs(facts),
    }),
    figures: kind === "quiet" ? quietFigures(facts, answers) : figuresOf(facts, answers),
  };
}

function renderRisingActs({ rising: [first], at }: NowVerdictFacts): Markup {
  if (first === undefined) return html``;
  return html`<a href="${linesHref({ line: first.id }, at)}">The ${counted(first.projects, "project")}</a>
    <a href="${buildHref(first.firstBuild)}">The first of them, build ${foreign(first.firstBuild, 24)}</a>
    <a href="/errors">All that rises</a>`;
}

function withNewest(text: string, { newest }: NowVerdictFacts): Markup {
  const [before = "", after] = text.split("{newest}");
  if (after === undefined || newest === null) return html`${before}`;
  return html`${before}<a href="${projectHref(newest.slug)}">${slugWords(newest.slug)}</a>${after}`;
}

function figuresOf(
  { failing, projects, broke, now, isNow, day, usualDays }: NowVerdictFacts,
  answers: NowAnswers,
): Figure[] {
  const rateOf = (rows: readonly Row[]) => ({
    succeeded: sumIn(rows, "succeeded"),
    finished: sumIn(rows, "finished"),
  });
  const of = (isLastDay: boolean) => rateOf(answers.rates.filter((row) => row.is_last_day === isLastDay));
  const [last, usual] = [of(true), rateOf(answers.days)];
  const difference = differenceOf(last, of(false));
  const [[open], [fixed]] = [answers.openCounts, answers.fixedCounts];
  const span = day?.name ?? (isNow ? "last 24 hours" : "those 24 hours");
  const most = usualOf(usualDays);
  const usually = most === null ? "what is usual is not known" : `usually ${rangeWords(most)}`;
  const stuck = html`<a href="/projects?state=stuck">${grouped(countIn(open, "lately"))} in 24 hours</a>`;
  return [
    {
      label: "Succeeded",
      labelRest: `, ${span}`,
      value: last.finished === 0 ? "–" : percent(last.succeeded / last.finished),
      unit: last.finished === 0 ? "none finished" : `of ${counted(last.finished, "build")}`,
      note:
        difference === null
          ? "nothing to compare it with"
          : html`${renderPoints(difference)} <span class="gone">on the 7 days before${difference.isChance ? ":\u00a0" : ""}</span>
            ${difference.isChance ? "within chance" : ""}`,
      spark: drawSpark(answers.days, usual.finished === 0 ? null : usual.succeeded / usual.finished, now),
    },
    {
      label: "Failing",
      labelRest: day !== undefined ? " at its end" : isNow ? " now" : " then",
      value: grouped(failing),
      unit: day === undefined ? `of ${counted(projects, "project")}` : amount(failing, "project").unit,
      note: html`<a href="${withQuery("/", { show: "main", day: day?.text })}#failing">${grouped(sumIn(answers.failing, "main"))} in their main docs</a>`,
    },
    {
      label: "Fixed",
      labelRest: `, ${span}`,
      ...amount(countIn(fixed, "projects"), "project"),
      note: html`<a href="#failing">against ${grouped(broke)} that broke</a>`,
    },
    day === undefined
      ? { label: "Stuck", ...amount(countIn(open, "stuck"), "build"), note: stuck }
      : { label: "Broke", labelRest: `, ${span}`, ...amount(broke, "project"), note: usually },
  ];
}

const amount = (count: number, noun: string) => ({
  value: grouped(count),
  unit: count === 1 ? noun : `${noun}s`,
});

const [HEIGHT, TOP, BOTTOM] = [58, 6, 40];

/**
 * A rate by day as one line, the oldest first, with the usual rate dashed and the lowest day named. Nothing with
 * fewer than three days. `usual` is null where it is not known.
 */
function drawSpark(days: readonly Row[], usual: number | null, now: Date): Markup | null {
  const known = days.flatMap(({ day, success_rate: rate }, place) =>
    rate === null ? [] : [{ day: String(day), rate: Number(rate), place }],
  );
  const [first, last] = [known[0], known.at(-1)];
  if (known.length < 3 || first === undefined || last === undefined) return null;
  const lowest = known.reduce((least, one) => (one.rate < least.rate ? one : least));
  const rates = [...known.map(({ rate }) => rate), ...(usual === null ? [] : [usual])];
  const [least, most] = [Math.min(...rates), Math.max(...rates)];
  const x = (place: number) => `${((100 * (place + 0.5)) / days.length).toFixed(2)}%`;
  const y = (rate: number) =>
    (most === least
      ? (TOP + BOTTOM) / 2
      : BOTTOM - ((rate - least) / (most - least)) * (BOTTOM - TOP)
    ).toFixed(1);
  const dayOf = (day: string) => dayWords(Date.parse(day), now);
  const ends = `from ${wholePercent(first.rate)} to ${wholePercent(last.rate)}`;
  const lowestWords = `${wholePercent(lowest.rate)} on ${dayOf(lowest.day)}`;
  const told = `Success rate by day, ${dayOf(first.day)} to ${dayOf(last.day)}: ${ends}, lowest ${lowestWords}`;
  const isLate = lowest.place > days.length * 0.6;
  const lines = known.slice(1).map((to, place) => {
    const from = known[place] ?? to;
    return html`<line class="trace" x1="${x(from.place)}" y1="${y(from.rate)}" x2="${x(to.place)}" y2="${y(to.rate)}"/>`;
  });
  return html`<svg class="spark" role="img" height="${HEIGHT}" aria-label="${told}">
    ${usual === null ? "" : html`<line class="usual" x1="0" x2="100%" y1="${y(usual)}" y2="${y(usual)}"/>`}
    ${lines}<circle class="dot low" cx="${x(lowest.place)}" cy="${y(lowest.rate)}" r="3.5"/>
    <text class="${isLate ? "end" : ""}" x="${x(lowest.place)}" y="${Number(y(lowest.rate)) + 15}"
    dx="${isLate ? 4 : -4}">${lowestWords}</text>
    ${last === lowest ? "" : html`<circle class="dot" cx="${x(last.place)}" cy="${y(last.rate)}" r="3.5"/>`}</svg>`;
}

/** What is worth a look when nothing arrives. */
function renderQuietActs({ arrivals }: NowVerdictFacts): Markup {
  return html`<a href="${buildHref(arrivals.lastBuildId)}">The last build, ${foreign(arrivals.lastBuildId, 24)}</a>
    <a href="#checked">What was checked</a>
    <a href="#rules">When this is red</a>`;
}

/** Figures of a silence. Nothing says what fails now, so that is as of the last build. */
function quietFigures(
  { arrivals, now, failing, projects }: NowVerdictFacts,
  { openCounts: [open] }: NowAnswers,
): Figure[] {
  const last = sinceWords(arrivals, now);
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
