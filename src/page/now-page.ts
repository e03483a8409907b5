import { html } from "hono/html";
import { nearestNames } from "../config/nearest-names.ts";
import type { TransactionSql } from "../db/connect.ts";
import { momentMs, when } from "./age.ts";
import { askEach } from "./ask-all.ts";
import { renderBlock } from "./block.ts";
import { renderChips } from "./chips.ts";
import { renderPoints } from "./delta.ts";
import { differenceOf } from "./difference.ts";
import type { Address, Draft, Drawing, PageMoment } from "./drawing.ts";
import { renderEmpty } from "./empty.ts";
import { type FailRow, renderFails } from "./fail-rows.ts";
import { renderSelectForm } from "./filter-form.ts";
import { projectHref, withQuery } from "./links.ts";
import type { Row } from "./list-table.ts";
import {
  askForOthers,
  askForStrips,
  type NowChoice,
  nowQuestions,
  PER_PAGE,
  type SeriesKey,
  SHOWN,
  type Shown,
} from "./now-questions.ts";
import { renderFixed, renderOpen, renderWhy, type Span } from "./now-rail.ts";
import { readPageNumber, renderPager } from "./pager.ts";
import { drawSpark } from "./spark.ts";
import { judge, type VerdictFacts } from "./verdict.ts";
import { renderFigures, renderVerdict, type VerdictLook } from "./verdict-bar.ts";
import { knownDays, type NowAnswers, readVerdictFacts } from "./verdict-facts.ts";
import { counted, grouped, kindLabel, type Markup, percent, slugWords } from "./words.ts";

const PATH = "/";
const DAY_MS = 86_400_000;

/** The page of now: what is broken, since when, why; and whether that is usual. */
export function nowPage({ query }: Address): Drawing {
  const choice = parse(query);
  return { key: ["now", choice], draw: (tx, moment) => draw(tx, choice, moment) };
}

function parse(query: URLSearchParams): NowChoice {
  const show = query.get("show") ?? "";
  return {
    show: Object.hasOwn(SHOWN, show) ? (show as Shown) : undefined,
    why: query.get("why")?.replaceAll("\0", "").trim().slice(0, 200) || undefined,
    page: readPageNumber(query),
  };
}

async function draw(tx: TransactionSql, choice: NowChoice, moment: PageMoment): Promise<Draft> {
  const questions = nowQuestions(choice, moment.at);
  const answers = await askEach(tx, questions);
  const rows = await findRows(tx, answers.list);
  const facts = readVerdictFacts(answers, moment);
  const verdict = judge(facts);
  const of = spanOf(moment);
  const main = html`${renderNowVerdict(facts, answers, moment)}
<div class="cols">
<div class="col">
${renderFailing({ choice, rows, answers, of, moment, question: questions.list })}
</div>
<aside class="col rail" aria-label="More about now">
${renderWhy(answers.kinds, questions.kinds, of, knownDays(answers.totals[0]?.first_day, moment.at))}
${renderOpen(answers.open, answers.openCounts[0], questions.open, of)}
${renderFixed(answers.fixed, answers.fixedCounts[0], questions.fixed, of)}
</aside>
</div>`;
  const feed = { href: "/feed.atom", title: "What broke and what was fixed" };
  return { status: 200, facts: { title: verdict.title, tone: verdict.tone, tab: "/", main, feed } };
}

/** The last 24 hours; those before the moment of the data where that is old. */
function spanOf({ now, at }: PageMoment): Span {
  const isNow = at.getTime() === now.getTime();
  return {
    now,
    words: isNow ? "last 24 hours" : `24 hours before ${when(at.getTime(), now)}`,
    short: isNow ? "last 24\u00a0h" : "those 24\u00a0h",
    since: new Date(at.getTime() - DAY_MS).toISOString(),
    until: at.toISOString(),
  };
}

