import { counted } from "../../base/text.ts";
import { clockWords, momentMs, when } from "../parts/age.ts";
import { renderBlock } from "../parts/block.ts";
import { keyEntry, renderKey } from "../parts/charts/key.ts";
import { levelLine, uprightLine } from "../parts/charts/plot.ts";
import { timeAxis } from "../parts/charts/time-axis.ts";
import { html } from "../parts/html.ts";
import type { Offer } from "../parts/offers.ts";
import type { Row } from "../parts/row.ts";
import type { Markup } from "../parts/words.ts";

const [SYNC_Y, WATCH_Y, HEIGHT] = [20, 56, 72];
const SPAN_MS = 25 * 3_600_000;
/** Beyond the moment of now, so that what happened right then is not cut. */
const AHEAD_MS = 35 * 60_000;
/** A watch looks once a minute. */
const GAP_MS = 300_000;
const TICK = "M-3.6 .2l2.6 2.6 4.8-5.2";
const CROSS = "M-3 -3l6 6M3 -3l-6 6";

/** When the mirror looked at the service in the last day: syncs, and spells of the watch. */
export function renderLooks(groups: readonly Row[], tools: Offer, now: Date): Markup {
  const since = now.getTime() - SPAN_MS;
  const lately = groups.filter(({ ended_at }) => momentMs(ended_at) > since).toReversed();
  const [syncs, spells] = [lately.filter((row) => !isWatch(row)), lately.filter(isWatch)];
  const axis = timeAxis(since, now.getTime() + AHEAD_MS, now);
  const last = spells.length === 0 ? since : Math.max(...spells.map(({ ended_at }) => momentMs(ended_at)));
  const isUnwatched = now.getTime() - last > GAP_MS;
  const rounds = spells.reduce((sum, { runs }) => sum + Number(runs), 0);
  const failed = syncs.filter((row) => !isWell(row)).length;
  const running = syncs.filter(isRunning).length;
  const badWords = `${failed > 0 ? `, ${failed} of them not successful` : ""}${running > 0 ? `, ${running} of them under way` : ""}`;
  const noneWords = isUnwatched ? `; none since ${spells.length === 0 ? "then" : clockWords(last)}` : "";
  const watchWords = `${counted(rounds, "round")} of the watch in ${counted(spells.length, "spell")}`;
  const told = `In the last 24 hours: ${counted(syncs.length, "sync")}${badWords}, and ${watchWords}${noneWords}.`;
  const noLook = (from: number) => html`<rect fill="url(#hatch)" x="${axis.x(from)}"
    width="${(axis.at(now.getTime()) - axis.at(from)).toFixed(2)}%" y="${WATCH_Y - 5}" height="10"/>`;
  return renderBlock({
    id: "looks",
    title: "When the mirror looked",
    count: "24 hours",
    tools,
    body: html`<div class="life">
      <svg width="104" height="${HEIGHT + 24}" aria-hidden="true">
      <text class="strong" x="0" y="${SYNC_Y + 4}">Syncs</text>
      <text class="strong" x="0" y="${WATCH_Y + 4}">Watch</text></svg>
      <svg class="mini" height="${HEIGHT + 24}" role="img" aria-label="${told}">
${axis.draw(HEIGHT)}
${levelLine(SYNC_Y)}${levelLine(WATCH_Y)}
${syncs.map((row) => drawSync(row, axis.x(momentMs(row.started_at)), now))}
${spells.map((row) => drawSpell(row, axis.at(momentMs(row.started_at)), axis.at(momentMs(row.ended_at))))}
${isUnwatched ? noLook(last) : ""}
${uprightLine(axis.x(now.getTime()), HEIGHT)}<text class="end" x="100%" y="${HEIGHT + 18}">now</text>
</svg></div>
${renderKey(keyOf(syncs, isUnwatched))}`,
  });
}

const isWatch = ({ kind }: Row): boolean => kind === "watch";
const isRunning = ({ status }: Row): boolean => status === "running";
const isWell = (row: Row): boolean => row.status === "succeeded" || isRunning(row);

function drawSync(row: Row, x: string, now: Date): Markup {
  const at = momentMs(row.started_at);
  const title = `${String(row.kind)}, ${Number.isNaN(at) ? "at an unknown time" : when(at, now)}: ${String(row.status)}`;
  if (isRunning(row)) return html`<g><title>${title}</title>${drawRun(x, SYNC_Y)}</g>`;
  const shape = isWell(row)
    ? html`<circle class="m-good" cx="${x}" cy="${SYNC_Y}" r="9"/>`
    : html`<svg x="${x}" y="${SYNC_Y}" overflow="visible"><rect class="m-bad" x="-9" y="-9" width="18" height="18" rx="4"/></svg>`;
  return html`<g><title>${title}</title>${shape}
    <svg x="${x}" y="${SYNC_Y}" overflow="visible">
    <path class="tickmark" d="${isWell(row) ? TICK : CROSS}"/></svg></g>`;
}

/** A sync that is under way has not succeeded yet: a ring. */
const drawRun = (x: string | number, y: number): Markup =>
  html`<circle class="m-open" cx="${x}" cy="${y}" r="7"/>`;

function drawSpell(row: Row, from: number, to: number): Markup {
  const bad = Number(row.troubled) > 0;
  const [first, last] = [clockWords(momentMs(row.started_at)), clockWords(momentMs(row.ended_at))];
  const badWords = bad ? `, ${String(row.troubled)} not successful` : "";
  const title = `${counted(Number(row.runs), "round")}, ${first} to ${last}${badWords}`;
  return html`<g><title>${title}</title>
    <rect class="m-good" x="${from.toFixed(2)}%" width="${Math.max(0.4, to - from).toFixed(2)}%"
    y="${WATCH_Y - 7}" height="14" rx="2"/></g>`;
}

function keyOf(syncs: readonly Row[], isUnwatched: boolean): (Markup | string)[] {
  const sign = (path: string) => html`<path class="tickmark" transform="translate(9 9)" d="${path}"/>`;
  const square = html`<rect class="m-bad" width="18" height="18" rx="4"/>`;
  const look = html`<rect class="m-good" width="22" height="12" rx="2"/>`;
  const round = html`<circle class="m-good" cx="9" cy="9" r="8"/>${sign(TICK)}`;
  const has = (is: (row: Row) => boolean) => syncs.some(is);
  return [
    has(({ status }) => status === "succeeded") ? keyEntry([18, 18], round, "sync that succeeded") : "",
    has((row) => !isWell(row)) ? keyEntry([18, 18], html`${square}${sign(CROSS)}`, "sync that did not") : "",
    has(isRunning) ? keyEntry([18, 18], drawRun(9, 9), "sync under way") : "",
    keyEntry([22, 12], look, "a look at the builds each minute"),
    isUnwatched ? keyEntry([22, 10], html`<rect fill="url(#hatch)" width="22" height="10"/>`, "no look") : "",
  ];
}
