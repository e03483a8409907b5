import { momentTag } from "../parts/age.ts";
import { renderBlock } from "../parts/block.ts";
import type { Draft } from "../parts/drawing.ts";
import { html } from "../parts/html.ts";
import type { Freshness } from "../parts/page-moment.ts";
import type { Row } from "../parts/row.ts";
import { renderVerdict } from "../parts/verdict-bar.ts";
import { grouped, type Markup, shorten } from "../parts/words.ts";

const STEPS = [
  { does: html`<strong>See whether all is in order</strong>`, command: "docmirror doctor" },
  { does: html`<strong>Read the lists once</strong>`, command: "docmirror sync" },
  {
    does: html`<strong>Keep it fresh:</strong> a sync every night, a look at the builds every minute`,
    command: "docmirror worker",
  },
];

/** What every page of figures shows before the builds were read once: that nothing is known, and how to begin. */
export function drawNeverSynced({ newestRun }: Freshness, now: Date): Draft {
  const main = html`${renderVerdict({
    look: "idle",
    sentence: "Nothing is known yet: no sync has read the list of builds.",
    evidence:
      "So this page says neither that builds succeed nor that they fail. The first sync of 100,000 records takes some four minutes.",
  })}
${renderBlock({
  id: "begin",
  title: "To begin",
  body: html`<ol class="steps">${STEPS.map(
    ({ does, command }) =>
      html`<li><div>${does}<pre tabindex="0" role="region" aria-label="Command: ${command}">${command}</pre></div></li>
`,
  )}</ol>`,
})}
${renderBlock({
  id: "state",
  title: "What the mirror has done",
  body: html`<p class="empty">The database answers and its schema is up to date. ${renderRun(newestRun, now)} <a href="/mirror">Mirror</a> shows the runs.</p>`,
})}`;
  return { status: 200, facts: { title: "No data yet", tab: "/", main } };
}

function renderRun(run: Row | null, now: Date): Markup {
  if (run === null) return html`<strong>No run has begun.</strong>`;
  const records = `${grouped(Number(run.records))} records so far`;
  if (run.status === "running")
    return html`<strong>Run ${run.run_id} is under way</strong> since ${momentTag(run.started_at, now)}: ${records}.`;
  const error = run.error === null ? "" : `: ${shorten(String(run.error), 200)}`;
  return html`<strong>Run ${run.run_id} ended at ${momentTag(run.finished_at, now)}, ${run.status}</strong>${error}.`;
}