/** The strips and the other failures of the listed projects. */
async function findRows(tx: TransactionSql, list: readonly Row[]): Promise<FailRow[]> {
  if (list.length === 0) return [];
  const series = list.map(
    ({ project_id, version_id, type, first_failed_build_id }) =>
      ({ project_id, version_id, type, first_failed_build_id }) as unknown as SeriesKey,
  );
  const { strips, others } = await askEach(tx, {
    strips: askForStrips(series),
    others: askForOthers(series),
  });
  const outcomes = new Map(strips.map((strip) => [strip.project_id, strip.outcomes as string[] | null]));
  return list.map((row) => ({
    row,
    outcomes: outcomes.get(row.project_id) ?? [],
    others: others.filter(({ project_id }) => project_id === row.project_id),
  }));
}

const LOOKS: Readonly<Record<ReturnType<typeof judge>["kind"], VerdictLook>> = {
  unknown: "idle",
  stale: "warn",
  platform: "bad",
  many: "bad",
  some: "some",
  failing: "some",
  none: "good",
  nothing: "idle",
};

function renderNowVerdict(facts: VerdictFacts, answers: NowAnswers, moment: PageMoment): Markup {
  const { kind, sentence, evidence } = judge(facts);
  return renderVerdict({
    look: LOOKS[kind],
    sentence: withNewest(sentence, facts),
    evidence: withNewest(evidence, facts),
    figures: renderNowFigures(facts, answers, moment),
  });
}

/** A sentence of the verdict, with a link where it names the newest break. */
function withNewest(text: string, { newest }: VerdictFacts): Markup {
  const [before = "", after] = text.split("{newest}");
  if (after === undefined || newest === null) return html`${before}`;
  return html`${before}<a href="${projectHref(newest.slug)}">${slugWords(newest.slug)}</a>${after}`;
}

function renderNowFigures(facts: VerdictFacts, answers: NowAnswers, moment: PageMoment): Markup {
  const countOf = (isLastDay: boolean) => {
    const row = answers.rates.find(({ is_last_day }) => is_last_day === isLastDay);
    return { succeeded: Number(row?.succeeded ?? 0), finished: Number(row?.finished ?? 0) };
  };
  const [last, before] = [countOf(true), countOf(false)];
  const difference = differenceOf(last, before);
  const days = answers.days.map(({ day, success_rate }) => ({
    day: String(day),
    rate: success_rate === null ? null : Number(success_rate),
  }));
  const finished = answers.days.reduce((sum, day) => sum + Number(day.finished ?? 0), 0);
  const succeeded = answers.days.reduce((sum, day) => sum + Number(day.succeeded ?? 0), 0);
  const open = answers.openCounts[0];
  const [fixed] = answers.fixedCounts;
  const main = answers.failing.reduce((sum, row) => sum + Number(row.main), 0);
  const isNow = moment.at.getTime() === moment.now.getTime();
  const span = isNow ? "last 24 hours" : "those 24 hours";
  return renderFigures([
    {
      label: "Succeeded",
      labelRest: `, ${span}`,
      value: last.finished === 0 ? "–" : percent(last.succeeded / last.finished),
      unit: last.finished === 0 ? "none finished" : `of ${counted(last.finished, "build")}`,
      note:
        difference === null
          ? "nothing to compare it with"
          : html`${renderPoints(difference)} <span>on the 7 days before${difference.isChance ? ": within chance" : ""}</span>`,
      spark: drawSpark(days, finished === 0 ? null : succeeded / finished, moment.now),
    },
    {
      label: "Failing",
      labelRest: isNow ? " now" : " then",
      value: grouped(facts.failing),
      unit: `of ${counted(facts.projects, "project")}`,
      note: html`<a href="${withQuery(PATH, { show: "main" })}#failing">${grouped(main)} in their main docs</a>`,
    },
    {
      label: "Fixed",
      labelRest: `, ${span}`,
      value: grouped(Number(fixed?.projects ?? 0)),
      unit: Number(fixed?.projects ?? 0) === 1 ? "project" : "projects",
      note: html`<a href="#fixed">against ${grouped(facts.broke)} that broke</a>`,
    },
    {
      label: "Stuck",
      value: grouped(Number(open?.stuck ?? 0)),
      unit: Number(open?.stuck ?? 0) === 1 ? "build" : "builds",
      note: html`<a href="#stuck">${grouped(Number(open?.lately ?? 0))} since yesterday</a>`,
    },
  ]);
}

