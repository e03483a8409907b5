import { type SQL, sql } from "drizzle-orm";
import { counted, grouped } from "../../base/text.ts";
import { ask, inline, onPage, pick, relation } from "../../report/ask.ts";
import { age, momentMs, momentTag, span, when } from "../parts/age.ts";
import { block, type Row } from "../parts/block.ts";
import { foreign, html, type Markup, targetWords } from "../parts/html.ts";
import { kindLabel } from "../parts/kinds.ts";
import { buildHref, buildLink, projectLink, targetTag } from "../parts/links.ts";
import { icon, mark, outcomeMark } from "../parts/marks.ts";
import { renderEmpty } from "../parts/notice.ts";
import { linesHref } from "../parts/rising.ts";
import { linkStrip } from "../parts/series.ts";
import { askForBuild, type BuildSaid, type BuildScope, OWN } from "./build-scope.ts";

const fact = relation("fact_builds");
const build = relation("fact_builds", "build");
const own = relation("fact_builds", "this");
const failing = relation("failing_now", "failing");

/** Builds of its version and format that are shown before and after a build. */
const BEFORE = 20;
const AFTER = 9;
/** Other projects with the same error: the same line. */
const MOST_ALIKE = 6;
const ALIKE_DAYS = 28;

/** The builds around this one in a row, this one outlined; and as links the one before, the one after, the last good one. */
export const series = block({
  id: "series",
  narrowedBy: OWN,
  asks({ fact }: BuildScope) {
    const { around, good } = fact === undefined || !hasSeries(fact) ? NOTHING : questionsOf(fact);
    return { rows: around, good };
  },
  file: ({ id, fact }) => (fact === undefined ? askForBuild(id) : questionsOf(fact).around),
  draw({ rows, good }, { fact, now }, { told }: BuildSaid) {
    if (told === null || fact === undefined || !hasSeries(fact)) return null;
    const target = targetWords(fact.version_slug, fact.type);
    const builds = rows.map((row) => ({
      id: String(row.build_id),
      outcome: String(row.outcome),
      words: `${target}${triggeredWords(row, now)}${row.error_class === null ? "" : `: ${kindLabel(row.error_class)}`}`,
    }));
    return {
      title: `Builds of ${target}`,
      note: "The oldest first; this one is outlined.",
      body: linkStrip(builds, String(fact.build_id)),
      neighbours: renderNeighbours({ fact, around: rows, good: good[0], now }),
    };
  },
});

/** Other projects whose builds failed with the same error line in 28 days, and how many with the same kind of line. */
export const same = block({
  id: "same",
  narrowedBy: OWN,
  asks({ fact }: BuildScope) {
    const { alike, kind } = fact === undefined || !hasError(fact) ? NOTHING : questionsOf(fact);
    return { rows: alike, kind };
  },
  file: ({ id, fact }) => (fact === undefined ? askForBuild(id) : questionsOf(fact).alike),
  draw({ rows, kind: [kind] }, { fact, now }, { told }: BuildSaid) {
    if (!told?.isFailed || fact === undefined || fact.error_fingerprint === null) return null;
    const total = Number(rows[0]?.projects ?? 0);
    const ofKind = Number(kind?.projects ?? 0);
    const left = total - rows.length;
    const lineHref = linesHref({ line: String(fact.error_line_id) }, now, ALIKE_DAYS);
    const kindHref = linesHref({ print: String(fact.error_fingerprint) }, now, ALIKE_DAYS);
    return {
      title: "Same error",
      ...(total > 0 && { count: grouped(total) }),
      note: "Other projects with the same line, in the last 28 days. Paths, numbers and hashes may differ.",
      body: html`${
        total === 0
          ? renderEmpty({ kind: "none", strong: "None found.", say: "No other project had this error line." })
          : html`<ul class="rows">${rows.map((row) => renderAlikeBuild(row, now))}</ul>`
      }
<p class="more"><a href="${lineHref}">${left > 0 ? `${grouped(left)} more, and all` : "All"} with this line</a> ·
  <a href="${kindHref}">the same kind: ${ofKind === 0 ? "no other project" : counted(ofKind, "other project")}</a></p>`,
    };
  },
});

