import { counted, grouped } from "../../base/text.ts";
import type { BuildDescription } from "../../mirror/builds/describe-build.ts";
import { age, momentTag } from "../parts/age.ts";
import { renderBlock } from "../parts/block.ts";
import { renderEmpty } from "../parts/empty.ts";
import { html } from "../parts/html.ts";
import { outcomeMark } from "../parts/mark.ts";
import type { Offer } from "../parts/offers.ts";
import { buildLink, projectLink, targetTag } from "../parts/record-links.ts";
import { linesHref } from "../parts/rising-lines.ts";
import type { Row } from "../parts/row.ts";
import { foreign, kindLabel, type Markup, slugWords, targetWords } from "../parts/words.ts";
import { renderEntry, renderFact } from "./piece-markup.ts";

const DAYS = 28;

export interface AlikeFacts {
  /** Other projects with the same error line, the newest first; each row has the number of all. */
  readonly alike: readonly Row[];
  /** Other projects with an error of the same kind, the same line included. */
  readonly ofKind: number;
}

/** Other projects whose builds failed with the same error line in 28 days, and how many with the same kind of line. */
export function renderAlike({ alike, ofKind }: AlikeFacts, tools: Offer, fact: Row, now: Date): Markup {
  const total = Number(alike[0]?.projects ?? 0);
  const left = total - alike.length;
  const line = linesHref({ line: String(fact.error_line_id) }, now, DAYS);
  const kind = linesHref({ print: String(fact.error_fingerprint) }, now, DAYS);
  return renderBlock({
    id: "same",
    title: "Same error",
    ...(total > 0 && { count: grouped(total) }),
    note: "Other projects with the same line, in the last 28 days. Paths, numbers and hashes may differ.",
    tools,
    body: html`${
      total === 0
        ? renderEmpty({ kind: "none", strong: "None found.", say: "No other project had this error line." })
        : html`<ul class="rows">${alike.map((row) => renderAlikeBuild(row, now))}</ul>`
    }
<p class="more"><a href="${line}">${left > 0 ? `${grouped(left)} more, and all` : "All"} with this line</a> ·
  <a href="${kind}">the same kind: ${ofKind === 0 ? "no other project" : counted(ofKind, "other project")}</a></p>`,
  });
}

function renderAlikeBuild(row: Row, now: Date): Markup {
  return html`<li><span>${projectLink(row.project_slug)} ${targetTag(row)}</span>${age(row.triggered_at, now)}
    <small>build ${buildLink(row.build_id)},
    ${row.is_failing === true ? "still failing" : "fails no more"}</small></li>`;
}

/** The facts of a build: as the reports count it, as the service sent it, and its whole row. */
export function renderFacts(
  id: string,
  { state, facts }: BuildDescription,
  fact: Row | undefined,
  tools: Offer,
  now: Date,
): Markup {
  return renderBlock({
    id: "facts",
    title: "Facts",
    tools,
    body: html`<dl class="facts">
${renderFact("Build", foreign(id, 40))}${fact === undefined ? renderFact("Outcome", "not counted yet") : renderCounted(fact, now)}</dl>
<details class="fold"${fact === undefined ? " open" : ""}><summary>As the service sent it</summary>
<dl class="facts">
${renderFact("State", foreign(state, 300))}${facts.map(renderEntry)}</dl>
</details>
${fact === undefined ? "" : renderRow(fact)}
<p class="note">At the command line: <code>docmirror explain build ${foreign(id, 40)}</code></p>`,
  });
}

function renderCounted(fact: Row, now: Date): Markup {
  const slug = String(fact.project_slug);
  const code = (name: string) => html`<code>${foreign(String(fact[name]), 80)}</code>`;
  const [after, before] = [fact.finished_after, fact.finished_before];
  const from = after === null ? "" : html`${momentTag(after, now)} to `;
  const facts: [string, Markup | string | null][] = [
    ["Outcome", html`<strong>${outcomeMark(fact.outcome).word}</strong>`],
    ["Project", slug === "(unknown)" ? slugWords(slug) : projectLink(slug)],
    ["Of", targetWords(fact.version_slug, fact.type)],
    ["Triggered", fact.triggered_at === null ? "not known" : momentTag(fact.triggered_at, now)],
    ["Finished", before === null ? null : html`${from}${momentTag(before, now)}`],
    ["Error", fact.error_class === null ? null : errorWords(fact.error_class)],
    ["Error line", fact.error_line_id === null ? null : code("error_line_id")],
    ["Its kind", fact.error_fingerprint === null ? null : code("error_fingerprint")],
    ["Named", fact.reference === null ? null : code("reference")],
  ];
  return html`${facts.map(([label, words]) => (words === null ? "" : renderFact(label, words)))}`;
}

const errorWords = (errorClass: unknown): Markup =>
  html`${kindLabel(errorClass)} <small class="quiet">${foreign(String(errorClass), 40)}</small>`;

/** The row of the build, under the names that SQL and CSV use. */
function renderRow(fact: Row): Markup {
  const columns = Object.entries(fact).map(([name, value]) =>
    renderFact(name, value === null ? html`<small>null</small>` : foreign(String(value), 400)),
  );
  return html`<details class="fold"><summary>Its row in report.fact_builds</summary>
<dl class="facts">
${columns}</dl>
</details>`;
}
