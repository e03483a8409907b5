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
import { foreign, grouped, kindLabel, kindMeaning, type Markup } from "../parts/words.ts";
import { renderErrorLines } from "./error-lines.ts";
import {
  askForLineDays,
  askForLineProjects,
  askForLines,
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

const PATH = "/errors";

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
        return errorsBlocks(errorsQuestions(await findPeriod(tx, choice, moment), choice, moment.at));
      },
    },
  };
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
      { href: withQuery(PATH, { kind: choice.kind }), words: "The last 14 days" },
    ]);
  const questions = errorsQuestions(period, choice, moment.at);
  const answers = await askEach(tx, questions);
  const of = await findLines(tx, period, choice, answers.prints);
  return drawErrors(choice, period, questions, answers, of, knownDays(String(firstDay), moment), moment);
}

const NO_ROWS = { text: "select where false", params: [] };

/** The lines of the kinds that are shown, with their days and their projects. */
async function findLines(tx: TransactionSql, period: Period, choice: Choice, kinds: readonly Row[]) {
  const prints = kinds.map(({ error_fingerprint }) => String(error_fingerprint));
  if (prints.length === 0) return { lines: [], printDays: [], lineDays: [], projects: [], restProjects: [] };
  const { lines, printDays } = await askEach(tx, {
    lines: askForLines(period, choice, prints),
    printDays: askForPrintDays(period, prints),
  });
  const ids = lines.map(({ error_line_id }) => String(error_line_id));
  const of = await askEach(tx, {
    lineDays: askForLineDays(period, prints, ids),
    projects: isAllTime(period) ? NO_ROWS : askForLineProjects(period, choice, ids),
    restProjects: isAllTime(period) ? NO_ROWS : askForRestProjects(period, choice, prints, ids),
  });
  return { lines, printDays, ...of };
}

/** The whole days before the last 24 hours of which builds are known. */
function knownDays(firstDay: string, { at }: PageMoment): number {
  return Math.floor((at.getTime() - Date.parse(firstDay)) / 86_400_000) - 1;
}

type Questions = ReturnType<typeof errorsQuestions>;
type Answers = Readonly<Record<keyof Questions, readonly Row[]>>;

function drawErrors(
  choice: Choice,
  period: Period,
  questions: Questions,
  answers: Answers,
  of: Awaited<ReturnType<typeof findLines>>,
  days: number,
  { now, at }: PageMoment,
): Draft {
  const { kind, since, sort } = choice;
  const kinds = kindsOf(answers.kinds, period);
  const failed = kinds.reduce((sum, one) => sum + one.now, 0);
  const rising = readRising(answers.rising, days);
  const risen = answers.prints.length === 0 ? [] : of.lines.filter((line) => isRising(line, period));
  const verdict =
    judgeRising(rising, now, at) ??
    judgeErrors(kinds, risen, Number(answers.finished[0]?.finished ?? 0), period);
  const sorting = sort === "rise" ? undefined : sort;
  const offers = offerFiles(
    "errors",
    { since, until: choice.until, kind, line: choice.line, print: choice.print, sort: sorting },
    errorsBlocks(questions),
    FILES,
  );
  const main = html`${renderVerdict(verdict)}
<div class="bar controls">${renderPeriodChips({ path: PATH, period, choice, kept: { kind, sort: sorting } })}</div>
${renderRisen(rising, offers.risen, { now, at })}
${renderBlock({
  id: "classes",
  title: "Kinds of error",
  ...(isAllTime(period) && {
    note: "The projects are those of all time: they ignore the dates, because the period is long.",
  }),
  tools: offers.classes,
  body:
    kinds.length === 0
      ? renderEmpty({
          kind: "unknown",
          strong: "No kinds.",
          say: "No build of these days is known to have failed.",
        })
      : renderKindRows({
          kinds,
          period,
          href: (name) => `${withQuery(PATH, { since, kind: name, sort: sorting })}#lines`,
          small: (name) => renderMeaning(name, answers.classes, now),
          isPlain: true,
          more: { head: "Projects", cell: (name) => renderHit(name, answers) },
          now,
        }),
})}
${renderErrorLines({
  choice,
  period,
  since,
  prints: answers.prints,
  ...of,
  perKind: answers.perKind,
  failed,
  tools: offers.lines,
  now,
})}
<p class="more quiet">Which line belongs to which kind is said by the rules in
  <code>report.error_rules</code>; they are yours to change, and <code>docmirror reclassify</code> applies
  them to what is stored.</p>`;
  const tone = verdict.look === "some" ? "bad" : verdict.look === "good" ? "good" : "idle";
  return { status: 200, facts: { title: verdict.title, tone, tab: PATH, main } };
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
    tab: PATH,
    name: "Errors",
    sentence,
    evidence: "So this says neither that builds fail nor that they do not.",
    ...(ways !== undefined && {
      empty: { strong: "No day matches.", say: "The mirror knows no build of these days.", ways },
    }),
  });
}

/** A kind that no rule names says nothing about builds; the nearest ones are offered. */
function drawUnknownKind(wrong: string, kinds: readonly string[], { since }: PeriodChoice): Draft {
  return drawNoMatch({
    tab: PATH,
    name: "Errors",
    sentence: "There is no such kind of error.",
    evidence: "So this says nothing about builds.",
    empty: {
      strong: "No kind matches.",
      say: html`No rule and no failed build has the kind ${foreign(wrong, 40)}.`,
      ways: [
        ...nearestChoices(wrong, kinds, kindLabel).map((kind) => ({
          href: withQuery(PATH, { since, kind }),
          words: html`Did you mean ${kindLabel(kind)}?`,
        })),
        { href: withQuery(PATH, { since }), words: "All kinds" },
      ],
    },
  });
}
