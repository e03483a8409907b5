import { type SQL, sql } from "drizzle-orm";
import { nearestNames } from "../../base/config/nearest-names.ts";
import { allOf, counted, grouped } from "../../base/text.ts";
import { ask, inline, relation } from "../../report/ask.ts";
import { type Asks, askEach, countIn } from "../parts/answers.ts";
import { block, type Empty, renderNoRows } from "../parts/block.ts";
import { rateDot } from "../parts/changes.ts";
import { renderKey } from "../parts/charts.ts";
import { foreign, html, type Markup, shorten, slugWords, targetWords } from "../parts/html.ts";
import { type Chip, meantLinks, type Query, renderChips, renderLinks } from "../parts/links.ts";
import { age, type MarkKind, mark, momentTag } from "../parts/marks.ts";
import { drawStrip, linkStrip } from "../parts/strips.ts";
import { type Column, renderListTable, renderState } from "../parts/tables.ts";
import {
  askForSeries,
  askForTotals,
  type BuiltSeries,
  FEW_SERIES,
  findStrips,
  MOST_SERIES,
  type Only,
  type ProjectChoice,
  type ProjectScope,
  projectQuestion,
  STRIP_BUILDS,
} from "./project-scope.ts";

const build = relation("fact_builds");
const rate = relation("success_rate_by_project");

/** The builds of a project in a row, each a link; thirty at a time. */
export const builds = block({
  id: "builds",
  narrowedBy: { slug: null, id: null, version: null, type: null, ref: null },
  asks: (scope: ProjectScope) => ({
    rows: CHOSEN_BUILDS(scope, {
      only: onlyWhere(scope),
      most: inline(STRIP_BUILDS),
      before: inline((scope.choice.page - 1) * STRIP_BUILDS),
    }),
    chosen: askForChosen(scope),
    totals: askForTotals(scope),
    series: askForSeries(scope),
  }),
  async draw({ rows, chosen: [chosen], totals: [totals], series }, scope, _said, tx) {
    const { choice } = scope;
    // The project's versions, where the chosen one has no build.
    const isUnknown = rows.length === 0 && choice.only.version !== undefined;
    const { versions } = await askEach(tx, { versions: isUnknown ? VERSION_NAMES(scope) : null });
    const names = versions.map(({ version_slug }) => version_slug);
    const [total, all] = [countIn(chosen, "builds"), countIn(totals, "builds")];
    const main = series.find(({ is_main }) => is_main);
    return {
      title: titleOf(choice, total),
      ...(isNarrowed(choice.only) && { count: onlyWords(choice.only) }),
      body: html`${renderChoices(scope, main, total, all)}
${rows.length === 0 ? renderNoRows(...noBuilds(scope, names, total, all)) : renderStrip(scope, rows, total)}`,
    };
  },
});

interface BuildRow {
  readonly build_id: string;
  readonly version_slug: string;
  readonly type: string;
  readonly outcome: string;
  readonly triggered_at: string | null;
  readonly error_class: string | null;
}

const CHOSEN_BUILDS = projectQuestion<BuildRow>("chosen_builds");

/** The number of builds that the choice has. */
const askForChosen = (scope: ProjectScope): Asks<{ readonly builds: number }> => ask`
${
  isNarrowed(scope.choice.only)
    ? sql`select count(*) as builds from ${build} where ${build.project_id} = ${scope.subject.id}${onlyWhere(scope)}`
    : sql`select ${rate.builds} from ${rate} where ${rate.project_id} = ${scope.subject.id}`
}`;

/** The builds that are chosen among those of the project. */
function onlyWhere({ choice: { only } }: ProjectScope): SQL {
  const chosen = [
    [build.version_slug, only.version],
    [build.type, only.type],
    [build.reference, only.reference],
  ] as const;
  return sql.join(
    chosen.flatMap(([column, value]) => (value === undefined ? [] : sql` and ${column} = ${value}`)),
  );
}

const VERSION_NAMES = projectQuestion<{ readonly version_slug: string }>("version_names");

