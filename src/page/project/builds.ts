import { type SQL, sql } from "drizzle-orm";
import { nearestNames } from "../../base/config/nearest-names.ts";
import { allOf, counted, grouped } from "../../base/text.ts";
import { ask, inline, onPage, pick, type Question, relation } from "../../report/ask.ts";
import { askEach, type Row } from "../parts/answers.ts";
import { block, type Empty, renderNoRows } from "../parts/block.ts";
import { rateDot } from "../parts/changes.ts";
import { renderKey } from "../parts/charts.ts";
import { foreign, html, type Markup, shorten, slugWords, targetWords } from "../parts/html.ts";
import { kindLabel } from "../parts/kinds.ts";
import { meantLinks, type Query, renderLinks } from "../parts/links.ts";
import { age, type MarkKind, mark, momentMs, momentTag, when } from "../parts/marks.ts";
import { drawStrip, linkStrip, type StripBuild } from "../parts/strips.ts";
import { type Column, renderListTable } from "../parts/tables.ts";
import {
  askForSeries,
  askForTotals,
  FEW_SERIES,
  findStrips,
  isOf,
  MOST_SERIES,
  NEWEST,
  numberOf,
  type Only,
  OWN,
  type ProjectChoice,
  type ProjectScope,
  STRIP_BUILDS,
} from "./project-scope.ts";

const build = relation("fact_builds");
const rate = relation("success_rate_by_project");
const version = relation("dim_versions");

/** The builds of a project in a row, each a link; thirty at a time. */
export const builds = block({
  id: "builds",
  narrowedBy: { ...OWN, version: null, type: null, ref: null },
  asks: (scope: ProjectScope) => ({
    rows: askForBuilds(scope),
    chosen: askForChosen(scope),
    totals: askForTotals(scope),
    series: askForSeries(scope),
  }),
  async draw(found, scope, _said, tx) {
    const { choice, subject } = scope;
    // The project's versions, where the chosen one has no build.
    const isUnknown = found.rows.length === 0 && choice.only.version !== undefined;
    const { versions } = await askEach(tx, { versions: isUnknown ? askForVersionNames(subject.id) : null });
    const names = versions.map(({ version_slug }) => String(version_slug));
    const [total, all] = [numberOf(found.chosen, "builds"), numberOf(found.totals, "builds")];
    const main = found.series.find(({ is_main }) => is_main === true);
    return {
      title: titleOf(choice, total),
      ...(isNarrowed(choice.only) && { count: onlyWords(choice.only) }),
      body: html`${renderChoices(scope, main, total, all)}
${found.rows.length === 0 ? renderNoRows(...noBuilds(scope, names, total, all)) : renderStrip(scope, found.rows, total)}`,
    };
  },
});

const askForBuilds = (scope: ProjectScope): Question => ask("fact_builds")`
select ${pick(build, "build_id", "version_slug", "type", "outcome", "triggered_at", "error_class")}
from ${build}
where ${isChosen(scope)}
order by ${NEWEST}${onPage`
limit ${inline(STRIP_BUILDS)} offset ${(scope.choice.page - 1) * STRIP_BUILDS}`}`;

const askForChosen = (scope: ProjectScope): Question => ask("fact_builds")`
${
  isNarrowed(scope.choice.only)
    ? sql`select count(*) as builds from ${build} where ${isChosen(scope)}`
    : sql`select ${rate.builds} from ${rate} where ${rate.project_id} = ${scope.subject.id}`
}`;

function isChosen(scope: ProjectScope): SQL {
  const { version, type, reference } = scope.choice.only;
  const chosen = [
    [build.version_slug, version],
    [build.type, type],
    [build.reference, reference],
  ] as const;
  const conditions = chosen.flatMap(([column, value]) =>
    value === undefined ? [] : sql`${column} = ${value}`,
  );
  return sql.join([isOf(scope), ...conditions], sql` and `);
}

function askForVersionNames(projectId: string): Question {
  return ask("dim_versions")`
select distinct ${version.version_slug}
from ${version}
where ${version.project_id} = ${projectId}
order by ${version.version_slug}
limit 2000`;
}

function titleOf({ page }: ProjectChoice, total: number): string {
  if (total === 0) return "Builds";
  if (page > 1) return `Builds before the last ${grouped((page - 1) * STRIP_BUILDS)}`;
  if (total > STRIP_BUILDS) return `Last ${STRIP_BUILDS} builds`;
  return total === 1 ? "Its only build" : `All ${total} builds`;
}

const isNarrowed = ({ version, type, reference }: Only): boolean =>
  version !== undefined || type !== undefined || reference !== undefined;

function onlyWords({ version, type }: Only): string {
  if (version !== undefined && type !== undefined) return targetWords(version, type);
  return shorten(version ?? type ?? "version not known", 40);
}

function renderChoices(
  { subject, choice: { only }, href }: ProjectScope,
  main: Row | undefined,
  chosen: number,
  all: number,
): Markup {
  const isMain = only.version === subject.mainVersion && only.type === "html" && only.reference === undefined;
  const link = (query: Query, isCurrent: boolean, label: string, count: number) =>
    html`<a href="${href(query)}#builds"${isCurrent ? html` aria-current="true"` : ""}>${label} <span>${grouped(count)}</span></a>`;
  const mainQuery = { version: subject.mainVersion, type: "html" };
  const isOther = isNarrowed(only) && !isMain;
  return html`<div class="bar"><nav class="chips" aria-label="Which builds">
    ${link({}, !isNarrowed(only), "All versions", all)}
    ${main || isMain ? link(mainQuery, isMain, "Main docs", Number(main?.builds ?? 0)) : ""}
    ${isOther ? link(onlyQuery(only), true, onlyWords(only), chosen) : ""}</nav></div>`;
}

