import { counted, grouped } from "../../base/text.ts";
import { age } from "../parts/age.ts";
import { renderBlock } from "../parts/block.ts";
import { drawStrip } from "../parts/charts/build-strip.ts";
import { renderEmpty } from "../parts/empty.ts";
import { lastFailed, renderWhy } from "../parts/fail-facts.ts";
import { html } from "../parts/html.ts";
import { buildHref } from "../parts/links.ts";
import { mark } from "../parts/mark.ts";
import type { Row } from "../parts/row.ts";
import { foreign, type Markup, targetWords } from "../parts/words.ts";
import { numberOf, type ProjectAnswers, type ProjectOffers } from "./project-answers.ts";
import { MOST_FAILING } from "./project-questions.ts";
import type { SeriesStrips } from "./series-strips.ts";

export interface ProjectFailingFacts {
  readonly answers: ProjectAnswers;
  readonly offers: ProjectOffers;
  readonly strips: SeriesStrips;
  readonly isNow: boolean;
  readonly now: Date;
}

/** What fails of a project: its main docs first, then the newest break. */
export function renderProjectFailing({ answers, offers, strips, isNow, now }: ProjectFailingFacts): Markup {
  const { failing } = answers;
  const total = numberOf(failing, "total");
  const body =
    total === 0
      ? renderNone(answers)
      : html`<ol class="fails one">${failing.map((row) => renderFail(row, strips(row), now))}</ol>
${total > MOST_FAILING ? html`<p class="more">${grouped(total - MOST_FAILING)} more: they are in the files.</p>` : ""}`;
  return renderBlock({
    id: "failing",
    title: isNow ? "Failing now" : "Failing then",
    count: grouped(total),
    tools: offers.failing,
    body,
  });
}

function renderNone({ totals }: ProjectAnswers): Markup {
  const finished = numberOf(totals, "finished");
  return finished === 0
    ? renderEmpty({ kind: "unknown", strong: "Not known.", say: "No build of this project has finished." })
    : renderEmpty({
        kind: "none",
        strong: "None found.",
        say: `The last finished build of every version and format that exists succeeded, of ${counted(finished, "finished build")}.`,
      });
}

function renderFail(row: Row, outcomes: readonly string[], now: Date): Markup {
  const target = targetWords(row.version_slug, row.type);
  const isMain = row.is_main === true;
  return html`<li>
<span class="when">${age(row.failing_since, now)}</span>
${isMain ? mark("bad", "main docs failing") : mark("bad2", "failing")}
<div class="name"><a href="${buildHref(String(row.last_failed_build_id))}">${target}</a>
  ${isMain ? html`<span class="tag strong">main docs</span>` : ""}
  ${row.is_active === false ? html`<span class="tag">not active</span>` : ""}</div>
${renderWhy(row)}
<div class="meta">${lastFailed(row, now)}${row.reference === null ? "" : html`<span>named ${foreign(String(row.reference), 80)}</span>`}</div>
${drawStrip(outcomes, target)}
</li>`;
}
