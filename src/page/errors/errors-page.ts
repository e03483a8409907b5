import { ConfigError } from "../../base/errors.ts";
import { counted, grouped } from "../../base/text.ts";
import { ask, askFor, type Question, relation } from "../../report/ask.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { askEach, countIn, type Row } from "../parts/answers.ts";
import { type BlockPage, block, drawBlocks, type Empty, filesOf, part } from "../parts/block.ts";
import { isMore } from "../parts/changes.ts";
import {
  type Address,
  type Draft,
  type Drawing,
  drawNoMatch,
  noDayMatches,
  type Verdict,
} from "../parts/document.ts";
import type { PageMoment } from "../parts/freshness.ts";
import { foreign, html, type Markup, percent, wholePercent } from "../parts/html.ts";
import { askForKinds, assertKindKnown, KINDS, kindLabel, kindMeaning, renderMask } from "../parts/kinds.ts";
import {
  buildHref,
  buildLink,
  keptFields,
  meantLinks,
  nearestChoices,
  readPageNumber,
  readText,
  withQuery,
} from "../parts/links.ts";
import { age, clockWords, icon, momentTag } from "../parts/marks.ts";
import { renderKindRows } from "../parts/mini-bars.ts";
import { type Kind, kindsOf, noFailures } from "../parts/outcomes.ts";
import {
  daysName,
  dayText,
  FIRST_DAY,
  findPeriod,
  lengthWords,
  type Period,
  type PeriodChoice,
  readPeriodChoice,
  renderPeriodChips,
  renderPeriodForm,
  resolvePeriod,
  within,
} from "../parts/period.ts";
import {
  askForRising,
  beforeWords,
  linesHref,
  type RisingLine,
  readRising,
  risingWords,
  sayingOf,
  sinceWords,
} from "../parts/rising.ts";
import { isRising, lines, renderSorts } from "./lines.ts";
import {
  askForChosen,
  askForLines,
  ERRORS_PATH,
  type ErrorsChoice,
  type ErrorsSaid,
  type ErrorsScope,
  hrefsOf,
  isAllTime,
  keptQuery,
  PRINT_SORTS,
  type PrintSort,
} from "./lines-questions.ts";

/** The lines that rose in the last 24 hours, those of the most projects first. Nothing where none did. */
const risen = block({
  id: "risen",
  narrowedBy: {},
  asks: ({ at }: ErrorsScope) => ({ rows: askForRising(at) }),
  draw({ rows }, { now, at }) {
    if (rows.length === 0) return null;
    return {
      title: "Rose in 24 hours",
      count: counted(rows.length, "line"),
      note: "Lines that came in many projects and more often than chance explains: each points to one cause.",
      body: html`<ol class="klines risen">${readRising(rows).map((one) => renderRiser(one, now, at))}</ol>`,
    };
  },
});

function renderRiser(one: RisingLine, now: Date, at: Date): Markup {
  const { id, line, projects, failures, before, since, firstBuild } = one;
  return html`<li class="kline rises"><strong><a href="${linesHref({ line: id }, at)}">${counted(projects, "project")}</a>
    since ${sinceWords(one, now)}:</strong> <code class="mask">${renderMask(line)}</code>
    <small><span class="rise">${icon("up")}${before === 0 ? "new" : `rises: ${grouped(failures)} against ${grouped(before)} in 28 days`}</span>
    ${counted(failures, "build")}, the first ${buildLink(firstBuild)}, ${momentTag(new Date(since).toISOString(), now)}</small></li>
`;
}

const build = relation("fact_builds");
const broken = relation("failing_now");
const rate = relation("success_rate_daily");

const ofClass = (rows: readonly Row[], name: string) => rows.find((row) => row.error_class === name);

/** Classes of error, each against the period before, and the projects that it hit. */
const classes = block({
  id: "classes",
  narrowedBy: { since: null, until: null },
  asks: ({ period }: ErrorsScope) => ({
    rows: askForKinds(period),
    classes: askFor("error_classes"),
    projects: isAllTime(period) ? askFor("error_classes") : askForProjects(period),
    failing: ask("failing_now")`
select ${broken.error_class}, count(distinct ${broken.project_id}) as projects
from ${broken}
where ${broken.project_id} <> '-1'
group by ${broken.error_class}`,
  }),
  draw({ rows, classes, projects, failing }, { period, href, now }, { finished }: ErrorsSaid) {
    const kinds = kindsOf(rows, period);
    const hit = (of: readonly Row[], name: string) => grouped(countIn(ofClass(of, name), "projects"));
    return {
      title: "Why builds fail",
      ...(isAllTime(period) && {
        note: "The projects are those of all time: they ignore the dates, because the period is long.",
      }),
      empty: kinds.length === 0 && noFailures(finished),
      body: renderKindRows({
        kinds,
        period,
        href: (name) => href({ kind: name, line: undefined, print: undefined }),
        small: (name) => renderMeaning(name, classes, now),
        more: {
          head: "Projects",
          cell: (name) =>
            html`${hit(projects, name)}<small>${counted(countIn(ofClass(failing, name), "projects"), "fails now", "fail now")}</small>`,
        },
        now,
      }),
    };
  },
});

