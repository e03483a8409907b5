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
import type { PageMoment } from "../parts/page-moment.ts";
import { readPageNumber } from "../parts/pager.ts";
import { type Period, type PeriodChoice, readPeriodChoice, resolvePeriod } from "../parts/period.ts";
import { renderPeriodChips } from "../parts/period-chips.ts";
import { fileFilters } from "../parts/questions/file-filters.ts";
import { nearestChoices } from "../parts/questions/nearest-choices.ts";
import { readText } from "../parts/questions/read-query.ts";
import type { Row } from "../parts/row.ts";
import { renderVerdict } from "../parts/verdict-bar.ts";
import { foreign, grouped, kindLabel, kindMeaning, type Markup } from "../parts/words.ts";
import { renderErrorLines } from "./error-lines.ts";
import {
  askForLineDays,
  askForLineProjects,
  type ErrorsChoice,
  errorsQuestions,
  isAllTime,
  KNOWN,
  LINE_SORTS,
  type LineSort,
} from "./errors-questions.ts";
import { judgeErrors } from "./errors-verdict.ts";

const PATH = "/errors";

type Choice = ErrorsChoice & PeriodChoice;

/** The page of errors: what builds fail of, what is most and what rises. */
export function errorsPage({ query }: Address): Drawing {
  const sort = query.get("sort") ?? "";
  const choice: Choice = {
    ...readPeriodChoice(query),
    kind: readText(query, "kind"),
    sort: Object.hasOwn(LINE_SORTS, sort) ? (sort as LineSort) : "projects",
    page: readPageNumber(query),
  };
  return { key: ["errors", choice], draw: (tx, moment) => draw(tx, choice, moment) };
}

async function draw(tx: TransactionSql, choice: Choice, moment: PageMoment): Promise<Draft> {
  const known = await askEach(tx, KNOWN);
  const firstDay = known.days[0]?.first_day;
  if (firstDay === null || firstDay === undefined) return drawNothing("No build is known yet.");
  const kinds = [...known.kinds.map(({ kind }) => String(kind)), "unclassified"];
  if (choice.kind !== undefined && !kinds.includes(choice.kind))
    return drawUnknownKind(choice.kind, kinds, choice);
  const period = resolvePeriod(choice, String(firstDay), moment);
  if (period === null)
    return drawNothing("No build of these days is known.", [
      { href: withQuery(PATH, { kind: choice.kind }), words: "The last 14 days" },
    ]);
  const questions = errorsQuestions(period, choice);
  const answers = await askEach(tx, questions);
  const fingerprints = answers.lines.map(({ error_fingerprint }) => String(error_fingerprint));
  const of =
    fingerprints.length === 0
      ? { days: [], projects: [] }
      : await askEach(tx, {
          days: askForLineDays(period, fingerprints),
          projects: isAllTime(period) ? NO_ROWS : askForLineProjects(period, fingerprints),
        });
  return drawErrors(choice, period, questions, answers, of, moment);
}

const NO_ROWS = { text: "select where false", params: [] };

type Questions = ReturnType<typeof errorsQuestions>;
type Answers = Readonly<Record<keyof Questions, readonly Row[]>>;

function drawErrors(
  choice: Choice,
  period: Period,
  questions: Questions,
  answers: Answers,
  of: { readonly days: readonly Row[]; readonly projects: readonly Row[] },
  { now }: PageMoment,
): Draft {
  const { kind, since, sort } = choice;
  const kinds = kindsOf(answers.kinds, period);
  const failed = kinds.reduce((sum, one) => sum + one.now, 0);
  const verdict = judgeErrors(kinds, Number(answers.finished[0]?.finished ?? 0), period);
  const sorting = sort === "projects" ? undefined : sort;
  const main = html`${renderVerdict(verdict)}
<div class="bar controls">${renderPeriodChips({ path: PATH, period, choice, kept: { kind, sort: sorting } })}</div>
${renderBlock({
  id: "classes",
  title: "Kinds of error",
  ...(isAllTime(period) && {
    note: "The projects are those of all time: they ignore the dates, because the period is long.",
  }),
  tools: { question: questions.kinds, filters: fileFilters(questions.kinds, period, undefined, true) },
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
          more: { head: "Projects", cell: (name) => renderHit(name, answers) },
          now,
        }),
})}
${renderErrorLines({
  choice,
  period,
  since,
  lines: answers.lines,
  days: of.days,
  projects: of.projects,
  perKind: answers.perKind,
  failed,
  question: questions.lines,
  filters: fileFilters(questions.lines, period, undefined, true),
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
