import { counted, grouped } from "../../base/text.ts";
import { age, agoWords, momentMs, span } from "../parts/age.ts";
import { type BlockFacts, renderBlock } from "../parts/block.ts";
import { renderEmpty } from "../parts/empty.ts";
import { html } from "../parts/html.ts";
import { icon } from "../parts/icon.ts";
import { mark, outcomeMark } from "../parts/mark.ts";
import type { Offer } from "../parts/offers.ts";
import { buildLink, projectLink, targetTag } from "../parts/record-links.ts";
import type { Row } from "../parts/row.ts";
import { foreign, kindLabel, type Markup, slugWords } from "../parts/words.ts";
import { renderBars } from "./bars.ts";

const MOST_BARS = 8;
const MOST_FIXED = 5;
/** Kinds that the line of a phone names. */
const MOST_NAMED = 3;

export interface NowSpan {
  readonly now: Date;
  /** The span in words, such as "last 24 hours"; and for a title, such as "last 24 h". */
  readonly words: string;
  readonly short: string;
  readonly since: string;
  /** When it ends, such as "22 Nov 02:10". */
  readonly endWords: string;
}

/** One answer beside the list of what fails: a block on a wide page, a closed line above that list on a phone. */
export interface RailPart extends Omit<BlockFacts, "body"> {
  /** The answer in some words. */
  readonly short: Markup | string;
  readonly body: Markup;
}

/** The answers as blocks. */
export function renderRail(parts: readonly RailPart[]): Markup {
  return html`<aside class="col rail" aria-label="More about now">
${parts.map((part) => renderBlock(part))}
</aside>`;
}

/** The same for a phone: each answer is a line that opens. A wide page does not show it. */
export function renderGlance(parts: readonly RailPart[]): Markup {
  return html`<section class="block glance" aria-label="At a glance">${parts.map(
    ({ title, count = "", short, body }) =>
      html`<details><summary><b>${title}</b><span class="count">${count}</span><small>${short}</small>${icon("next")}</summary>${body}</details>`,
  )}</section>`;
}

/** Why builds failed, by kinds, each with how often it is so on a usual day. */
export function whyPart(
  rows: readonly Row[],
  tools: Offer,
  of: NowSpan,
  days: number,
  finished: number,
): RailPart {
  const kinds = rows.filter(({ failures }) => Number(failures) > 0);
  const total = kinds.reduce((sum, { failures }) => sum + Number(failures), 0);
  const most = kinds.slice(0, MOST_NAMED);
  const others = total - most.reduce((sum, { failures }) => sum + Number(failures), 0);
  const named = most.map(
    ({ error_class, failures }) => `${grouped(Number(failures))} ${kindLabel(error_class)}`,
  );
  return {
    id: "why",
    title: `Why, ${of.short}`,
    count: grouped(total),
    short:
      total === 0
        ? `${finished === 0 ? "none finished" : "none failed"}, ${of.words}`
        : `${named.join(", ")}${others === 0 ? "" : `; ${counted(others, "other")}`}`,
    tools,
    body:
      total === 0
        ? renderEmpty(
            finished === 0
              ? {
                  kind: "unknown",
                  strong: "None finished.",
                  say: `No build that was triggered in the ${of.words} has finished.`,
                }
              : {
                  kind: "none",
                  strong: "None failed.",
                  say: `No build that was triggered in the ${of.words} has failed.`,
                },
          )
        : renderBars(
            kinds.slice(0, MOST_BARS).map(({ error_class, failures, usual }) => ({
              label: kindLabel(error_class),
              href: `/errors?kind=${encodeURIComponent(String(error_class))}`,
              count: Number(failures),
              usual: days < 7 ? null : (Number(usual) * 28) / days,
            })),
            "a usual day",
          ),
  };
}

