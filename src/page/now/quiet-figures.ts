import { counted, grouped } from "../../base/text.ts";
import { html } from "../parts/html.ts";
import { buildHref } from "../parts/links.ts";
import { renderFigures } from "../parts/verdict-bar.ts";
import { foreign, type Markup } from "../parts/words.ts";
import { longSpan, sinceWords } from "./arrivals-verdict.ts";
import type { NowVerdictFacts } from "./verdict.ts";
import type { NowAnswers } from "./verdict-facts.ts";

/** What is worth a look when nothing arrives. */
export function renderQuietActs({ arrivals }: NowVerdictFacts): Markup {
  return html`<a href="${buildHref(arrivals.lastBuildId)}">The last build, ${foreign(arrivals.lastBuildId, 24)}</a>
    <a href="#checked">What was checked</a>
    <a href="#rules">When this is red</a>`;
}

/** Figures of a silence. Nothing says what fails now, so that is as of the last build. */
export function renderQuietFigures(facts: NowVerdictFacts, { openCounts }: NowAnswers): Markup {
  const { arrivals, now, failing, projects } = facts;
  const last = sinceWords(arrivals, now);
  const [open] = openCounts;
  const gapMs = Math.max(arrivals.gapMs, now.getTime() - arrivals.lastBuildAt);
  return renderFigures(
    [
      {
        label: "Arrived",
        labelRest: ` since ${last}`,
        value: "0",
        unit: `of usually ${grouped(arrivals.usual)}`,
        note: `at least ${grouped(arrivals.fewest)} on each of ${arrivals.daysKnown} days`,
      },
      {
        label: "Failing",
        labelRest: ` at ${last}`,
        value: grouped(failing),
        unit: `of ${counted(projects, "project")}`,
        note: html`<a href="#failing">as the last builds left it</a>`,
      },
      {
        label: "In progress",
        value: grouped(Number(open?.builds ?? 0)),
        unit: Number(open?.builds ?? 0) === 1 ? "build" : "builds",
        note: html`<a href="#checked">${grouped(Number(open?.stuck ?? 0))} of them stuck</a>`,
      },
      {
        label: "Gap",
        value: longSpan(gapMs),
        note: `longest of ${arrivals.daysKnown} days: ${longSpan(arrivals.longestGapMs)}`,
      },
    ],
    true,
  );
}
