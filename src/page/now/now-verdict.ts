import { renderPoints } from "../parts/charts/delta.ts";
import { differenceOf } from "../parts/charts/difference.ts";
import { html } from "../parts/html.ts";
import { projectHref, withQuery } from "../parts/links.ts";
import type { PageMoment } from "../parts/page-moment.ts";
import { renderFigures, renderVerdict, type VerdictLook } from "../parts/verdict-bar.ts";
import { counted, grouped, type Markup, percent, slugWords } from "../parts/words.ts";
import { drawSpark } from "./spark.ts";
import type { NowVerdict, NowVerdictFacts, VerdictKind } from "./verdict.ts";
import type { NowAnswers } from "./verdict-facts.ts";

const PATH = "/";

const LOOKS: Readonly<Record<VerdictKind, VerdictLook>> = {
  unknown: "idle",
  stale: "warn",
  platform: "bad",
  many: "bad",
  some: "some",
  failing: "some",
  none: "good",
  nothing: "idle",
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
    figures: renderNowFigures(facts, answers, moment),
  });
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
