import { grouped } from "../../base/text.ts";
import { momentMs, momentTag, span } from "./age.ts";
import { html } from "./html.ts";
import { buildLink } from "./record-links.ts";
import type { Row } from "./row.ts";
import { foreign, kindLabel, type Markup } from "./words.ts";

/** Why something fails: the kind of error and its line. The row is one of `report.failing_now`, or has its columns. */
export function renderWhy(row: Row): Markup {
  const line = row.error_line === null ? "" : html`<code>${foreign(String(row.error_line), 180)}</code>`;
  return html`<p class="why"><b>${kindLabel(row.error_class)}</b>${line}</p>`;
}

/** The last build of what fails, how often it failed in a row, and when it was last good. */
export function lastFailed(row: Row, now: Date): Markup {
  const failures = Number(row.failures);
  const inRow = failures > 1 ? `, ${grouped(failures)} failures in a row` : "";
  return html`<span>build ${buildLink(row.last_failed_build_id)}, ${momentTag(row.last_failed_at, now)}${inRow}
    · ${lastGood(row, failures)}</span>`;
}

function lastGood(row: Row, failures: number): Markup {
  if (row.last_succeeded_build_id === null)
    return failures === 1 ? html`its first build` : html`never succeeded`;
  const before = momentMs(row.failing_since) - momentMs(row.last_succeeded_at);
  const ago = Number.isNaN(before) ? "" : `, ${span(before)} before`;
  return html`last good ${buildLink(row.last_succeeded_build_id)}${ago}`;
}