const NOTHING = { around: null, good: null, alike: null, kind: null };

/** Builds of no known series have no neighbours. */
const hasSeries = ({ reference }: Row): boolean => reference !== "(none)";
const hasError = ({ failed, error_fingerprint: print }: Row): boolean => failed === 1 && print !== null;

/** Its neighbours, and who has the same error. */
function questionsOf(row: Row) {
  const textOf = (column: string) => String(row[column]);
  const isThis = sql`${fact.build_id} = ${textOf("build_id")}`;
  const withThis = sql`with this as (select * from ${fact} where ${isThis})`;
  const isOfSeries = sql`${build.project_id} = ${textOf("project_id")} and ${build.version_id} = ${textOf("version_id")}
    and ${build.type} = ${textOf("type")} and ${build.reference} is not distinct from ${own.reference}`;
  const place = (of: typeof fact) =>
    sql`(coalesce(${of.triggered_at}, '-infinity'), length(${of.build_id}), ${of.build_id})`;
  const newest = sql`${build.triggered_at} desc nulls last, length(${build.build_id}) desc, ${build.build_id} desc`;
  const oldest = sql`${build.triggered_at} nulls first, length(${build.build_id}), ${build.build_id}`;
  const side = (sign: SQL, order: SQL, builds: number) => sql`(select build.* from ${build}, this
  where ${isOfSeries}
    and ${place(build)} ${sign} ${place(own)}
  order by ${order}
  limit ${inline(builds)})`;
  const isOfKind = sql`${fact.failed} = 1 and ${fact.error_fingerprint} = ${textOf("error_fingerprint")}
    and ${fact.triggered_on} > (select ${fact.triggered_on} from ${fact} order by ${fact.triggered_on} desc nulls last limit 1) - 28
    and ${fact.project_id} <> ${textOf("project_id")}`;
  return {
    around: ask("fact_builds")`
${withThis}
select ${pick(fact, "build_id", "outcome", "succeeded", "triggered_at", "error_class")}
from (
  ${side(sql`<=`, newest, BEFORE + 1)}
  union all
  ${side(sql`>`, oldest, AFTER)}
) as build
order by ${oldest}`,
    good: ask("fact_builds")`
${withThis}
select ${pick(build, "build_id", "triggered_at")}
from ${build}, this
where ${isOfSeries} and ${build.succeeded} = 1 and ${place(build)} < ${place(own)}
order by ${newest}
limit 1`,
    alike: ask("fact_builds")`
select ${pick(fact, "build_id", "project_slug", "version_slug", "type", "triggered_at")},${onPage` count(*) over () as projects,`}
  exists (
    select from ${failing}
    where (${pick(failing, "project_id", "version_id", "type")}) = (${pick(build, "project_id", "version_id", "type")})
  ) as is_failing
from (
  select distinct on (${fact.project_id}) *
  from ${fact}
  where ${isOfKind} and ${fact.error_line_id} = ${textOf("error_line_id")}
  order by ${fact.project_id}, ${fact.triggered_at} desc
) as build
order by ${fact.triggered_at} desc, ${fact.build_id} desc${onPage`\nlimit ${inline(MOST_ALIKE)}`}`,
    kind: ask("fact_builds")`
select count(distinct ${fact.project_id}) as projects
from ${fact}
where ${isOfKind}`,
  };
}

function renderAlikeBuild(row: Row, now: Date): Markup {
  return html`<li><span>${projectLink(row.project_slug)} ${targetTag(row)}</span>${age(row.triggered_at, now)}
    <small>build ${buildLink(row.build_id)},
    ${row.is_failing === true ? "still failing" : "fails no more"}</small></li>`;
}

