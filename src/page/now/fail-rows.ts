import { counted } from "../../base/text.ts";
import { age, agoWords } from "../parts/age.ts";
import { drawStrip } from "../parts/charts/build-strip.ts";
import { lastFailed, renderWhy } from "../parts/fail-facts.ts";
import { html } from "../parts/html.ts";
import { projectHref } from "../parts/links.ts";
import { mark } from "../parts/mark.ts";
import { buildLink, projectLink, targetTag } from "../parts/record-links.ts";
import type { Row } from "../parts/row.ts";
import { foreign, kindLabel, type Markup, slugWords, targetWords } from "../parts/words.ts";

/** A project that fails, with what stands in its row. */
export interface FailRow {
  /** A row of `report.failing_projects`. */
  readonly row: Row;
  /** The outcomes of the last builds of its series, the oldest first. */
  readonly outcomes: readonly string[];
  /** Rows of `report.failing_now`: its other failures. */
  readonly others: readonly Row[];
  /** The usernames of those who maintain it; undefined where none is known, or people may not be seen. */
  readonly maintainers: string | undefined;
}

/** Projects that fail, one row each: how long, what, why, and when it was last good. */
export function renderFails(rows: readonly FailRow[], now: Date): Markup {
  return html`<ol class="fails">${rows.map(
    (row) => html`${renderFail(row, now)}
`,
  )}</ol>`;
}

function renderFail({ row, outcomes, others, maintainers }: FailRow, now: Date): Markup {
  const target = targetWords(row.version_slug, row.type);
  const isMain = row.is_main_failing === true;
  return html`<li>
<span class="when">${age(row.failing_since, now)}</span>
${isMain ? mark("bad", "main docs failing") : mark("bad2", "failing in part")}
<div class="name">${projectLink(row.project_slug)}<span class="target">${target}</span>${mainTag(row, now)}</div>
${renderWhy(row)}
<div class="meta">${lastFailed(row, now)}${
    maintainers === undefined ? "" : html`<span>maintained by ${foreign(maintainers, 80)}</span>`
  }${renderOthers(row, others, now)}</div>
${drawStrip(outcomes, target)}
</li>`;
}

function mainTag(row: Row, now: Date): Markup | string {
  if (row.is_main === true) return html`<span class="tag strong">main docs</span>`;
  if (row.is_main_failing !== true) return "";
  const since = agoWords(row.main_failing_since, now);
  return html`<span class="tag strong">main docs too${since === null ? "" : `, ${since}`}</span>`;
}

function renderOthers(row: Row, others: readonly Row[], now: Date): Markup | string {
  const more = Number(row.failing) - 1;
  if (more <= 0) return "";
  const left = more - others.length;
  return html`
<details class="also"><summary>${counted(more, "more failing here", "more failing here")}
  <span class="unseen">: ${slugWords(row.project_slug)}</span></summary><ul>${others.map(
    (other) =>
      html`<li>${age(other.failing_since, now)} ${targetTag(other)} <span>${kindLabel(other.error_class)}</span> ${buildLink(other.last_failed_build_id)}</li>`,
  )}${left > 0 ? html`<li><a href="${projectHref(String(row.project_slug))}">${left} more</a></li>` : ""}</ul></details>`;
}
