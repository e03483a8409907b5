import { counted, grouped } from "../../base/text.ts";
import { age, dayWords, momentMs } from "../parts/age.ts";
import { renderBlock } from "../parts/block.ts";
import { renderEmpty } from "../parts/empty.ts";
import { html } from "../parts/html.ts";
import { withQuery } from "../parts/links.ts";
import { buildLink } from "../parts/record-links.ts";
import type { Row } from "../parts/row.ts";
import { foreign, kindLabel, type Markup } from "../parts/words.ts";
import { numberOf, type ProjectAnswers, type ProjectOffers } from "./project-answers.ts";

const FEW_LINES = 3;

/** Why builds of a project failed: kinds, and the lines of each with the newest build that has it. */
export function renderCauses(answers: ProjectAnswers, offers: ProjectOffers, now: Date): Markup {
  const { causes, totals } = answers;
  const failures = numberOf(causes, "all_failures");
  const since = momentMs(totals[0]?.first_triggered_at);
  const classes = [...new Set(causes.map(({ error_class }) => error_class))];
  const most = Math.max(1, ...causes.map(({ class_failures }) => Number(class_failures)));
  return renderBlock({
    id: "causes",
    title: "Why it failed",
    count: counted(failures, "failed build"),
    ...(failures > 0 &&
      !Number.isNaN(since) && { note: `Of all its builds, since ${dayWords(since, now)}.` }),
    tools: offers.causes,
    body:
      failures === 0
        ? renderNone(answers)
        : html`<ul class="causes">${classes.map((one) =>
            renderClass(
              causes.filter(({ error_class }) => error_class === one),
              most,
              now,
            ),
          )}</ul>`,
  });
}

function renderNone({ totals }: ProjectAnswers): Markup {
  const finished = numberOf(totals, "finished");
  return finished === 0
    ? renderEmpty({ kind: "unknown", strong: "Not known.", say: "No build of this project has finished." })
    : renderEmpty({
        kind: "none",
        strong: "None failed.",
        say: `Each of its ${counted(finished, "finished build")} succeeded.`,
      });
}

function renderClass(lines: readonly Row[], most: number, now: Date): Markup {
  const [first] = lines;
  const failures = Number(first?.class_failures ?? 0);
  const more = lines.slice(FEW_LINES);
  const left = Number(first?.class_lines ?? 0) - lines.length;
  const label = kindLabel(first?.error_class);
  return html`<li><div class="cause-head">
    <a href="${withQuery("/errors", { kind: String(first?.error_class) })}">${label}</a>
    <span class="n">${grouped(failures)}</span>
    <svg class="mini" height="8" aria-hidden="true">
    <rect class="m-track" width="100%" height="6" y="1" rx="3"/>
    <rect class="m-bad" width="${((100 * failures) / most).toFixed(1)}%" height="6" y="1" rx="3"/></svg></div>
<ul class="lines">${lines.slice(0, FEW_LINES).map((line) => renderLine(line, now))}</ul>${
    more.length === 0
      ? ""
      : html`<details class="also">
        <summary>${counted(more.length + left, "more line")}<span class="unseen"> of ${label}</span></summary>
        <ul class="lines">${more.map((line) => renderLine(line, now))}</ul>
        ${left > 0 ? html`<p class="more">${grouped(left)} more are in the files.</p>` : ""}</details>`
  }</li>`;
}

/** Builds with the same error may differ in its place; the one that is shown is that of the last. */
function renderLine({ example, places, failures, last_build_id, last_triggered_at }: Row, now: Date): Markup {
  const where = Number(places) > 1 ? ` in ${counted(Number(places), "place")}` : "";
  const times = Number(failures) > 1 ? `${counted(Number(failures), "build")}${where}, last ` : "";
  const line =
    example === null ? html`<span>no error line</span>` : html`<code>${foreign(String(example), 180)}</code>`;
  return html`<li>${line}<span>${times}${buildLink(last_build_id)}, ${age(last_triggered_at, now)}</span></li>`;
}
