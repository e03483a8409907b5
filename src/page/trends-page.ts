import { html } from "hono/html";
import { nearestNames } from "../config/nearest-names.ts";
import type { TransactionSql } from "../db/connect.ts";
import type { Question } from "../report/question.ts";
import { askEach } from "./ask-all.ts";
import { renderBlock } from "./block.ts";
import type { Count } from "./difference.ts";
import type { Address, Draft, Drawing, PageMoment } from "./drawing.ts";
import { renderEmpty } from "./empty.ts";
import { fileFilters } from "./file-filters.ts";
import { renderKindRows } from "./kind-rows.ts";
import { withQuery } from "./links.ts";
import type { Row } from "./list-table.ts";
import {
  dayText,
  type Period,
  type PeriodChoice,
  readPeriodChoice,
  resolvePeriod,
  shortenPeriod,
} from "./period.ts";
import { renderPeriodChips } from "./period-chips.ts";
import { statement } from "./statement.ts";
import { BROKE_WORDS, renderCompare, type Turns } from "./trends-compare.ts";
import { renderDays } from "./trends-days.ts";
import { byDay, kindsOf, outcomesBySpan, outcomesOf } from "./trends-facts.ts";
import {
  renderBacklog,
  renderFlaky,
  renderFormats,
  renderPlatform,
  renderRegressions,
} from "./trends-lists.ts";
import { MOST_BUILD_DAYS, trendsQuestions } from "./trends-questions.ts";
import { renderPhases, renderRepairs, renderTimes } from "./trends-times.ts";
import { judgeTrend } from "./trends-verdict.ts";
import { renderVerdict } from "./verdict-bar.ts";
import { foreign, grouped, type Markup, shorten } from "./words.ts";

const PATH = "/trends";

interface TrendsChoice extends PeriodChoice {
  /** A type of builds. */
  readonly type: string | undefined;
}

/** The page of trends: the rate against the period before, and what did change. */
export function trendsPage({ query }: Address): Drawing {
  const type = query.get("type")?.replaceAll("\0", "").trim().slice(0, 200) || undefined;
  const choice = { ...readPeriodChoice(query), type };
  return { key: ["trends", choice], draw: (tx, moment) => draw(tx, choice, moment) };
}

const KNOWN = {
  days: statement("dim_dates", () => "select min(day) as first_day from report.dim_dates"),
  types: statement(
    "success_rate_by_type",
    () => "select type from report.success_rate_by_type order by builds desc, type",
  ),
};

async function draw(tx: TransactionSql, choice: TrendsChoice, moment: PageMoment): Promise<Draft> {
  const known = await askEach(tx, KNOWN);
  const firstDay = known.days[0]?.first_day;
  const types = known.types.map(({ type }) => String(type));
  if (types.length === 0 || firstDay === null || firstDay === undefined)
    return drawNothing("No build is known yet.", []);
  const { type } = choice;
  if (type !== undefined && !types.includes(type)) return drawUnknownType(type, types, choice);
  const chosen = resolvePeriod(choice, String(firstDay), moment);
  if (chosen === null) {
    return drawNothing("No build of these days is known.", [
      { href: withQuery(PATH, { type }), words: "The last 14 days" },
    ]);
  }
  const period = type === undefined ? chosen : shortenPeriod(chosen, MOST_BUILD_DAYS);
  const questions = trendsQuestions(period, type);
  const answers = await askEach(tx, questions);
  return drawTrends({ choice, period, isShortened: period !== chosen, types, questions, answers, moment });
}

interface TrendsAnswers {
  readonly choice: TrendsChoice;
  readonly period: Period;
  /** Whether the chosen period is longer than what is shown of it. */
  readonly isShortened: boolean;
  readonly types: readonly string[];
  readonly questions: ReturnType<typeof trendsQuestions>;
  readonly answers: Readonly<Record<keyof ReturnType<typeof trendsQuestions>, readonly Row[]>>;
  readonly moment: PageMoment;
}

