import { sql } from "drizzle-orm";
import { counted, grouped } from "../../base/text.ts";
import { inline } from "../../report/ask.ts";
import { type Asks, countIn, type Found, question } from "../parts/answers.ts";
import { block } from "../parts/block.ts";
import { askForBuild, type Build } from "../parts/builds.ts";
import { linesHref } from "../parts/changes.ts";
import { foreign, html, type Markup, targetWords } from "../parts/html.ts";
import { buildHref, buildLink, projectLink, renderLinks, targetTag } from "../parts/links.ts";
import { age, icon, mark, momentTag, outcomeMark, outcomeSign, spanBetween } from "../parts/marks.ts";
import { linkStrip } from "../parts/strips.ts";
import { renderRows } from "../parts/tables.ts";
import type { BuildSaid, BuildScope } from "./build-scope.ts";

/** Builds of its version and format that are shown before a build. */
const BEFORE = 20;
const ALIKE_DAYS = 28;

/** The builds around this one in a row, this one outlined. */
export const series = block({
  id: "series",
  asks: ({ fact }: BuildScope) => askAround(fact),
  file: ({ id, fact }) => askAround(fact).rows ?? askForBuild(id),
  draw({ rows }, { fact, now }) {
    if (!hasSeries(fact)) return null;
    const target = targetWords(fact);
    return {
      title: `Builds of ${target}`,
      note: "The oldest first; this one is outlined.",
      body: linkStrip(rows, () => target, now, fact.build_id),
    };
  },
});

/** Other projects whose builds failed with the same error line in 28 days, and how many with the same kind of line. */
export const same = block({
  id: "same",
  asks: ({ fact }: BuildScope) =>
    fact?.failed === 1 && fact.error_fingerprint !== null ? askAlike(fact) : { rows: null, kind: null },
  file: ({ id, fact }) => (fact ? askAlike(fact).rows : askForBuild(id)),
  draw({ rows, kind: [kind] }, { fact, now }, { isFailed }: BuildSaid) {
    if (!isFailed || !fact?.error_fingerprint) return null;
    const total = countIn(rows[0], "projects");
    const ofKind = countIn(kind, "projects");
    const left = total - rows.length;
    const lineHref = linesHref({ line: String(fact.error_line_id) }, now, ALIKE_DAYS);
    const kindHref = linesHref({ print: fact.error_fingerprint }, now, ALIKE_DAYS);
    const links = [
      { href: lineHref, words: `${left > 0 ? `${grouped(left)} more, and all` : "All"} with this line` },
      {
        href: kindHref,
        words: `the same kind: ${ofKind === 0 ? "no other project" : counted(ofKind, "other project")}`,
      },
    ];
    const alike = rows.map((row) => ({
      name: html`${projectLink(row.project_slug)} ${targetTag(row)}`,
      age: age(row.triggered_at, now),
      small: html`build ${buildLink(row.build_id)}, ${row.is_failing ? "still failing" : "fails no more"}`,
    }));
    return {
      title: "Same error",
      ...(total > 0 && { count: grouped(total) }),
      note: "Other projects with the same line, in the last 28 days. Paths, numbers and hashes may differ.",
      empty: total === 0 && ["none", "None found.", "No other project had this error line.", links],
      body: html`${renderRows(alike)}
<p class="more">${renderLinks(links)}</p>`,
    };
  },
});

/** A build of no known series has no neighbours. */
const hasSeries = (fact: Build | undefined): fact is Build =>
  fact !== undefined && fact.reference !== "(none)";

interface NearBuild {
  readonly build_id: string;
  readonly outcome: string;
  readonly succeeded: number | null;
  readonly triggered_at: string | null;
  readonly error_class: string | null;
}

const SERIES_AROUND = question<NearBuild>("series_around", import.meta.url);
const LAST_GOOD_BUILD = question<Pick<NearBuild, "build_id" | "triggered_at">>(
  "last_good_build",
  import.meta.url,
);

/** The builds of its series around a build, the oldest first, itself among them; and the last before it that succeeded. */
export function askAround(shown: Build | undefined): {
  rows: Asks<NearBuild> | null;
  good: Asks<Pick<NearBuild, "build_id" | "triggered_at">> | null;
} {
  if (!hasSeries(shown)) return { rows: null, good: null };
  const { build_id: id, project_id, version_id, type } = shown;
  const places = {
    id,
    before: inline(BEFORE),
    is_of_series: sql`build.project_id = ${project_id} and build.version_id = ${version_id}
    and build.type = ${type} and build.reference is not distinct from this.reference`,
  };
  return { rows: SERIES_AROUND(places), good: LAST_GOOD_BUILD(places) };
}