interface FailingFacts {
  readonly choice: NowChoice;
  readonly rows: readonly FailRow[];
  readonly answers: NowAnswers;
  readonly of: Span;
  readonly moment: PageMoment;
  readonly question: Parameters<typeof renderWhy>[1];
}

function renderFailing({ choice, rows, answers, of, moment, question }: FailingFacts): Markup {
  const { show, why, page } = choice;
  const sums = sumUp(answers.failing.filter((row) => why === undefined || row.error_class === why));
  const all = sumUp(answers.failing);
  const total = show === undefined ? sums.projects : sums[show];
  const isNow = moment.at.getTime() === moment.now.getTime();
  const chips = [
    { label: "All", value: undefined, count: sums.projects },
    ...Object.entries(SHOWN).map(([value, { label }]) => ({ label, value, count: sums[value as Shown] })),
  ];
  const bar = html`<div class="bar">${renderChips({ label: "Which of them", path: PATH, name: "show", chosen: show, kept: { why }, chips })}
${renderSelectForm({
  path: PATH,
  name: "why",
  label: "Why",
  all: "any error",
  chosen: why,
  choices: answers.failing.map(({ error_class }) => ({
    value: String(error_class),
    label: kindLabel(error_class),
  })),
  kept: { show },
})}</div>`;
  const list =
    rows.length === 0
      ? renderNoFails(choice, answers, all.projects)
      : html`${renderBuckets(rows, of, moment)}
${renderPager({ path: PATH, kept: { show, why }, page, perPage: PER_PAGE, total, noun: "project" })}`;
  return renderBlock({
    id: "failing",
    title: isNow ? "Failing now" : "Failing then",
    count: grouped(total),
    tools: { question },
    body: html`${all.projects === 0 ? "" : bar}
${list}`,
  });
}

function sumUp(rows: readonly Row[]) {
  const sum = (name: string) => rows.reduce((total, row) => total + Number(row[name]), 0);
  const [projects, worked] = [sum("projects"), sum("worked")];
  return { projects, main: sum("main"), worked, never: projects - worked };
}

/** The rows under two headings: what broke in the 24 hours, and what before. */
function renderBuckets(rows: readonly FailRow[], of: Span, { now }: PageMoment): Markup {
  const isLate = ({ row }: FailRow) =>
    row.failing_since !== null && momentMs(row.failing_since) > Date.parse(of.since);
  const buckets = [
    { title: `Broke in the ${of.words}`, rows: rows.filter(isLate) },
    { title: "Broke before", rows: rows.filter((row) => !isLate(row)) },
  ];
  return html`${buckets
    .filter((bucket) => bucket.rows.length > 0)
    .map(
      (bucket) => html`<h3 class="bucket">${bucket.title} <span>newest first</span></h3>
${renderFails(bucket.rows, now)}`,
    )}`;
}

/** Why the list is empty. A filter that leaves nothing says nothing about builds. */
function renderNoFails({ show, why, page }: NowChoice, answers: NowAnswers, failing: number): Markup {
  if (failing === 0) {
    const [totals] = answers.totals;
    const finished = Number(totals?.finished ?? 0);
    return finished === 0
      ? renderEmpty({ kind: "unknown", strong: "Not known.", say: "No build has finished yet." })
      : renderEmpty({
          kind: "none",
          strong: "None found.",
          say: `The last finished build of every version and format succeeded, of ${counted(Number(totals?.projects ?? 0), "project")} and ${counted(finished, "finished build")}.`,
        });
  }
  const classes = answers.failing.map((row) => String(row.error_class));
  const nearest =
    why === undefined || classes.includes(why)
      ? []
      : nearestNames(why, [...classes, ...classes.map(kindLabel)]).map(
          (name) => classes.find((one) => one === name || kindLabel(one) === name) ?? name,
        );
  return renderEmpty({
    kind: "no-match",
    strong: page > 1 ? "No such page." : "No project matches.",
    say: `That says nothing about builds: ${counted(failing, "project fails", "projects fail")} outside this choice.`,
    ways: [
      ...[...new Set(nearest)].map((name) => ({
        href: withQuery(PATH, { show, why: name }),
        words: html`Did you mean ${kindLabel(name)}?`,
      })),
      { href: withQuery(PATH, {}), words: `All ${grouped(failing)} that fail` },
    ],
  });
}