function drawTrends(given: TrendsAnswers): Draft {
  const { choice, period, isShortened, types, questions, answers, moment } = given;
  const { type } = choice;
  const { now } = moment;
  const whole = outcomesOf(answers.days, period) ?? { ...NO_BUILDS };
  const before = outcomesOf(answers.days, period.before);
  const spans = outcomesBySpan(answers.days, period);
  const kinds = kindsOf(answers.kinds, period);
  const plain = plainOf(answers.plain);
  const incidentHours = Number(answers.incidents[0]?.hours ?? 0);
  const verdict = judgeTrend({ period, type, whole, before, spans, kinds, incidentHours, now });
  const filters = (question: Question, isDrawnBefore = true) =>
    fileFilters(question, period, type, isDrawnBefore);
  const broken = type === undefined ? BROKE_WORDS.all : BROKE_WORDS.ofType;
  const kept = { since: choice.since, until: choice.until };
  const main = html`${renderVerdict(verdict)}
<div class="bar controls">${renderPeriodChips({ path: PATH, period, choice, kept: { type } })}
${renderChoiceForm(period, type, types)}</div>
${isShortened ? html`<p class="limit" role="status"><span>One format can be looked at for ${MOST_BUILD_DAYS} days at most; these are the last of the chosen ones.</span></p>` : ""}
${renderCompare({
  period,
  whole,
  before,
  plain:
    type === undefined && plain.now.all.finished > 0
      ? { now: plain.now.kept, before: plain.before.kept }
      : null,
  broken,
  turns: turnsOf(answers, period),
  question: questions.days,
  filters: filters(questions.days),
  now,
})}
${renderDays({
  period,
  spans,
  whole,
  before,
  broke: byDay(answers.turns, "broke"),
  fixed: byDay(answers.turns, "fixed"),
  broken,
  question: questions.days,
  filters: filters(questions.days),
  now,
})}
${renderBlock({
  id: "why",
  title: "Why builds fail",
  count: grouped(kinds.reduce((sum, kind) => sum + kind.now, 0)),
  tools: { question: questions.kinds, filters: filters(questions.kinds) },
  body:
    kinds.length === 0
      ? renderNoFailures(whole.finished)
      : renderKindRows({
          kinds,
          period,
          href: (kind) => withQuery("/errors", { since: choice.since, kind }),
          now,
        }),
})}
<div class="pair">
<div class="col">
${renderTimes({ rows: answers.times, period, question: questions.times, filters: filters(questions.times, false), now })}
${renderPhases({ rows: answers.phases, period, question: questions.phases, filters: filters(questions.phases, false), now })}
${renderRepairs({ rows: answers.repairs, question: questions.repairs })}
${renderFlaky({ rows: answers.flaky, question: questions.flaky, filters: filters(questions.flaky) })}
</div>
<div class="col">
${renderFormats({ rows: answers.formats, question: questions.formats, filters: filters(questions.formats), period, type, kept, now })}
${renderPlatform({
  rows: answers.incidents,
  question: questions.incidents,
  filters: filters(questions.incidents, false),
  lookedAt: Number(answers.hours[0]?.looked_at ?? 0),
  plain: plain.now,
  period,
  type,
  now,
})}
${renderRegressions({ rows: answers.regressions, question: questions.regressions })}
${renderBacklog({ rows: answers.backlog, question: questions.backlog, filters: filters(questions.backlog, false), period, type, now })}
</div>
</div>`;
  const tone = verdict.look === "some" ? "bad" : verdict.look === "good" ? "good" : "idle";
  return { status: 200, facts: { title: verdict.title, tone, tab: PATH, main } };
}

const NO_BUILDS = {
  builds: 0,
  finished: 0,
  succeeded: 0,
  failed: 0,
  unfinished: 0,
  stuck: 0,
  isComplete: true,
};

function renderNoFailures(finished: number): Markup {
  return finished === 0
    ? renderEmpty({ kind: "unknown", strong: "Not known.", say: "No build of these days has finished." })
    : renderEmpty({
        kind: "none",
        strong: "None failed.",
        say: `${grouped(finished)} builds of these days have finished.`,
      });
}

/** All finished builds, and those that are no fault of the platform. */
function plainOf(rows: readonly Row[]) {
  const of = (isThisPeriod: boolean) => {
    const row = rows.find(({ is_this_period }) => is_this_period === isThisPeriod);
    const count = (which: string): Count => ({
      succeeded: Number(row?.[`succeeded${which}`] ?? 0),
      finished: Number(row?.[`finished${which}`] ?? 0),
    });
    return { all: count(""), kept: count("_without_platform") };
  };
  return { now: of(true), before: of(false) };
}

function turnsOf(
  { turns, quick }: TrendsAnswers["answers"],
  { first }: Period,
): { now: Turns; before: Turns } {
  const of = (isThisPeriod: boolean): Turns => {
    const sum = (name: string) =>
      [...byDay(turns, name)].reduce(
        (total, [day, count]) => (day >= first === isThisPeriod ? total + count : total),
        0,
      );
    const row = quick.find(({ is_this_period }) => is_this_period === isThisPeriod);
    return {
      broke: sum("broke"),
      fixed: sum("fixed"),
      quick: { succeeded: Number(row?.fixed ?? 0), finished: Number(row?.broke ?? 0) },
    };
  };
  return { now: of(true), before: of(false) };
}

/** From, to and format, as one form. */
function renderChoiceForm(period: Period, type: string | undefined, types: readonly string[]): Markup {
  const day = (name: string, label: string, value: number) =>
    html`<label for="${name}">${label}</label><input id="${name}" name="${name}" type="date" value="${dayText(value)}" min="${dayText(period.known)}">`;
  return html`<form action="${PATH}" aria-label="Days and format">${day("since", "From", period.first)}${day("until", "to", period.last)}<label for="type">Format</label><select id="type" name="type"><option value="">all</option>${types.map(
    (name) =>
      html`<option value="${name}"${name === type ? html` selected` : ""}>${name === "(none)" ? "not known" : shorten(name, 24)}</option>`,
  )}</select><button>Show</button></form>`;
}

function drawNothing(strong: string, ways: { href: string; words: Markup | string }[]): Draft {
  const main = html`${renderVerdict({
    look: "idle",
    sentence: strong,
    evidence: "So there is nothing to compare, and this says neither that builds succeed nor that they fail.",
  })}
${ways.length === 0 ? "" : renderEmpty({ kind: "no-match", strong: "No day matches.", say: "The mirror knows no build of these days.", ways })}`;
  return { status: 200, facts: { title: "Trends: nothing matches", tab: PATH, main } };
}

/** A format that no build has says nothing about builds; the nearest ones are offered. */
function drawUnknownType(type: string, types: readonly string[], { since, until }: TrendsChoice): Draft {
  const near = nearestNames(type, types);
  const main = html`${renderVerdict({
    look: "idle",
    sentence: "No build has this format.",
    evidence: "So this says nothing about how builds do.",
  })}
${renderEmpty({
  kind: "no-match",
  strong: "No format matches.",
  say: html`The mirror has no build of the format ${foreign(type, 40)}.`,
  ways: [
    ...near.map((name) => ({
      href: withQuery(PATH, { since, until, type: name }),
      words: html`Did you mean ${foreign(name, 24)}?`,
    })),
    { href: withQuery(PATH, { since, until }), words: "All formats" },
  ],
})}`;
  return { status: 200, facts: { title: "Trends: nothing matches", tab: PATH, main } };
}
