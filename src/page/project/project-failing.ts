import { age, momentMs, momentTag, span } from "../parts/age.ts";
import { renderBlock } from "../parts/block.ts";
import { drawStrip } from "../parts/charts/build-strip.ts";
import { renderEmpty } from "../parts/empty.ts";
import { html } from "../parts/html.ts";
import { buildHref } from "../parts/links.ts";
import type { Row } from "../parts/list-table.ts";
import { mark } from "../parts/mark.ts";
import { counted, foreign, grouped, kindLabel, type Markup, targetWords } from "../parts/words.ts";
import { numberOf, type ProjectAnswers, type ProjectQuestions } from "./project-answers.ts";
import { MOST_FAILING, type Subject } from "./project-questions.ts";
import type { SeriesStrips } from "./series-strips.ts";

export interface ProjectFailingFacts {
  readonly subject: Subject;
  readonly answers: ProjectAnswers;
  readonly questions: ProjectQuestions;
  readonly strips: SeriesStrips;
  readonly isNow: boolean;
  readonly now: Date;
}

/** What fails of a project: its main docs first, then the newest break. */
export function renderProjectFailing({
  subject,
  answers,
  questions,
  strips,
  isNow,
  now,
}: ProjectFailingFacts): Markup {
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
    tools: { question: questions.failing, filters: { project: subject.slug } },
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
<div class="name"><a href="${buildHref(String(row.last_failed_build_id))}">${target}</a>${isMain ? html`<span class="tag strong">main docs</span>` : ""}${row.is_active === false ? html`<span class="tag">not active</span>` : ""}</div>
<p class="why"><b>${kindLabel(row.error_class)}</b>${row.output_excerpt === null ? "" : html`<code>${foreign(String(row.output_excerpt), 180)}</code>`}</p>
<div class="meta"><span>build ${buildLink(row.last_failed_build_id)}, ${momentTag(row.last_failed_at, now)}${Number(row.failures) > 1 ? `, ${grouped(Number(row.failures))} failures in a row` : ""} · ${lastGood(row)}</span>${row.reference === null ? "" : html`<span>named ${foreign(String(row.reference), 80)}</span>`}</div>
${drawStrip(outcomes, target)}
</li>`;
}

function lastGood(row: Row): Markup {
  if (row.last_succeeded_build_id === null)
    return Number(row.failures) === 1 ? html`its first build` : html`never succeeded`;
  const before = momentMs(row.failing_since) - momentMs(row.last_succeeded_at);
  return html`last good ${buildLink(row.last_succeeded_build_id)}${Number.isNaN(before) ? "" : `, ${span(before)} before`}`;
}

const buildLink = (id: unknown): Markup =>
  html`<a href="${buildHref(String(id))}">${foreign(String(id), 24)}</a>`;
