import { ConfigError } from "../../base/errors.ts";
import { counted, grouped } from "../../base/text.ts";
import { askFor } from "../../report/ask.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { type Asks, askEach, countIn, sumIn } from "../parts/answers.ts";
import { type BlockPage, block, drawBlocks, filesOf, part } from "../parts/block.ts";
import {
  askForRising,
  changeOf,
  type RisingLine,
  sayingOf,
  sayRising,
  sharesWords,
} from "../parts/changes.ts";
import {
  type Address,
  type Draft,
  type Drawing,
  drawNoMatch,
  noDays,
  type Verdict,
} from "../parts/document.ts";
import type { PageMoment } from "../parts/freshness.ts";
import { foreign, html, type Markup, percent, wholePercent } from "../parts/html.ts";
import {
  askForKinds,
  askForLate,
  assertKindKnown,
  KINDS,
  type Kind,
  kindLabel,
  kindMeaning,
  kindsOf,
  meantKinds,
  noFailures,
  renderKindRows,
  saysKind,
} from "../parts/kinds.ts";
import {
  buildHref,
  keptFields,
  readOneOf,
  readPageNumber,
  readText,
  renderChips,
  withQuery,
} from "../parts/links.ts";
import { ago, clockWords } from "../parts/marks.ts";
import {
  daysName,
  dayText,
  FIRST_DAY,
  findPeriod,
  lengthWords,
  type Period,
  type PeriodChoice,
  partWords,
  readPeriodChoice,
  renderPeriodBar,
  resolvePeriod,
} from "../parts/period.ts";
import { isRising, lines, risen, risenShares } from "./lines.ts";
import {
  askForChosen,
  askForLines,
  ERRORS_PATH,
  type ErrorsChoice,
  type ErrorsHref,
  type ErrorsSaid,
  type ErrorsScope,
  errorsQuestion,
  hrefsOf,
  isAllTime,
  keptQuery,
  type LineRow,
  PRINT_SORTS,
  WHOLE,
} from "./lines-questions.ts";

/** The number of projects that have builds of a kind. */
interface KindProjects {
  readonly error_class: string;
  readonly projects: number;
}

/** The same with the newest build of the kind. */
interface KindRow extends KindProjects {
  readonly last_build_id: string;
  readonly last_triggered_at: string;
}

const ofKind = <R extends KindProjects>(rows: readonly R[], name: string) =>
  rows.find(({ error_class }) => error_class === name);

/** Kinds of error, each against the period before, and the projects that it hit. */
const classes = block({
  id: "classes",
  asks(scope: ErrorsScope) {
    const { period, at } = scope;
    const ever: Asks<KindRow> = askFor("error_classes");
    return {
      rows: askForKinds(period),
      late: askForLate(period, at),
      ever,
      projects: isAllTime(period) ? ever : askForProjects(scope),
      failing: askForFailing(scope),
    };
  },
  draw({ rows, late, ever, projects, failing }, { period, href, now, at, isNow }, { finished }: ErrorsSaid) {
    const kinds = kindsOf(rows, period, late);
    const hit = (of: readonly KindProjects[], name: string) => countIn(ofKind(of, name), "projects");
    const [fails, fail] = isNow ? ["fails now", "fail now"] : ["failed then", "failed then"];
    return {
      title: "Why builds fail",
      note: isAllTime(period)
        ? "The projects are those of all known builds: they ignore the dates, because the period is long."
        : partWords(period, at, now),
      empty: kinds.length === 0 && noFailures(finished.now),
      body: renderKindRows({
        kinds,
        finished,
        period,
        href: (kind) => href({ ...WHOLE, kind }),
        small: (name) => renderMeaning(name, ofKind(ever, name), now),
        more: {
          head: "Projects",
          cell: (name) =>
            html`${grouped(hit(projects, name))}<small>${counted(hit(failing, name), fails, fail)}</small>`,
        },
        now,
      }),
    };
  },
});

const askForProjects = errorsQuestion<KindProjects>("projects_by_kind");
const askForFailing = errorsQuestion<KindProjects>("failing_projects_by_kind");
const askForFinished =
  errorsQuestion<Readonly<Record<"finished" | "finished_before", number | null>>>("finished_of_both");