interface AroundFacts {
  readonly fact: Row;
  /** The builds of its version and format around it, the oldest first, itself among them. */
  readonly around: readonly Row[];
  /** The last one before it that succeeded. */
  readonly good: Row | undefined;
  readonly now: Date;
}

function renderNeighbours({ fact, around, good, now }: AroundFacts): Markup {
  const target = targetWords(fact.version_slug, fact.type);
  const place = around.findIndex(({ build_id }) => build_id === fact.build_id);
  const [before, after] = [around[place - 1], around[place + 1]];
  return html`<nav class="near" aria-label="Builds of ${target}">
${renderBefore(fact, before, target, now)}
${renderGood(good, target, good && goodWords(fact, around, good, now))}
${renderAfter(fact, after, target, now)}
</nav>`;
}

function renderBefore(fact: Row, before: Row | undefined, target: string, now: Date): Markup {
  if (before === undefined)
    return html`<span class="off">${icon("prev")}
      <span>Before: none<small>the first build of ${target} that is known</small></span></span>`;
  return html`<a href="${hrefOf(before)}" rel="prev">${icon("prev")}${markOf(before)}
    <span>Before: ${idOf(before)}<small>${whenOf(before, now)}${gap(before, fact, "earlier")}</small></span></a>`;
}

function renderGood(good: Row | undefined, target: string, words: Markup | string | undefined): Markup {
  if (good === undefined)
    return html`<span class="off">
      <span>Last good: none<small>no build of ${target} before it succeeded</small></span></span>`;
  return html`<a href="${hrefOf(good)}">${mark("good", "last good")}
    <span>Last good: ${idOf(good)}<small>${words}</small></span></a>`;
}

function renderAfter(fact: Row, after: Row | undefined, target: string, now: Date): Markup {
  if (after === undefined)
    return html`<span class="off right">
      <span>After: none yet<small>${lastWords(fact, target)}</small></span>${icon("next")}</span>`;
  return html`<a class="right" href="${hrefOf(after)}" rel="next">
    <span>After: ${idOf(after)}<small>${whenOf(after, now)}${gap(fact, after, "later")}</small></span>
    ${markOf(after)}${icon("next")}</a>`;
}

const whenOf = ({ outcome, triggered_at }: Row, now: Date): Markup =>
  html`${outcomeMark(outcome).word} ${momentTag(triggered_at, now)}`;

function triggeredWords({ triggered_at }: Row, now: Date): string {
  const ms = momentMs(triggered_at);
  return Number.isNaN(ms) ? "" : `, ${when(ms, now)} UTC`;
}

function goodWords(fact: Row, around: readonly Row[], good: Row, now: Date): Markup | string {
  const earlier = around.slice(
    0,
    around.findIndex(({ build_id }) => build_id === fact.build_id),
  );
  if (fact.failed !== 1 || earlier.at(-1)?.build_id !== good.build_id)
    return html`${momentTag(good.triggered_at, now)}${gap(good, fact, "earlier")}`;
  const streak = earlier.length - 1 - earlier.findLastIndex(({ succeeded }) => succeeded !== 1);
  return `so this build broke it, after ${streak >= BEFORE ? "at least " : ""}${streak} good`;
}

function lastWords(fact: Row, target: string): string {
  if (fact.failed === 1) return `${target} still fails`;
  return fact.succeeded === 1 ? `${target} is good` : "this is the newest that is known";
}

function gap(from: Row, to: Row, way: string): string {
  const ms = momentMs(to.triggered_at) - momentMs(from.triggered_at);
  return Number.isNaN(ms) ? "" : `, ${span(Math.max(0, ms))} ${way}`;
}

const hrefOf = ({ build_id }: Row): string => buildHref(String(build_id));
const idOf = ({ build_id }: Row): Markup => foreign(String(build_id), 24);

function markOf({ outcome }: Row): Markup {
  const { kind, word } = outcomeMark(outcome);
  return mark(kind, word);
}