/** The parameters that choose these builds. */
export function onlyQuery({ version, type, reference }: Only): Query {
  return { version, type, ref: reference };
}

function renderStrip({ choice, href, now }: ProjectScope, newest: readonly Row[], total: number): Markup {
  const builds = newest.toReversed();
  const few = builds.length < 15 ? " few" : "";
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
  return html`${linkStrip(builds.map((row) => toStripBuild(row, now)))}
<p class="strip-ends${few}"><span>oldest: ${momentTag(builds[0]?.triggered_at, now)}</span>
  <span>newest: ${momentTag(builds.at(-1)?.triggered_at, now)}</span></p>
${renderStripKey(builds)}
${steps.length === 0 ? "" : html`<p class="more">${renderLinks(steps)}</p>`}`;
}

function toStripBuild(row: Row, now: Date): StripBuild {
  const ms = momentMs(row.triggered_at);
  const moment = Number.isNaN(ms) ? shorten(String(row.triggered_at)) : when(ms, now);
  const at = row.triggered_at === null ? "no date" : `${moment} UTC`;
  const why = row.error_class === null ? "" : `: ${kindLabel(row.error_class)}`;
  return {
    id: String(row.build_id),
    outcome: String(row.outcome),
    words: `${targetWords(row.version_slug, row.type)}, ${at}${why}`,
  };
}

/** Only the signs that the strip has. */
function renderStripKey(builds: readonly Row[]): Markup {
  const outcomes = new Set(builds.map(({ outcome }) => (SIGNS.has(outcome) ? outcome : undefined)));
  return renderKey(
    [...SIGNS].map(([outcome, [kind, word, words]]) =>
      outcomes.has(outcome) ? html`<span>${mark(kind, word)}${words}</span>` : "",
    ),
  );
}

/** What the signs mean, by outcome; the last is that of all others. */
const SIGNS: ReadonlyMap<unknown, readonly [kind: MarkKind, word: string, words: string]> = new Map([
  ["succeeded", ["good", "check", "succeeded, raised"]],
  ["failed", ["bad", "cross", "failed, lowered"]],
  ["stuck", ["stuck", "bars", "stuck"]],
  ["open", ["run", "clock", "in progress"]],
  [undefined, ["idle", "question mark", "not known"]],
]);

/** Why there are none. A choice that leaves nothing says nothing about builds. */
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
  narrowedBy: OWN,
  asks: (scope: ProjectScope) => ({ rows: askForSeries(scope) }),
  async draw({ rows: series }, scope, _said, tx) {
    const { choice, href, now } = scope;
    const strips = await findStrips(tx, scope, series);
    const total = numberOf(series, "total");
    const columns: Column[] = [
      { head: "Version · format", isName: true, cell: (row) => nameOf(row, href) },
      { head: "State", cell: stateOf },
      {
        head: "Last 20 builds",
        cell: (row) => drawStrip(strips(row), targetWords(row.version_slug, row.type)),
      },
      { head: "Succeeded", cell: (row) => rateDot(Number(row.succeeded), Number(row.finished)) },
      {
        head: "Last build",
        isNumber: true,
        isWide: true,
        label: "last build",
        cell: (row) => age(row.last_triggered_at, now),
      },
    ];
    return {
      title: "Versions and formats",
      count: grouped(total),
      note: "Their builds of all time.",
      empty: total === 0 && ["unknown", "Not known.", "The mirror has no build of this project."],
      body: html`${renderListTable({ caption: "Versions and formats", columns, rows: series })}
${renderMore(choice, total, href)}`,
    };
  },
});

function renderMore({ isAllSeries }: ProjectChoice, total: number, href: ProjectScope["href"]) {
  if (isAllSeries && total > MOST_SERIES)
    return html`<p class="more">These are ${MOST_SERIES} of ${grouped(total)}; the others are in the files.</p>`;
  if (isAllSeries || total <= FEW_SERIES) return "";
  const words = total > MOST_SERIES ? `${MOST_SERIES} of ${grouped(total)}` : `All ${total}`;
  return html`<p class="more"><a href="${href({ versions: "all" })}#versions">${words} versions and formats</a></p>`;
}

function nameOf(row: Row, href: ProjectScope["href"]): Markup {
  const only = {
    version: String(row.version_slug),
    type: String(row.type),
    reference: row.reference === null ? undefined : String(row.reference),
  };
  const tag = (words: string, kind = "") => html` <span class="tag${kind}">${words}</span>`;
  const state = row.is_deleted === true ? tag("gone") : row.is_active === false ? tag("not active") : "";
  const tags = html`${row.is_main === true ? tag("main docs", " strong") : ""}${state}`;
  const words =
    row.version_slug === ""
      ? html`${slugWords("")} · ${foreign(only.type, 24)}`
      : targetWords(row.version_slug, row.type);
  return html`<a href="${href(onlyQuery(only))}#builds">${words}</a>${tags}
    ${row.reference === null ? "" : html`<small>named ${foreign(String(row.reference), 80)}</small>`}`;
}

function stateOf(row: Row): Markup {
  const of = (sign: Markup, words: string) => html`<span class="state">${sign}<span>${words}</span></span>`;
  if (row.is_deleted === true) return of(mark("flat", "gone"), "version is gone");
  if (row.is_failing === true) return of(mark(row.is_main === true ? "bad" : "bad2", "failed"), "fails");
  if (Number(row.finished) === 0 || row.reference === "(none)")
    return of(mark("idle", "question mark"), "not known");
  return of(mark("good", "succeeded"), "good");
}