/** Builds that have not finished: the newest, and how many are stuck. */
export function openPart(rows: readonly Row[], counts: Row | undefined, tools: Offer, of: NowSpan): RailPart {
  const [builds, stuck, lately] = ["builds", "stuck", "lately"].map((name) => Number(counts?.[name] ?? 0));
  const oldest = agoWords(counts?.oldest, of.now);
  const age = oldest === null ? "" : `, the oldest ${oldest}`;
  const stuckWords = html`<a href="/projects?state=stuck">${counted(stuck ?? 0, "stuck build")}</a>${age}`;
  return {
    id: "stuck",
    title: "Not finished",
    count: grouped(builds ?? 0),
    short:
      stuck === 0
        ? "none of them is stuck"
        : `${grouped(stuck ?? 0)} stuck, ${grouped(lately ?? 0)} since yesterday${age}`,
    tools,
    body:
      rows.length === 0
        ? renderEmpty({
            kind: "none",
            strong: "None.",
            say: "Every build that the mirror knows has finished.",
          })
        : html`<ul class="rows">${rows.map((row) => renderOpenBuild(row, of.now))}</ul>
<p class="more">${stuck === 0 ? "None of them is stuck." : stuckWords}</p>`,
  };
}

function renderOpenBuild(row: Row, now: Date): Markup {
  const { kind, word } = outcomeMark(row.outcome);
  const seen = agoWords(row.last_seen_at, now);
  return html`<li><span>${mark(kind, word)} ${buildLink(row.build_id)} ${projectLink(row.project_slug)}</span>
    ${age(row.triggered_at, now)}
    <small>still “${foreign(String(row.state), 24)}” when last seen${seen === null ? "" : `, ${seen} ago`}</small></li>`;
}

/** What was fixed, a row a project, the newest first; all but some are folded. */
export function fixedPart(
  rows: readonly Row[],
  counts: Row | undefined,
  tools: Offer,
  of: NowSpan,
): RailPart {
  const projects = Number(counts?.projects ?? 0);
  const fixed = [...new Set(rows.map(({ project_id }) => project_id))].map((id) =>
    rows.filter(({ project_id }) => project_id === id),
  );
  const list = (shown: readonly Row[][]) =>
    html`<ul class="rows">${shown.map((series) => renderFixedProject(series, of.now))}</ul>`;
  const rest = fixed.slice(MOST_FIXED);
  const unlisted = projects - fixed.length;
  const newest = rows[0];
  return {
    id: "fixed",
    title: `Fixed, ${of.short}`,
    count: grouped(projects),
    short:
      newest === undefined
        ? "none yet"
        : html`the newest ${slugWords(newest.project_slug)}, ${agoWords(newest.recovered_at, of.now) ?? "?"} ago`,
    tools,
    body:
      rows.length === 0
        ? renderEmpty({
            kind: "unknown",
            strong: "None yet.",
            say: `Nothing that failed has succeeded again in the ${of.words}.`,
          })
        : html`${list(fixed.slice(0, MOST_FIXED))}${
            rest.length === 0
              ? ""
              : html`<details class="fold"><summary>${grouped(projects - MOST_FIXED)} more fixed</summary>
              ${list(rest)}${unlisted > 0 ? html`<p class="more">${grouped(unlisted)} more in the file.</p>` : ""}</details>`
          }`,
  };
}

/** What was fixed of one project: the newest, and how many more. */
function renderFixedProject([row, ...more]: readonly Row[], now: Date): Markup {
  if (row === undefined) return html``;
  const lasted = momentMs(row.recovered_at) - momentMs(row.failed_at);
  const failed = Number.isNaN(lasted) ? "" : ` for ${span(Math.max(0, lasted))}`;
  return html`<li><span>${mark("good", "fixed")} ${projectLink(row.project_slug)} ${targetTag(row)}</span>
    ${age(row.recovered_at, now)}
    <small>failed${failed}: ${kindLabel(row.error_class)} · ${buildLink(row.recovered_build_id)}
    ${more.length === 0 ? "" : ` · ${grouped(more.length)} more here`}</small></li>`;
}
