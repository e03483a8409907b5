import type { Question } from "../../report/question.ts";
import { age, agoWords, momentMs, span } from "../parts/age.ts";
import { renderBlock } from "../parts/block.ts";
import { renderEmpty } from "../parts/empty.ts";
import { html } from "../parts/html.ts";
import { mark, outcomeMark } from "../parts/mark.ts";
import { buildLink, projectLink, targetTag } from "../parts/record-links.ts";
import type { Row } from "../parts/row.ts";
import { counted, foreign, grouped, kindLabel, type Markup } from "../parts/words.ts";
import { renderBars } from "./bars.ts";

const MOST_BARS = 8;
const MOST_FIXED = 5;

export interface NowSpan {
  readonly now: Date;
  /** The span in words, such as "last 24 hours"; and for a title, such as "last 24 h". */
  readonly words: string;
  readonly short: string;
  readonly since: string;
  readonly until: string;
}

/** Why builds failed, by kinds, each with how often it is so on a usual day. */
export function renderWhy(rows: readonly Row[], question: Question, of: NowSpan, days: number): Markup {
  const kinds = rows.filter(({ failures }) => Number(failures) > 0);
  const total = kinds.reduce((sum, { failures }) => sum + Number(failures), 0);
  const body =
    total === 0
      ? renderEmpty({
          kind: "none",
          strong: "None failed.",
          say: `No build that was triggered in the ${of.words} has failed.`,
        })
      : renderBars(
          kinds.slice(0, MOST_BARS).map(({ error_class, failures, usual }) => ({
            label: kindLabel(error_class),
            href: `/errors?kind=${encodeURIComponent(String(error_class))}`,
            count: Number(failures),
            usual: days < 7 ? null : (Number(usual) * 28) / days,
          })),
          "a usual day",
        );
  return renderBlock({
    id: "why",
    title: "Why",
    count: grouped(total),
    note: `Failed builds of the ${of.words}.`,
    tools: { question, filters: { since: of.since, until: of.until } },
    body,
  });
}

/** Builds that have not finished: the newest, and how many are stuck. */
export function renderOpen(
  rows: readonly Row[],
  counts: Row | undefined,
  question: Question,
  of: NowSpan,
): Markup {
  const [builds, stuck] = [Number(counts?.builds ?? 0), Number(counts?.stuck ?? 0)];
  const oldest = agoWords(counts?.oldest, of.now);
  const stuckWords = html`<a href="/projects?state=stuck">${counted(stuck, "stuck build")}</a>
    ${oldest === null ? "" : `, the oldest ${oldest}`}`;
  const body =
    rows.length === 0
      ? renderEmpty({ kind: "none", strong: "None.", say: "Every build that the mirror knows has finished." })
      : html`<ul class="rows">${rows.map((row) => renderOpenBuild(row, of.now))}</ul>
<p class="more">${stuck === 0 ? "None of them is stuck." : stuckWords}</p>`;
  return renderBlock({
    id: "stuck",
    title: "Not finished",
    count: grouped(builds),
    tools: { question },
    body,
  });
}

function renderOpenBuild(row: Row, now: Date): Markup {
  const { kind, word } = outcomeMark(row.outcome);
  const seen = agoWords(row.last_seen_at, now);
  return html`<li><span>${mark(kind, word)} ${buildLink(row.build_id)} ${projectLink(row.project_slug)}</span>
    ${age(row.triggered_at, now)}
    <small>still “${foreign(String(row.state), 24)}” when last seen${seen === null ? "" : `, ${seen} ago`}</small></li>`;
}

/** What was fixed, the newest first; all but some are folded. */
export function renderFixed(
  rows: readonly Row[],
  counts: Row | undefined,
  question: Question,
  of: NowSpan,
): Markup {
  const [series, projects] = [Number(counts?.series ?? 0), Number(counts?.projects ?? 0)];
  const list = (shown: readonly Row[]) =>
    html`<ul class="rows">${shown.map((row) => renderFixedSeries(row, of.now))}</ul>`;
  const rest = rows.slice(MOST_FIXED);
  const body =
    rows.length === 0
      ? renderEmpty({
          kind: "unknown",
          strong: "None yet.",
          say: `Nothing that failed has succeeded again in the ${of.words}.`,
        })
      : html`${list(rows.slice(0, MOST_FIXED))}${
          rest.length === 0
            ? ""
            : html`<details class="fold"><summary>${grouped(series - MOST_FIXED)} more that were fixed</summary>${list(rest)}</details>`
        }`;
  return renderBlock({
    id: "fixed",
    title: `Fixed, ${of.short}`,
    count: grouped(projects),
    tools: { question },
    body,
  });
}

function renderFixedSeries(row: Row, now: Date): Markup {
  const lasted = momentMs(row.recovered_at) - momentMs(row.failed_at);
  const failed = Number.isNaN(lasted) ? "" : ` for ${span(Math.max(0, lasted))}`;
  return html`<li><span>${mark("good", "fixed")} ${projectLink(row.project_slug)} ${targetTag(row)}</span>
    ${age(row.recovered_at, now)}
    <small>failed${failed}: ${kindLabel(row.error_class)} · ${buildLink(row.recovered_build_id)}</small></li>`;
}
