import { ConfigError } from "../../base/errors.ts";
import { grouped } from "../../base/text.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { age } from "../parts/age.ts";
import { askEach } from "../parts/ask-all.ts";
import { renderBlock } from "../parts/block.ts";
import { renderKindRows } from "../parts/charts/kind-rows.ts";
import { kindsOf } from "../parts/charts/trends-facts.ts";
import type { Address, Draft, Drawing } from "../parts/drawing.ts";
import { type Link, renderEmpty } from "../parts/empty.ts";
import { html } from "../parts/html.ts";
import { buildHref, withQuery } from "../parts/links.ts";
import { drawNoMatch } from "../parts/no-match.ts";
import { offerFiles } from "../parts/offers.ts";
import type { PageMoment } from "../parts/page-moment.ts";
import { readPageNumber } from "../parts/pager.ts";
import { type Period, type PeriodChoice, readPeriodChoice, resolvePeriod } from "../parts/period.ts";
import { renderPeriodChips } from "../parts/period-chips.ts";
import { findPeriod } from "../parts/questions/find-period.ts";
import { assertKindKnown } from "../parts/questions/kinds-question.ts";
import { nearestChoices } from "../parts/questions/nearest-choices.ts";
import { readText } from "../parts/questions/read-query.ts";
import { readRising } from "../parts/rising-lines.ts";
import type { Row } from "../parts/row.ts";
import { renderVerdict } from "../parts/verdict-bar.ts";
import { foreign, kindLabel, kindMeaning, type Markup } from "../parts/words.ts";
import { renderErrorLines, renderSorts } from "./error-lines.ts";
import { ERRORS_PATH, hrefsOf, keptQuery } from "./errors-query.ts";
import {
  askForChosen,
  askForLineDays,
  askForLineProjects,
  askForPrintDays,
  askForRestProjects,
  type ErrorsChoice,
  errorsBlocks,
  errorsQuestions,
  isAllTime,
  KNOWN,
  PRINT_SORTS,
  type PrintSort,
} from "./errors-questions.ts";
import { judgeErrors, judgeRising } from "./errors-verdict.ts";
import { isRising } from "./kind-lines.ts";
import { renderRisen } from "./risen-today.ts";

const FILES = {
  classes: { since: null, until: null },
  lines: { since: null, until: null, kind: null, line: null, print: null, sort: Object.keys(PRINT_SORTS) },
  risen: {},
};

type Choice = ErrorsChoice & PeriodChoice;

/** The page of errors: what builds fail of, what is most and what rises. */
export function errorsPage({ query }: Address): Drawing {
  const sort = query.get("sort") ?? "";
  const choice: Choice = {
    ...readPeriodChoice(query),
    kind: readText(query, "kind"),
    line: readText(query, "line"),
    print: readText(query, "print"),
    sort: Object.hasOwn(PRINT_SORTS, sort) ? (sort as PrintSort) : "rise",
    page: readPageNumber(query),
  };
  return {
    key: ["errors", choice],
    draw: (tx, moment) => draw(tx, choice, moment),
    files: {
      parameters: FILES,
      async ask(tx, moment) {
        await assertKindKnown(tx, choice.kind);
        await assertLineKnown(tx, choice);
        return errorsBlocks(errorsQuestions(await findPeriod(tx, choice, moment), choice, moment.at));
      },
    },
  };
}

/** Throws ConfigError for a line that no failed build has: an empty file would look like an answer. */
async function assertLineKnown(tx: TransactionSql, choice: Choice): Promise<void> {
  if (choice.line === undefined && choice.print === undefined) return;
  const { found } = await askEach(tx, { found: askForChosen(choice) });
  if (found.length === 0) throw new ConfigError("no failed build has this error line");
}

async function draw(tx: TransactionSql, choice: Choice, moment: PageMoment): Promise<Draft> {
  const known = await askEach(tx, KNOWN);
  const firstDay = known.days[0]?.first_day;
  if (firstDay === null || firstDay === undefined) return drawNothing("No build is known yet.");
  const kinds = known.kinds.map(({ kind }) => String(kind));
  if (choice.kind !== undefined && !kinds.includes(choice.kind))
    return drawUnknownKind(choice.kind, kinds, choice);
  const period = resolvePeriod(choice, String(firstDay), moment);
  if (period === null)
    return drawNothing("No build of these days is known.", [
      { href: withQuery(ERRORS_PATH, { kind: choice.kind }), words: "The last 14 days" },
    ]);
  const questions = errorsQuestions(period, choice, moment.at);
  const answers = await askEach(tx, questions);
  const of = await findMore(tx, period, choice, answers.lines);
  return drawErrors(choice, period, questions, answers, of, moment);
}

const NO_ROWS = { text: "select where false", params: [] };

