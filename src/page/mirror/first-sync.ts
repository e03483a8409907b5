import { counted, grouped } from "../../base/text.ts";
import { clockWords, momentMs, span } from "../parts/age.ts";
import { renderBlock } from "../parts/block.ts";
import type { Address, Draft } from "../parts/drawing.ts";
import { html } from "../parts/html.ts";
import { mark } from "../parts/mark.ts";
import { renderVerdict } from "../parts/verdict-bar.ts";
import { countWord, type Markup } from "../parts/words.ts";
import type { ListProgress, SyncProgress } from "./first-sync-facts.ts";

/** How often a page asks again while a sync or what follows it is under way. */
export const RENEW_SECONDS = 15;
/** A page comes every few seconds. A service that asks for a longer pause is worth a look. */
const SILENT_MS = 120_000;

/** What every page of figures shows while the first sync reads the builds: how far it is, and the names of the projects where there are some. */
export function drawFirstSync(
  sync: SyncProgress,
  address: Pick<Address, "path" | "renews">,
  names: Markup | "",
): Draft {
  const share = shareOf(sync);
  const isSilent = sync.silentMs > SILENT_MS;
  const sentence = isSilent
    ? html`First sync: nothing has come for ${span(sync.silentMs)}; ${doneWords(sync, share)}.`
    : html`First sync: ${doneWords(sync, share)}${leftWords(sync)}.`;
  const began = clockWords(momentMs(sync.startedAt));
  const main = html`${renderVerdict({
    look: isSilent ? "warn" : "idle",
    ...(!isSilent && { mark: { kind: "run", word: "Under way" } }),
    sentence,
    evidence: html`Until the list of builds is whole this page says neither that builds succeed nor that they fail. Run
      ${sync.runId} began at ${began}${
        isSilent
          ? html`. The service may have asked for a pause, or the process is gone: <code>docmirror sync</code>
            goes on where it stopped, and says so if it is still running`
          : "; nothing has gone wrong so far"
      }.`,
    figures: renderWhole(sync),
  })}
<div class="cols">
<div class="col">
${renderBlock({
  id: "progress",
  title: sync.lists.length < 2 ? "The lists" : `The ${countWord(sync.lists.length)} lists`,
  body: html`${renderLists(sync)}${renderRenewal(address)}`,
})}
${names}
</div>
<aside class="col rail" aria-label="More about the first sync">
${renderBlock({ id: "soon", title: "What appears when", body: renderSoon(sync) })}
</aside>
</div>`;
  const words = share === null ? "under way" : `${share}\u00a0%`;
  const age = html`<a class="fresh ${isSilent ? "warn" : "idle"}" href="/mirror">
${mark(isSilent ? "warn" : "run", "under way")}<span><b>First sync</b> <small>${words}</small></span></a>`;
  const title = share === null ? "The first sync is under way" : `${share} % of the first sync`;
  return {
    status: 200,
    facts: { title, main, age },
    ...(address.renews && { renewSeconds: RENEW_SECONDS }),
  };
}

/** Whole percent, never all of it while the run goes on. */
function shareOf({ records, total }: SyncProgress): number | null {
  return total === null || total === 0 ? null : Math.min(99, Math.floor((100 * records) / total));
}

function doneWords({ lists, records }: SyncProgress, share: number | null): string {
  if (lists.length === 0) return "it has just begun";
  const read = lists.filter(({ walk }) => walk !== null).length;
  if (read === lists.length) return "all lists are read, and their references are followed";
  const much = share === null ? `${counted(records, "record")} so far` : `${share}\u00a0% of all records`;
  return `${read} of ${counted(lists.length, "list")} ${read === 1 ? "is" : "are"} read, ${much}`;
}

function leftWords({ secondsLeft, lists }: SyncProgress): string {
  const isReading = lists.some(({ walk }) => walk === null);
  return secondsLeft === null || !isReading ? "" : `; about ${shortSpan(secondsLeft)} left`;
}

/** Rounded up, because a promise that is too short is broken in front of the reader. */
function shortSpan(seconds: number): string {
  if (seconds <= 55) return `${Math.max(5, 5 * Math.ceil(seconds / 5))}\u00a0s`;
  return seconds <= 5400 ? `${Math.ceil(seconds / 60)}\u00a0min` : `${Math.ceil(seconds / 3600)}\u00a0h`;
}

