import { type SQL, sql } from "drizzle-orm";
import { nearestNames } from "../../base/config/nearest-names.ts";
import { counted, grouped } from "../../base/text.ts";
import { ask, inline, onPage, pick, type Question, relation } from "../../report/ask.ts";
import { momentMs, momentTag, when } from "../parts/age.ts";
import { askEach, block, type Row } from "../parts/block.ts";
import { foreign, html, type Markup, shorten, targetWords } from "../parts/html.ts";
import { kindLabel } from "../parts/kinds.ts";
import { type Link, type Query, renderLinks } from "../parts/links.ts";
import { type MarkKind, mark } from "../parts/marks.ts";
import { renderEmpty } from "../parts/notice.ts";
import { renderKey } from "../parts/plot.ts";
import { linkStrip, type StripBuild } from "../parts/series.ts";
import {
  askForSeries,
  askForTotals,
  isOf,
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
  /** The project's versions, where the chosen one has no build. */
  async next(tx, { rows }, { choice: { only }, subject }) {
    if (rows.length > 0 || only.version === undefined) return { versions: [] };
    const { versions } = await askEach(tx, { versions: askForVersionNames(subject.id) });
    return { versions: versions.map(({ version_slug }) => String(version_slug)) };
  },
  draw(found, scope) {
    const facts = { ...scope, answers: found };
    const { choice } = scope;
    const total = numberOf(found.chosen, "builds");
    return {
      title: titleOf(choice, total),
      ...(isNarrowed(choice.only) && { count: onlyWords(choice.only) }),
      body: html`${renderChoices(facts)}
${found.rows.length === 0 ? renderNoBuilds(facts, total) : renderStrip(facts, total)}`,
    };
  },
});

interface BuildsFacts extends ProjectScope {
  readonly answers: Readonly<Record<"rows" | "chosen" | "totals" | "series", readonly Row[]>> & {
    readonly versions: readonly string[];
  };
}

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
  const conditions = [
    isOf(scope),
    version === undefined ? [] : sql`${build.version_slug} = ${version}`,
    type === undefined ? [] : sql`${build.type} = ${type}`,
    reference === undefined ? [] : sql`${build.reference} = ${reference}`,
  ].flat();
  return sql.join(conditions, sql` and `);
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

function renderChoices({ subject, choice, answers, href }: BuildsFacts): Markup {
  const { only } = choice;
  const isMain = only.version === subject.mainVersion && only.type === "html" && only.reference === undefined;
  const main = answers.series.find(({ is_main }) => is_main === true);
  const current = html` aria-current="true"`;
  const link = (query: Query, isCurrent: boolean, label: string, count: number) =>
    html`<a href="${href(query)}#builds"${isCurrent ? current : ""}>${label} <span>${grouped(count)}</span></a>`;
  const mainQuery = { version: subject.mainVersion, type: "html" };
  const mainBuilds = Number(main?.builds ?? 0);
  const isOther = isNarrowed(only) && !isMain;
  return html`<div class="bar"><nav class="chips" aria-label="Which builds">
    ${link({}, !isNarrowed(only), "All versions", numberOf(answers.totals, "builds"))}
    ${main === undefined && !isMain ? "" : link(mainQuery, isMain, "Main docs", mainBuilds)}
    ${isOther ? link(onlyQuery(only), true, onlyWords(only), numberOf(answers.chosen, "builds")) : ""}</nav></div>`;
}

/** The parameters that choose these builds. */
export function onlyQuery({ version, type, reference }: Only): Query {
  return { version, type, ref: reference };
}

function renderStrip({ choice, answers, href, now }: BuildsFacts, total: number): Markup {
  const builds = answers.rows.toReversed();
  const few = builds.length < 15 ? " few" : "";
  const { page, only } = choice;
  const to = (other: number) =>
    `${href({ ...onlyQuery(only), page: other === 1 ? undefined : other })}#builds`;
  const left = total - page * STRIP_BUILDS;
  const steps: Link[] = [
    ...(left > 0
      ? [
          {
            href: to(page + 1),
            words: `The ${left > STRIP_BUILDS ? `${STRIP_BUILDS} before, of ${counted(left, "build")}` : `${counted(left, "build")} before`}`,
          },
        ]
      : []),
    ...(page > 1 ? [{ href: to(page - 1), words: "The newer ones" }] : []),
  ];
  return html`${linkStrip(builds.map((row) => toStripBuild(row, now)))}
<p class="strip-ends${few}"><span>oldest: ${momentTag(builds[0]?.triggered_at, now)}</span>
  <span>newest: ${momentTag(builds.at(-1)?.triggered_at, now)}</span></p>
${renderStripKey(builds)}
${steps.length === 0 ? "" : html`<p class="more">${renderLinks(steps)}</p>`}`;
}

function toStripBuild(
  { build_id, version_slug, type, outcome, triggered_at, error_class }: Row,
  now: Date,
): StripBuild {
  const at = triggered_at === null ? "no date" : `${plainMoment(triggered_at, now)} UTC`;
  const why = error_class === null ? "" : `: ${kindLabel(error_class)}`;
  return {
    id: String(build_id),
    outcome: String(outcome),
    words: `${targetWords(version_slug, type)}, ${at}${why}`,
  };
}

function plainMoment(text: unknown, now: Date): string {
  const ms = momentMs(text);
  return Number.isNaN(ms) ? shorten(String(text)) : when(ms, now);
}

/** Only the signs that the strip has. */
function renderStripKey(builds: readonly Row[]): Markup {
  const has = (...outcomes: string[]) => builds.some(({ outcome }) => outcomes.includes(String(outcome)));
  const others = builds.some(
    ({ outcome }) => !["succeeded", "failed", "stuck", "open"].includes(String(outcome)),
  );
  const sign = (kind: MarkKind, word: string, words: string) =>
    html`<span>${mark(kind, word)}${words}</span>`;
  return renderKey([
    has("succeeded") ? sign("good", "check", "succeeded, raised") : "",
    has("failed") ? sign("bad", "cross", "failed, lowered") : "",
    has("stuck") ? sign("stuck", "bars", "stuck") : "",
    has("open") ? sign("run", "clock", "in progress") : "",
    others ? sign("idle", "question mark", "not known") : "",
  ]);
}

/** Why there are none. A choice that leaves nothing says nothing about builds. */
function renderNoBuilds({ choice, answers, href }: BuildsFacts, total: number): Markup {
  const all = numberOf(answers.totals, "builds");
  if (all === 0)
    return renderEmpty({
      kind: "unknown",
      strong: "No builds.",
      say: "The mirror has no build of this project.",
    });
  if (total > 0)
    return renderEmpty({
      kind: "no-match",
      strong: "No such page.",
      say: `There are ${counted(total, "build")} of this choice.`,
      ways: [{ href: href(onlyQuery(choice.only)), words: "The newest" }],
    });
  const { version, type } = choice.only;
  const nearest = version === undefined ? [] : nearestNames(version, answers.versions);
  return renderEmpty({
    kind: "no-match",
    strong: "No build matches.",
    say: `No build of this project is of ${onlyWords(choice.only)}. That says nothing about its ${counted(all, "other build")}.`,
    ways: [
      ...nearest.map((name) => ({
        href: href({ version: name, type: name === version ? undefined : type }),
        words: html`Did you mean ${foreign(name, 40)}?`,
      })),
      { href: href({}), words: `All ${counted(all, "build")}` },
    ],
  });
}