/** A build of another project with the same error line. */
interface AlikeBuild {
  readonly build_id: string;
  readonly project_slug: string;
  readonly version_slug: string;
  readonly type: string;
  readonly triggered_at: string;
  /** The number of projects that have one. */
  readonly projects: number;
  readonly is_failing: boolean;
}

const ALIKE_BUILDS = question<AlikeBuild>("alike_builds", import.meta.url);
const ALIKE_PROJECTS = question<{ readonly projects: number }>("alike_projects", import.meta.url);

function askAlike({ project_id: project, error_fingerprint: print, error_line_id: line }: Build): {
  rows: Asks<AlikeBuild>;
  kind: Asks<{ readonly projects: number }>;
} {
  const places = { project, print, line };
  return { rows: ALIKE_BUILDS(places), kind: ALIKE_PROJECTS(places) };
}

/** Links to the build before, the one after and the last good one; nothing where the series of the build is not known. */
export function renderNeighbours(
  { fact, now }: BuildScope,
  { rows: around, good: [good] }: Found<ReturnType<typeof askAround>>,
): Markup | "" {
  if (!hasSeries(fact)) return "";
  const target = targetWords(fact);
  const place = around.findIndex(({ build_id }) => build_id === fact.build_id);
  const [before, after] = [around[place - 1], around[place + 1]];
  const near = (
    label: string,
    row: Pick<NearBuild, "build_id"> | undefined,
    sign: Markup | undefined,
    words: Markup | string,
    to?: "prev" | "next",
  ) => {
    const isNext = to === "next";
    const name = html`<span>${label}: ${row ? foreign(row.build_id, 24) : isNext ? "none yet" : "none"}<small>${words}</small></span>`;
    const signs = [to && icon(to), sign];
    const parts = isNext ? [name, ...signs.toReversed()] : [...signs, name];
    if (row === undefined) return html`<span class="off${isNext && " right"}">${parts}</span>`;
    return html`<a${isNext && html` class="right"`} href="${buildHref(row.build_id)}"${to && html` rel="${to}"`}>${parts}</a>`;
  };
  const at = ({ outcome, triggered_at }: NearBuild, words: string) =>
    html`${outcomeMark(outcome)[1]} ${momentTag(triggered_at, now)}${words}`;
  const signOf = (row: NearBuild | undefined) => row && outcomeSign(row.outcome);
  const lastWords =
    fact.failed === 1
      ? `${target} still fails`
      : fact.succeeded === 1
        ? `${target} is good`
        : "this is the newest that is known";
  const never = `no build of ${target} before it succeeded`;
  return html`<nav class="near" aria-label="Builds of ${target}">
${near("Before", before, signOf(before), before ? at(before, gap(before, fact, "earlier")) : `the first build of ${target} that is known`, "prev")}
${near("Last good", good, good && mark("good", "last good"), goodWords(fact, around.slice(0, place), good, now) ?? never)}
${near("After", after, signOf(after), after ? at(after, gap(fact, after, "later")) : lastWords, "next")}
</nav>`;
}

function goodWords(
  fact: Build,
  earlier: readonly NearBuild[],
  good: Pick<NearBuild, "build_id" | "triggered_at"> | undefined,
  now: Date,
): Markup | string | undefined {
  if (good === undefined) return undefined;
  if (fact.failed !== 1 || earlier.at(-1)?.build_id !== good.build_id)
    return html`${momentTag(good.triggered_at, now)}${gap(good, fact, "earlier")}`;
  const streak = earlier.length - 1 - earlier.findLastIndex(({ succeeded }) => succeeded !== 1);
  return `so this build broke it, after ${streak >= BEFORE ? "at least " : ""}${streak} good`;
}

/** The time between two builds, in words. */
function gap(
  from: Pick<NearBuild, "triggered_at">,
  to: Pick<NearBuild, "triggered_at">,
  way: string,
): string {
  const between = spanBetween(from.triggered_at, to.triggered_at);
  return between === null ? "" : `, ${between} ${way}`;
}