function askForProjects({ first, last }: Period): Question {
  return ask("fact_builds")`
select ${build.error_class}, count(distinct ${build.project_id}) as projects
from ${build}
where ${build.failed} = 1 and ${build.project_id} <> '-1'
  and ${within(build.triggered_on, first, last)}
group by ${build.error_class}`;
}

const MOST_RISING = 2;

/** What is most of the failures and what rises; `failed` and `finished` count builds of the period. */
const errorsVerdict = part({
  asks: ({ period, choice, at }: ErrorsScope) => ({
    kinds: askForKinds(period),
    rising: askForRising(at),
    finished: ask("success_rate_daily")`
select sum(${rate.finished}) as finished\nfrom ${rate}\nwhere ${within(rate.day, period.first, period.last)}`,
    // It speaks of the whole period, whatever the list below is narrowed to.
    lines: askForLines(period, {
      ...choice,
      kind: undefined,
      line: undefined,
      print: undefined,
      sort: "rise",
      page: 1,
    }),
  }),
  draw(found, scope) {
    const { period } = scope;
    const kinds = kindsOf(found.kinds, period);
    const failed = kinds.reduce((sum, one) => sum + one.now, 0);
    const risen = found.lines.filter((line) => isRising(line, period));
    const finished = countIn(found.finished[0], "finished");
    const verdict =
      judgeRising(readRising(found.rising), failed, scope) ??
      judgeErrors(kinds, failed, risen, finished, scope);
    return { verdict, failed, finished };
  },
});

/** The line that rose today in the most projects; null where none did. */
function judgeRising(
  rising: readonly RisingLine[],
  failed: number,
  { period, now, at }: ErrorsScope,
): Verdict | null {
  const [first, second] = rising;
  if (first === undefined) return null;
  const more =
    second === undefined
      ? ""
      : ` Besides it ${counted(rising.length - 1, "line rises", "lines rise")}: “${sayingOf(second.line)}” in ${counted(second.projects, "project")}.`;
  return {
    look: "some",
    mark: { kind: "rises", word: "An error rises" },
    title: `↑ ${sayingOf(first.line, 40)} hit ${counted(first.projects, "project")}`,
    sentence: `${risingWords(first, now)}.`,
    evidence: `${beforeWords(first)}${more}`,
    acts: html`<a href="${buildHref(first.firstBuild)}">The first of them, build ${foreign(first.firstBuild, 24)}</a>
      <a href="${linesHref({ line: first.id }, at)}">The ${counted(first.projects, "project")}</a>
      <a href="#lines">All that failed on ${daysName(period, now)}: ${counted(failed, "build")}</a>`,
  };
}

/**
 * What is most of the failures of a period, and which lines rise: a kind may hold many causes, so it is no alarm.
 * `finished` counts the builds with a known result.
 */
function judgeErrors(
  [most, ...others]: readonly Kind[],
  failed: number,
  rising: readonly Row[],
  finished: number,
  { period, now, at }: ErrorsScope,
): Verdict {
  const isToday = dayText(period.last) === at.toISOString().slice(0, 10);
  const days = `${daysName(period, now)}${isToday ? `, up to ${clockWords(at.getTime())}` : ""}`;
  if (failed === 0 || most === undefined) {
    const isKnown = finished > 0;
    return {
      look: isKnown ? "good" : "idle",
      mark: isKnown ? { kind: "good", word: "None failed" } : { kind: "idle", word: "Not known" },
      title: isKnown ? "Errors: none failed" : "Errors: not known",
      sentence: isKnown
        ? `No build failed on ${days}; ${counted(finished, "build")} finished.`
        : `No build of ${days} has finished, so none can have failed.`,
      evidence: "",
    };
  }
  const risen =
    period.before === null ? [] : [most, ...others].filter((kind) => isMore(kind.now, kind.before));
  const isRising = rising.length + risen.length > 0;
  const some = `${grouped(most.now)} of them (${wholePercent(most.now / failed)}) say`;
  const say = failed === 1 ? "it says" : most.now === failed ? "all of them say" : some;
  return {
    look: isRising ? "some" : "idle",
    mark: isRising ? { kind: "bad2", word: "Rising" } : { kind: "flat", word: "Failures" },
    title: `Errors: ${grouped(failed)} failed on ${daysName(period, now)}`,
    sentence: `${counted(failed, "build")} failed on ${days}; ${say}: ${kindLabel(most.name)}.`,
    evidence: `${riseWords(rising, risen, period)}${finished === 0 ? "" : ` Of ${counted(finished, "finished build")} ${percent(failed / finished)} failed.`}`,
  };
}

