import { nearestNames } from "../../base/config/nearest-names.ts";
import { counted, grouped } from "../../base/text.ts";
import { momentMs, momentTag, when } from "../parts/age.ts";
import { renderBlock } from "../parts/block.ts";
import { linkStrip, type StripBuild } from "../parts/charts/build-strip.ts";
import { renderKey } from "../parts/charts/key.ts";
import { type Link, renderEmpty } from "../parts/empty.ts";
import { html } from "../parts/html.ts";
import type { Query } from "../parts/links.ts";
import { type MarkKind, mark } from "../parts/mark.ts";
import type { Row } from "../parts/row.ts";
import { foreign, kindLabel, type Markup, shorten, targetWords } from "../parts/words.ts";
import { numberOf, type ProjectAnswers, type ProjectOffers } from "./project-answers.ts";
import { type Only, type ProjectChoice, STRIP_BUILDS, type Subject } from "./project-questions.ts";

export interface BuildsFacts {
  readonly subject: Subject;
  readonly choice: ProjectChoice;
  readonly answers: ProjectAnswers;
  readonly offers: ProjectOffers;
  /** The address of the page, with what its links keep. */
  readonly href: (query: Query) => string;
  /** The project's versions, where the chosen one has no build. */
  readonly versions: readonly string[];
  readonly now: Date;
}

/** The builds of a project in a row, each a link; thirty at a time. */
export function renderBuilds(facts: BuildsFacts): Markup {
  const { choice, answers, offers } = facts;
  const total = numberOf(answers.chosen, "builds");
  return renderBlock({
    id: "builds",
    title: titleOf(choice, total),
    ...(isNarrowed(choice.only) && { count: onlyWords(choice.only) }),
    tools: offers.builds,
    body: html`${renderChoices(facts)}
${answers.builds.length === 0 ? renderNoBuilds(facts, total) : renderStrip(facts, total)}`,
  });
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

/** All versions, the main docs, and what else was chosen. */
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
  const builds = answers.builds.toReversed();
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
${steps.length === 0 ? "" : html`<p class="more">${steps.map(({ href, words }, place) => html`${place > 0 ? " · " : ""}<a href="${href}">${words}</a>`)}</p>`}`;
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
function renderNoBuilds({ choice, answers, href, versions }: BuildsFacts, total: number): Markup {
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
  const nearest = version === undefined ? [] : nearestNames(version, versions);
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