function titleOf({ page }: ProjectChoice, total: number): string {
  if (total === 0) return "Builds";
  if (page > 1) return `Builds before the last ${grouped((page - 1) * STRIP_BUILDS)}`;
  if (total > STRIP_BUILDS) return `Last ${STRIP_BUILDS} builds`;
  return total === 1 ? "Its only build" : `All ${total} builds`;
}

const isNarrowed = ({ version, type, reference }: Only): boolean =>
  version !== undefined || type !== undefined || reference !== undefined;

function onlyWords({ version, type }: Only): string {
  if (version !== undefined && type !== undefined) return targetWords({ version_slug: version, type });
  return shorten(version ?? type ?? "version not known", 40);
}

function renderChoices(
  { subject, choice: { only }, href }: ProjectScope,
  main: BuiltSeries | undefined,
  chosen: number,
  all: number,
): Markup {
  const { version_slug: version, type } = subject.main;
  const isMain = only.version === version && only.type === type && only.reference === undefined;
  const [ofAll, ofMain, ofOnly] = [{}, { version, type }, onlyQuery(only)];
  const isOther = isNarrowed(only) && !isMain;
  const chips: (Chip<Query> | false)[] = [
    [ofAll, "All versions", all],
    (isMain || main !== undefined) && [ofMain, "Main docs", main?.builds ?? 0],
    isOther && [ofOnly, onlyWords(only), chosen],
  ];
  return html`<div class="bar">${renderChips(
    "Which builds",
    chips.filter((chip) => chip !== false),
    isOther ? ofOnly : isMain ? ofMain : ofAll,
    (query) => `${href(query)}#builds`,
  )}</div>`;
}

/** The parameters that choose these builds. */
export function onlyQuery({ version, type, reference }: Only): Query {
  return { version, type, ref: reference };
}

function renderStrip(
  { choice, href, now }: ProjectScope,
  newest: readonly BuildRow[],
  total: number,
): Markup {
  const builds = newest.toReversed();
  const { page, only } = choice;
  const to = (other: number) =>
    `${href({ ...onlyQuery(only), page: other === 1 ? undefined : other })}#builds`;
  const left = total - page * STRIP_BUILDS;
  const before =
    left > STRIP_BUILDS
      ? `${STRIP_BUILDS} before, of ${counted(left, "build")}`
      : `${counted(left, "build")} before`;
  const steps = [
    left > 0 ? { href: to(page + 1), words: `The ${before}` } : [],
    page > 1 ? { href: to(page - 1), words: "The newer ones" } : [],
  ].flat();
  return html`${linkStrip(builds, targetWords, now)}
<p class="strip-ends${builds.length < 15 && " few"}"><span>oldest: ${momentTag(builds[0]?.triggered_at, now)}</span>
  <span>newest: ${momentTag(builds.at(-1)?.triggered_at, now)}</span></p>
${renderStripKey(builds)}
${steps.length > 0 && html`<p class="more">${renderLinks(steps)}</p>`}`;
}

/** Only the signs that the strip has. */
function renderStripKey(builds: readonly BuildRow[]): Markup {
  const outcomes = new Set(builds.map(({ outcome }) => (STRIP_SIGNS.has(outcome) ? outcome : "")));
  return renderKey(
    [...STRIP_SIGNS].map(
      ([outcome, [kind, word, words]]) =>
        outcomes.has(outcome) && html`<span>${mark(kind, word)}${words}</span>`,
    ),
  );
}

/** The signs by outcome; the last is that of all others. */
const STRIP_SIGNS: ReadonlyMap<string, readonly [kind: MarkKind, word: string, words: string]> = new Map([
  ["succeeded", ["good", "check", "succeeded, raised"]],
  ["failed", ["bad", "cross", "failed, lowered"]],
  ["stuck", ["stuck", "bars", "stuck"]],
  ["open", ["run", "clock", "in progress"]],
  ["cancelled", ["flat", "two lines", "cancelled"]],
  ["", ["idle", "question mark", "not known"]],
]);

