import { counted, grouped } from "../../base/text.ts";
import { renderPoints } from "../parts/charts/delta.ts";
import { differenceOf } from "../parts/charts/difference.ts";
import { html } from "../parts/html.ts";
import { buildHref, projectHref, withQuery } from "../parts/links.ts";
import type { PageMoment } from "../parts/page-moment.ts";
import { linesHref } from "../parts/rising-lines.ts";
import { renderFigures, renderVerdict, type VerdictLook } from "../parts/verdict-bar.ts";
import { foreign, type Markup, percent, slugWords } from "../parts/words.ts";
import { renderQuietActs, renderQuietFigures } from "./quiet-figures.ts";
import { drawSpark } from "./spark.ts";
import type { NowVerdict, NowVerdictFacts, VerdictKind } from "./verdict.ts";
import type { NowAnswers } from "./verdict-facts.ts";

const PATH = "/";

/** Red is for more than usual. A day like the others is amber or plain, however much fails. */
const LOOKS: Readonly<Record<VerdictKind, VerdictLook>> = {
  unknown: "idle",
  stale: "warn",
  quiet: "bad",
  platform: "bad",
  rising: "some",
  nothing: "idle",
  many: "bad",
  few: "warn",
  some: "known",
  failing: "flat",
  none: "good",
};

/** The verdict of now, with a link to the newest break, and its figures. */
export function renderNowVerdict(
  { kind, sentence, evidence }: NowVerdict,
  facts: NowVerdictFacts,
  answers: NowAnswers,
  moment: PageMoment,
): Markup {
  return renderVerdict({
    look: LOOKS[kind],
    sentence: withNewest(sentence, facts),
    evidence: withNewest(evidence, facts),
    ...(kind === "quiet" && {
      mark: { kind: "alarm", word: "Builds stopped arriving" } as const,
      acts: renderQuietActs(facts),
    }),
    ...(kind === "rising" && {
      mark: { kind: "rises", word: "An error rises" } as const,
      acts: renderRisingActs(facts),
    }),
    figures: kind === "quiet" ? renderQuietFigures(facts, answers) : renderNowFigures(facts, answers, moment),
  });
}

/** Where the rising line is told: its projects, its first build. */
function renderRisingActs({ rising: [first], at }: NowVerdictFacts): Markup {
  if (first === undefined) return html``;
  return html`<a href="${linesHref({ line: first.id }, at)}">The ${counted(first.projects, "project")}</a>
    <a href="${buildHref(first.firstBuild)}">The first of them, build ${foreign(first.firstBuild, 24)}</a>
    <a href="/errors">All that rises</a>`;
}

/** A sentence of the verdict, with a link where it names the newest break. */
function withNewest(text: string, { newest }: NowVerdictFacts): Markup {
  const [before = "", after] = text.split("{newest}");
  if (after === undefined || newest === null) return html`${before}`;
  return html`${before}<a href="${projectHref(newest.slug)}">${slugWords(newest.slug)}</a>${after}`;
}

function renderNowFigures(facts: NowVerdictFacts, answers: NowAnswers, moment: PageMoment): Markup {
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
          : html`${renderPoints(difference)} <span class="gone">on the 7 days before${difference.isChance ? ":\u00a0" : ""}</span>
            ${difference.isChance ? "within chance" : ""}`,
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
      note: html`<a href="#failing">against ${grouped(facts.broke)} that broke</a>`,
    },
    {
      label: "Stuck",
      value: grouped(Number(open?.stuck ?? 0)),
      unit: Number(open?.stuck ?? 0) === 1 ? "build" : "builds",
      note: html`<a href="/projects?state=stuck">${grouped(Number(open?.lately ?? 0))} since yesterday</a>`,
    },
  ]);
}
