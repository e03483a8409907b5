import { grouped } from "../../base/counted.ts";
import { renderBlock } from "../parts/block.ts";
import { renderKindRows } from "../parts/charts/kind-rows.ts";
import { byDay, kindsOf, outcomesBySpan, outcomesOf } from "../parts/charts/trends-facts.ts";
import type { Draft } from "../parts/drawing.ts";
import { renderEmpty } from "../parts/empty.ts";
import { html } from "../parts/html.ts";
import { withQuery } from "../parts/links.ts";
import { offerFiles } from "../parts/offers.ts";
import type { PageMoment } from "../parts/page-moment.ts";
import type { Period, PeriodChoice } from "../parts/period.ts";
import { renderPeriodChips } from "../parts/period-chips.ts";
import { renderVerdict } from "../parts/verdict-bar.ts";
import type { Markup } from "../parts/words.ts";
import { BROKE_WORDS, renderCompare } from "./trends-compare.ts";
import { renderDays } from "./trends-days.ts";
import { renderTrendsForm } from "./trends-form.ts";
import {
  renderBacklog,
  renderFlaky,
  renderFormats,
  renderPlatform,
  renderRegressions,
} from "./trends-lists.ts";
import {
  MOST_BUILD_DAYS,
  TRENDS_FILES,
  type TrendsAnswers,
  trendsBlocks,
  type trendsQuestions,
} from "./trends-questions.ts";
import { plainOf, turnsOf } from "./trends-sums.ts";
import { renderPhases, renderRepairs, renderTimes } from "./trends-times.ts";
import { judgeTrend } from "./trends-verdict.ts";

const SHORTENED = html`<p class="limit" role="status"><span>One format can be looked at for ${MOST_BUILD_DAYS} days at
  most; these are the last of the chosen ones.</span></p>`;

const PATH = "/trends";

export interface TrendsChoice extends PeriodChoice {
  /** A type of builds. */
  readonly type: string | undefined;
}

export interface TrendsFacts {
  readonly choice: TrendsChoice;
  readonly period: Period;
  /** Whether the chosen period is longer than what is shown of it. */
  readonly isShortened: boolean;
  readonly types: readonly string[];
  readonly questions: ReturnType<typeof trendsQuestions>;
  readonly answers: TrendsAnswers;
  readonly moment: PageMoment;
}

/** The page of trends with all of its blocks. */
export function drawTrends(facts: TrendsFacts): Draft {
  const { choice, period, isShortened, types, questions, answers, moment } = facts;
  const { type } = choice;
  const { now } = moment;
  const whole = outcomesOf(answers.days, period) ?? NO_BUILDS;
  const before = outcomesOf(answers.days, period.before);
  const spans = outcomesBySpan(answers.days, period);
  const kinds = kindsOf(answers.kinds, period);
  const plain = plainOf(answers.plain);
  const incidentHours = Number(answers.incidents[0]?.hours ?? 0);
  const verdict = judgeTrend({ period, type, whole, before, spans, kinds, incidentHours, now });
  const offers = offerFiles("trends", { ...choice }, trendsBlocks(questions, period, type), TRENDS_FILES);
  const broken = type === undefined ? BROKE_WORDS.all : BROKE_WORDS.ofType;
  const kept = { since: choice.since, until: choice.until };
  const main = html`${renderVerdict(verdict)}
<div class="bar controls">${renderPeriodChips({ path: PATH, period, choice, kept: { type } })}
${renderTrendsForm(period, type, types)}</div>
${isShortened ? SHORTENED : ""}
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
  tools: offers.compare,
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
  tools: offers.days,
  now,
})}
${renderBlock({
  id: "why",
  title: "Why builds fail",
  count: grouped(kinds.reduce((sum, kind) => sum + kind.now, 0)),
  tools: offers.why,
  body:
    kinds.length === 0
      ? renderNoFailures(whole.finished)
      : renderKindRows({
          kinds,
          period,
          href: (kind) => withQuery("/errors", { ...kept, kind }),
          now,
        }),
})}
<div class="pair">
<div class="col">
${renderTimes({ rows: answers.times, timed: answers.timed, period, tools: offers.durations, now })}
${renderPhases({ rows: answers.phases, period, tools: offers.phases, now })}
${renderRepairs({ rows: answers.repairs, tools: offers.repairs })}
${renderFlaky({ rows: answers.flaky, tools: offers.flaky })}
</div>
<div class="col">
${renderFormats({ rows: answers.formats, tools: offers.formats, period, type, kept, now })}
${renderPlatform({
  rows: answers.incidents,
  tools: offers.platform,
  lookedAt: Number(answers.hours[0]?.looked_at ?? 0),
  plain: plain.now,
  period,
  type,
  now,
})}
${renderRegressions({ rows: answers.regressions, tools: offers.regressions })}
${renderBacklog({ rows: answers.backlog, tools: offers.backlog, period, type, now })}
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