function renderMeaning(name: string, row: KindRow | undefined, now: Date): Markup {
  const meaning = kindMeaning(name);
  return html`${meaning && `${meaning}; `}${
    row &&
    html`last <a class="quiet" href="${buildHref(row.last_build_id)}">${foreign(row.last_build_id, 24)}</a>,
    ${ago(row.last_triggered_at, now)}`
  }`;
}

const MOST_RISING = 2;

/** Names the kind of most failures, and the line that rises; `failed` and `finished` count builds of the period. */
const errorsVerdict = part({
  asks: (scope: ErrorsScope) => ({
    kinds: askForKinds(scope.period),
    late: askForLate(scope.period, scope.at),
    rising: askForRising(scope.at),
    finished: askForFinished(scope),
    // It speaks of the whole period, whatever the list below is narrowed to.
    lines: askForLines({ ...scope, choice: { ...scope.choice, ...WHOLE, sort: "rise", page: 1 } }),
  }),
  draw(found, scope) {
    const { period } = scope;
    const kinds = kindsOf(found.kinds, period, found.late);
    const [finished] = found.finished;
    const said: ErrorsSaid = {
      failed: sumIn(kinds, "now"),
      finished: {
        now: countIn(finished, "finished"),
        before: countIn(finished, "finished_before") - sumIn(found.late, "finished"),
      },
    };
    const risen = found.lines.filter((line) => isRising(line, { period, ...said }));
    const verdict = judgeRising(found.rising, said, scope) ?? judgeErrors(kinds, risen, said, scope);
    return { verdict, ...said };
  },
});

/** The line that rose today in the most projects; null where none did. */
function judgeRising(
  [first, ...others]: readonly RisingLine[],
  { failed }: ErrorsSaid,
  scope: ErrorsScope,
): Verdict | null {
  if (first === undefined) return null;
  const [second] = others;
  const more =
    second === undefined
      ? ""
      : `; ${counted(others.length, "other line")} too: “${sayingOf(second.error_line)}” in ${counted(second.projects, "project")}`;
  const {
    links: [projects, firstBuild],
    ...said
  } = sayRising(first, scope);
  return {
    ...said,
    look: "some",
    evidence: `${said.evidence}${more}.`,
    acts: html`${firstBuild}
      ${projects}
      <a href="#lines">All that failed on ${daysName(scope.period, scope.now)}: ${counted(failed, "build")}</a>`,
  };
}

/** The most frequent kind of a period, and the lines that rise: a kind may hold many causes, so it is no alarm. */
function judgeErrors(
  kinds: readonly Kind[],
  rising: readonly LineRow[],
  said: ErrorsSaid,
  { period, now, at }: ErrorsScope,
): Verdict {
  const { failed } = said;
  const finished = said.finished.now;
  const [most] = kinds;
  const isToday = dayText(period.last) === at.toISOString().slice(0, 10);
  const days = `${daysName(period, now)}${isToday ? `, up to ${clockWords(at)}` : ""}`;
  if (failed === 0 || most === undefined)
    return finished > 0
      ? {
          title: "Errors: none failed",
          look: "good",
          mark: ["good", "None failed"],
          sentence: `No build failed on ${days}; ${counted(finished, "build")} finished.`,
        }
      : {
          title: "Errors: not known",
          look: "idle",
          sentence: `No build of ${days} has finished, so none can have failed.`,
        };
  const risen = period.before === null ? [] : kinds.filter((kind) => changeOf(kind, said.finished) > 0);
  const rises = rising.length + risen.length > 0;
  const share =
    finished === 0 ? "" : ` Of ${counted(finished, "finished build")} ${percent(failed / finished)} failed.`;
  const some = `${grouped(most.now)} of them (${wholePercent(most.now / failed)})`;
  const who = failed === 1 ? "it" : most.now === failed ? "all of them" : some;
  return {
    title: `Errors: ${grouped(failed)} failed on ${daysName(period, now)}`,
    look: rises ? "some" : "idle",
    mark: rises ? ["bad2", "Rising"] : ["flat", "Failures"],
    sentence: `${counted(failed, "build")} failed on ${days}; ${who} ${saysKind(most.name, failed === 1)}.`,
    evidence: riseWords(rising, risen, said, period, now) + share,
  };
}