function riseWords(rising: readonly Row[], [kind]: readonly Kind[], { before, days }: Period): string {
  if (before === null)
    return "The mirror does not know builds of all of the days before, so nothing can be said to rise.";
  if (rising.length === 0)
    return kind === undefined
      ? "No kind and no line rose by more than chance."
      : `“${kindLabel(kind.name)}” rose by more than chance, ${grouped(kind.now)} against ${grouped(kind.before)}, ` +
          "but no single line of it did in several projects: so it has no one cause.";
  const [first, ...rest] = rising.slice(0, MOST_RISING).map((line) => ({
    label: `“${sayingOf(String(line.error_line))}”`,
    counts: `${grouped(Number(line.failures))} against ${grouped(Number(line.failures_before))}`,
  }));
  const others = rest.map(({ label, counts }) => `; ${label} too, ${counts}`).join("");
  return `${first?.label} is on the rise: ${first?.counts} in the ${lengthWords(days)} before${others}.`;
}

const ERRORS: BlockPage<ErrorsScope, ErrorsSaid> = {
  name: "errors",
  layout: [risen, lines, classes],
  kept: ({ choice }) => keptQuery(choice),
};

const scopeOf = (choice: ErrorsChoice, period: Period, { now, at }: PageMoment): ErrorsScope => ({
  choice,
  period,
  href: hrefsOf(choice),
  now,
  at,
});

/** The page of errors: what builds fail of, what is most and what rises. */
export function errorsPage({ query }: Address): Drawing {
  const sort = query.get("sort") ?? "";
  const choice: ErrorsChoice = {
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
    files: filesOf(ERRORS, async (tx, moment) => {
      await assertKindKnown(tx, choice.kind);
      await assertLineKnown(tx, choice);
      return scopeOf(choice, await findPeriod(tx, choice, moment, true), moment);
    }),
  };
}

/** Throws ConfigError for a line that no failed build has: an empty file would look like an answer. */
async function assertLineKnown(tx: TransactionSql, choice: ErrorsChoice): Promise<void> {
  if (choice.line === undefined && choice.print === undefined) return;
  const { found } = await askEach(tx, { found: askForChosen(choice) });
  if (found.length === 0) throw new ConfigError("no failed build has this error line");
}

async function draw(tx: TransactionSql, choice: ErrorsChoice, moment: PageMoment): Promise<Draft> {
  const known = await askEach(tx, { days: FIRST_DAY, kinds: KINDS });
  const firstDay = known.days[0]?.first_day;
  if (firstDay === null || firstDay === undefined) return drawNothing("No build is known yet.");
  const kinds = known.kinds.map(({ kind }) => String(kind));
  if (choice.kind !== undefined && !kinds.includes(choice.kind))
    return drawUnknownKind(choice.kind, kinds, choice);
  const period = resolvePeriod(choice, String(firstDay), moment, true);
  if (period === null)
    return drawNothing(
      "No build of these days is known.",
      noDayMatches(withQuery(ERRORS_PATH, { kind: choice.kind })),
    );
  const scope = scopeOf(choice, period, moment);
  const drawn = await drawBlocks(tx, ERRORS, errorsVerdict, scope);
  const { verdict } = drawn.verdict;
  const kept = { ...keptQuery(choice), until: undefined };
  const main = html`
<div class="bar controls">${renderPeriodChips(ERRORS_PATH, period, choice, kept)}
${renderPeriodForm(ERRORS_PATH, period, keptFields({ ...kept, since: undefined }))}
${renderSorts(choice, period, scope.href)}</div>
${await drawn.draw(drawn.verdict)}
<p class="more quiet">Why a build fails is told from its error line by the rules in
  <code>report.error_rules</code>; they are yours to change, and <code>docmirror reclassify</code> applies
  them to what is stored.</p>`;
  return { verdict, main, tab: ERRORS_PATH };
}

function renderMeaning(name: string, classes: readonly Row[], now: Date): Markup {
  const row = ofClass(classes, name);
  const meaning = kindMeaning(name);
  const means = meaning === null ? "" : `${meaning}; `;
  if (row === undefined) return html`${means}`;
  const id = String(row.last_build_id);
  return html`${means}last <a class="quiet" href="${buildHref(id)}">${foreign(id, 24)}</a>,
    ${age(row.last_triggered_at, now)} ago`;
}

const drawNothing = (sentence: string, empty?: Empty): Draft =>
  drawNoMatch(
    ERRORS_PATH,
    "Errors",
    sentence,
    "So this says neither that builds fail nor that they do not.",
    empty,
  );

/** A kind that no rule names says nothing about builds; the nearest ones are offered. */
function drawUnknownKind(wrong: string, kinds: readonly string[], { since, until }: PeriodChoice): Draft {
  const hrefOf = (kind?: string) => withQuery(ERRORS_PATH, { since, until, kind });
  const ways = meantLinks(nearestChoices(wrong, kinds, kindLabel), hrefOf, kindLabel);
  const sentence = "There is no such kind of error.";
  return drawNoMatch(ERRORS_PATH, "Errors", sentence, "So this says nothing about builds.", [
    "no-match",
    "No kind matches.",
    html`No rule and no failed build has the kind ${foreign(wrong, 40)}.`,
    [...ways, { href: hrefOf(), words: "All kinds" }],
  ]);
}