/** Says why there are none. A choice that leaves nothing says nothing about builds. */
function noBuilds(
  { choice, href }: ProjectScope,
  versions: readonly string[],
  total: number,
  all: number,
): Empty {
  if (all === 0) return ["unknown", "No builds.", "The mirror has no build of this project."];
  if (total > 0) {
    const say = `This choice has ${counted(total, "build")}.`;
    return ["no-match", "No such page.", say, [{ href: href(onlyQuery(choice.only)), words: "The newest" }]];
  }
  const { version, type } = choice.only;
  const nearest = version === undefined ? [] : nearestNames(version, versions);
  const say = `No build of this project is of ${onlyWords(choice.only)}. That says nothing about its ${counted(all, "other build")}.`;
  return [
    "no-match",
    "No build matches.",
    say,
    [
      ...meantLinks(
        nearest,
        (name) => href({ version: name, type: name === version ? undefined : type }),
        (name) => foreign(name, 40),
      ),
      { href: href({}), words: allOf(all, "build") },
    ],
  ];
}

/** The versions and formats of a project with their states: the main docs, what fails, then the last built. */
export const versions = block({
  id: "versions",
  asks: (scope: ProjectScope) => ({ rows: askForSeries(scope) }),
  async draw({ rows: series }, scope, _said, tx) {
    const { choice, href, now } = scope;
    const strips = await findStrips(tx, scope, series);
    const total = countIn(series[0], "total");
    const columns: Column<BuiltSeries>[] = [
      { head: "Version · format", isName: true, cell: (row) => nameOf(row, href) },
      { head: "State", cell: stateOf },
      {
        head: "Last 20 builds",
        cell: (row) => drawStrip(strips(row), targetWords(row)),
      },
      { head: "Succeeded", cell: rateDot },
      {
        head: "Last build",
        isNumber: true,
        place: "wide",
        cell: (row) => age(row.last_triggered_at, now),
      },
    ];
    return {
      title: "Versions and formats",
      count: grouped(total),
      note: "All their known builds.",
      empty: total === 0 && ["unknown", "Not known.", "The mirror has no build of this project."],
      body: html`${renderListTable({ caption: "Versions and formats", columns, rows: series })}
${renderMore(choice, total, href)}`,
    };
  },
});

function renderMore({ isAllSeries }: ProjectChoice, total: number, href: ProjectScope["href"]): Markup | "" {
  const most = `${MOST_SERIES} of ${grouped(total)}`;
  if (isAllSeries && total > MOST_SERIES)
    return html`<p class="more">These are ${most}; the others are in the files.</p>`;
  if (isAllSeries || total <= FEW_SERIES) return "";
  const words = total > MOST_SERIES ? most : `All ${total}`;
  return html`<p class="more"><a href="${href({ versions: "all" })}#versions">${words} versions and formats</a></p>`;
}

function nameOf(row: BuiltSeries, href: ProjectScope["href"]): Markup {
  const { version_slug: version, type, reference } = row;
  const tag = (words: string, kind = "") => html` <span class="tag${kind}">${words}</span>`;
  const words = version === "" ? html`${slugWords("")} · ${foreign(type, 24)}` : targetWords(row);
  const own = href(onlyQuery({ version, type, reference: reference ?? undefined }));
  return html`<a href="${own}#builds">${words}</a>${row.is_main && tag("main docs", " strong")}${
    row.is_deleted ? tag("gone") : row.is_active === false && tag("not active")
  }
    ${reference !== null && html`<small>named ${foreign(reference, 80)}</small>`}`;
}

function stateOf(row: BuiltSeries): Markup {
  const of = (kind: MarkKind, sign: string, words: string) => renderState(mark(kind, sign), words);
  if (row.is_deleted) return of("flat", "gone", "version is gone");
  if (row.is_failing) return of(row.is_main ? "bad" : "bad2", "failed", "fails");
  if (row.finished === 0 || row.reference === "(none)") return of("idle", "question mark", "not known");
  return of("good", "succeeded", "good");
}