function renderWhole({ records, total, recordsPerSecond }: SyncProgress): Markup {
  const pace = recordsPerSecond === null ? "" : `, some ${grouped(Math.round(recordsPerSecond))} a second`;
  if (total === null)
    return html`<div class="whole"><span>${counted(records, "record")}${pace}.
      The service has not said yet how many there are.</span></div>`;
  return html`<div class="whole">${renderBar("All lists", records, total)}<span>${grouped(records)} of ${counted(total, "record")}${pace}.
    The totals are the service’s own counts.</span></div>`;
}

function renderBar(name: string, records: number, total: number): Markup {
  const label = `${name}: ${grouped(records)} of ${grouped(total)} read`;
  // An empty list is read at once.
  return html`<progress value="${total === 0 ? 1 : Math.min(records, total)}" max="${Math.max(1, total)}" aria-label="${label}"></progress>`;
}

function renderLists({ lists }: SyncProgress): Markup {
  if (lists.length === 0) return html`<p class="empty">The service is being asked which lists it has.</p>`;
  return html`<ul class="loads">${lists.map(renderList)}</ul>`;
}

function renderList(list: ListProgress): Markup {
  const { resource, records, total } = list;
  const name = nameOf(resource);
  const count = total === null ? grouped(records) : `${grouped(records)} of ${grouped(total)}`;
  const { sign, words } = stateOf(list);
  const bar = total === null ? html`<span></span>` : renderBar(name, records, total);
  return html`<li>${sign} <b>${name}</b> ${bar} <span class="n">${count}</span> <small class="quiet">${words}</small></li>
`;
}

function stateOf({ walk, records, seconds, secondsLeft }: ListProgress): { sign: Markup; words: string } {
  if (walk === "whole" || walk === "head")
    return {
      sign: mark("good", "read"),
      words: `read in ${seconds < 60 ? `${Math.max(1, Math.round(seconds))}\u00a0s` : span(1000 * seconds)}`,
    };
  if (walk !== null) return { sign: mark("warn", "not whole"), words: "not read to its end" };
  if (records === 0) return { sign: waits(), words: "waits for its first page" };
  const words = secondsLeft === null ? "being read" : `about ${shortSpan(secondsLeft)} left`;
  return { sign: mark("run", "being read"), words };
}

const waits = (): Markup => html`<span class="st idle"><span class="unseen">waits</span></span>`;

const nameOf = (resource: string): string => `${resource.charAt(0).toUpperCase()}${resource.slice(1)}s`;

function renderRenewal({ path, renews }: Pick<Address, "path" | "renews">): Markup {
  const still = `${path}?renew=no`;
  return renews
    ? html`<p class="more">This page renews itself every ${RENEW_SECONDS}\u00a0s until the builds are read.
      <a href="${still}">Stop that</a> · <a href="${path}">Renew now</a></p>`
    : html`<p class="more">This page stays as it is. <a href="${still}">Renew now</a> ·
      <a href="${path}">Renew every ${RENEW_SECONDS}\u00a0s</a></p>`;
}

/** Whether the names of all projects are stored. */
export const hasProjects = ({ lists }: SyncProgress): boolean =>
  lists.some(({ resource, walk }) => resource === "project" && walk === "whole");

function renderSoon(sync: SyncProgress): Markup {
  const { lists, secondsLeft } = sync;
  const left = secondsLeft === null ? "" : shortSpan(secondsLeft);
  const readsBuilds = lists.length === 0 || lists.some(({ resource }) => resource === "build");
  const rows: { what: Markup | string; at: string; note: string; isThere?: true }[] = [
    {
      what: html`<a href="/mirror">Mirror</a>`,
      at: "now",
      note: "the run, its pages and its faults",
      isThere: true,
    },
    hasProjects(sync)
      ? {
          what: html`<a href="/projects">Projects</a>`,
          at: "now",
          note: "their names; their states are not known yet",
          isThere: true,
        }
      : { what: "Projects", at: left, note: "when their list is read" },
    {
      what: "Now, Trends, Errors",
      at: readsBuilds ? left : "",
      note: readsBuilds ? "with the whole list of builds" : "not yet: this sync does not read builds",
    },
    { what: "What is usual", at: readsBuilds ? left : "", note: "if the list reaches back 28 days" },
  ];
  return html`<ul class="rows">${rows.map(
    ({ what, at, note, isThere }) =>
      html`<li><span>${isThere ? mark("good", "there") : waits()} ${what}</span><span class="n">${at}</span><small>${note}</small></li>
`,
  )}</ul>`;
}