function riseWords(
  rising: readonly LineRow[],
  [kind]: readonly Kind[],
  said: ErrorsSaid,
  { before, days }: Period,
  now: Date,
): string {
  if (before === null)
    return "The mirror does not know builds of all of the days before, so nothing can be said to rise.";
  const [first, ...rest] = rising.slice(0, MOST_RISING).map((line) => ({
    label: `“${sayingOf(String(line.error_line))}”`,
    counts: risenShares(line, said),
  }));
  if (first !== undefined) {
    const others = rest.map(({ label, counts }) => `; ${label} too, ${counts}`).join("");
    return `${first.label} is on the rise: ${first.counts} of the finished builds in the ${lengthWords(days)} before${others}.`;
  }
  if (kind === undefined)
    return `No kind and no line has a surely larger share of the builds than on ${daysName(before, now)}.`;
  const shares = sharesWords(kind, said.finished);
  return (
    `“${kindLabel(kind.name)}” rose by more than chance, ${shares} of the finished builds, ` +
    "but no single line of it did in several projects: so it has no one cause."
  );
}

const ERRORS: BlockPage<ErrorsScope, ErrorsSaid> = {
  name: "errors",
  narrowedBy: { since: null, until: null },
  layout: [risen, lines, classes],
  kept: ({ choice }) => keptQuery(choice),
};

const scopeOf = (choice: ErrorsChoice, period: Period, moment: PageMoment): ErrorsScope => ({
  ...moment,
  choice,
  period,
  href: hrefsOf(choice),
});

/** The page of errors: by kind and by line, what is most and what rises. */
export function errorsPage({ query }: Address): Drawing {
  const choice: ErrorsChoice = {
    ...readPeriodChoice(query),
    kind: readText(query, "kind"),
    line: readText(query, "line"),
    print: readText(query, "print"),
    sort: readOneOf(query, "sort", PRINT_SORTS) ?? "rise",
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

const NAMED = {
  tab: ERRORS_PATH,
  name: "Errors",
  evidence: "So this says neither that builds fail nor that they do not.",
} as const;

async function draw(tx: TransactionSql, choice: ErrorsChoice, moment: PageMoment): Promise<Draft> {
  const { kind } = choice;
  const known = await askEach(tx, { days: FIRST_DAY, kinds: KINDS });
  const firstDay = known.days[0]?.first_day;
  if (!firstDay) return drawNoMatch({ ...NAMED, sentence: "No build is known yet." });
  const kinds = known.kinds.map((one) => one.kind);
  if (kind !== undefined && !kinds.includes(kind)) return drawUnknownKind(kind, kinds, choice);
  const period = resolvePeriod(choice, firstDay, moment, true);
  if (period === null) return drawNoMatch({ ...NAMED, ...noDays(withQuery(ERRORS_PATH, { kind })) });
  const scope = scopeOf(choice, period, moment);
  const { verdict: said, draw } = await drawBlocks(tx, ERRORS, errorsVerdict, scope);
  const kept = { ...keptQuery(choice), until: undefined };
  const main = html`
${renderPeriodBar(ERRORS_PATH, period, choice, kept, keptFields({ ...kept, since: undefined }), renderSorts(choice, period, scope.href))}
${await draw(said)}
<p class="more quiet">Why a build fails is told from its error line by the rules in
  <code>report.error_rules</code>; they are yours to change, and <code>docmirror reclassify</code> applies
  them to what is stored.</p>`;
  return { verdict: said.verdict, main, tab: ERRORS_PATH };
}

/** The orders of the list. */
function renderSorts({ sort }: ErrorsChoice, period: Period, href: ErrorsHref): Markup {
  const isAll = isAllTime(period);
  const chips = Object.entries(PRINT_SORTS)
    .filter(([by]) => !(isAll && by === "rise"))
    .map(([by, { head }]) => [by, head] as const);
  return renderChips("Which first", chips, isAll && sort === "rise" ? "projects" : sort, (sort) =>
    href({ sort }),
  );
}

/** A kind that no rule names says nothing about builds; the nearest ones are offered. */
function drawUnknownKind(wrong: string, kinds: readonly string[], { since, until }: PeriodChoice): Draft {
  const hrefOf = (kind?: string) => withQuery(ERRORS_PATH, { since, until, kind });
  return drawNoMatch({
    ...NAMED,
    sentence: "There is no such kind of error.",
    evidence: "So this says nothing about builds.",
    empty: [
      "no-match",
      "No kind matches.",
      html`No rule and no failed build has the kind ${foreign(wrong, 40)}.`,
      [...meantKinds(wrong, kinds, hrefOf), { href: hrefOf(), words: "All kinds" }],
    ],
  });
}