/** The days of the kinds and lines that are shown, and the projects that they hit. */
async function findMore(tx: TransactionSql, period: Period, choice: Choice, lines: readonly Row[]) {
  const prints = [...new Set(lines.map(({ error_fingerprint }) => String(error_fingerprint)))];
  const ids = lines.map(({ error_line_id }) => String(error_line_id));
  const isLong = isAllTime(period);
  return askEach(tx, {
    printDays: askForPrintDays(period, prints),
    lineDays: askForLineDays(period, prints, ids),
    projects: isLong ? NO_ROWS : askForLineProjects(period, choice, ids),
    restProjects: isLong ? NO_ROWS : askForRestProjects(period, choice, prints, ids),
  });
}

type Questions = ReturnType<typeof errorsQuestions>;
type Answers = Readonly<Record<keyof Questions, readonly Row[]>>;

function drawErrors(
  choice: Choice,
  period: Period,
  questions: Questions,
  answers: Answers,
  of: Awaited<ReturnType<typeof findMore>>,
  { now, at }: PageMoment,
): Draft {
  const kinds = kindsOf(answers.kinds, period);
  const failed = kinds.reduce((sum, one) => sum + one.now, 0);
  const rising = readRising(answers.rising);
  const risen = answers.lines.filter((line) => isRising(line, period));
  const href = hrefsOf(choice);
  const verdict =
    judgeRising(rising, failed, period, { now, at }) ??
    judgeErrors(kinds, risen, Number(answers.finished[0]?.finished ?? 0), period);
  const kept = keptQuery(choice);
  const offers = offerFiles("errors", kept, errorsBlocks(questions), FILES);
  const main = html`${renderVerdict(verdict)}
<div class="bar controls">${renderPeriodChips({ path: ERRORS_PATH, period, choice, kept: { ...kept, until: undefined } })}
${renderSorts(choice, period, href)}</div>
${renderRisen(rising, offers.risen, { now, at })}
${renderErrorLines({ choice, period, lines: answers.lines, ...of, failed, href, tools: offers.lines, now })}
${renderBlock({
  id: "classes",
  title: "Why builds fail",
  ...(isAllTime(period) && {
    note: "The projects are those of all time: they ignore the dates, because the period is long.",
  }),
  tools: offers.classes,
  body:
    kinds.length === 0
      ? renderEmpty({
          kind: "unknown",
          strong: "Not known.",
          say: "No build of these days is known to have failed.",
        })
      : renderKindRows({
          kinds,
          period,
          href: (name) => href({ kind: name, line: undefined, print: undefined }),
          small: (name) => renderMeaning(name, answers.classes, now),
          isPlain: true,
          more: { head: "Projects", cell: (name) => renderHit(name, answers) },
          now,
        }),
})}
<p class="more quiet">Why a build fails is told from its error line by the rules in
  <code>report.error_rules</code>; they are yours to change, and <code>docmirror reclassify</code> applies
  them to what is stored.</p>`;
  const tone = verdict.look === "some" ? "bad" : verdict.look === "good" ? "good" : "idle";
  return { status: 200, facts: { title: verdict.title, tone, tab: ERRORS_PATH, main } };
}

/** What a kind means, its share of the failures, and its newest build. */
function renderMeaning(name: string, classes: readonly Row[], now: Date): Markup {
  const row = classes.find(({ error_class }) => error_class === name);
  const meaning = kindMeaning(name);
  const means = meaning === null ? "" : `${meaning}; `;
  if (row === undefined) return html`${means}`;
  const id = String(row.last_build_id);
  return html`${means}last <a class="quiet" href="${buildHref(id)}">${foreign(id, 24)}</a>,
    ${age(row.last_triggered_at, now)} ago`;
}

/** How many projects a kind hit, and how many still fail of it. */
function renderHit(name: string, { projects, failing }: Answers): Markup {
  const of = (rows: readonly Row[]) =>
    Number(rows.find(({ error_class }) => error_class === name)?.projects ?? 0);
  return html`${grouped(of(projects))}<small>${grouped(of(failing))} fail now</small>`;
}

function drawNothing(sentence: string, ways?: readonly Link[]): Draft {
  return drawNoMatch({
    tab: ERRORS_PATH,
    name: "Errors",
    sentence,
    evidence: "So this says neither that builds fail nor that they do not.",
    ...(ways !== undefined && {
      empty: { strong: "No day matches.", say: "The mirror knows no build of these days.", ways },
    }),
  });
}

/** A kind that no rule names says nothing about builds; the nearest ones are offered. */
function drawUnknownKind(wrong: string, kinds: readonly string[], { since, until }: PeriodChoice): Draft {
  return drawNoMatch({
    tab: ERRORS_PATH,
    name: "Errors",
    sentence: "There is no such kind of error.",
    evidence: "So this says nothing about builds.",
    empty: {
      strong: "No kind matches.",
      say: html`No rule and no failed build has the kind ${foreign(wrong, 40)}.`,
      ways: [
        ...nearestChoices(wrong, kinds, kindLabel).map((kind) => ({
          href: withQuery(ERRORS_PATH, { since, until, kind }),
          words: html`Did you mean ${kindLabel(kind)}?`,
        })),
        { href: withQuery(ERRORS_PATH, { since, until }), words: "All kinds" },
      ],
    },
  });
}
