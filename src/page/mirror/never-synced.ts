import { programName } from "../../base/config/program.ts";
import { counted, grouped } from "../../base/text.ts";
import { RESOURCES } from "../../resources/resources.ts";
import { statement, type TransactionSql } from "../../store/connection/sql.ts";
import { renderBlock } from "../parts/block.ts";
import { type Address, type Draft, tabAt, type Verdict } from "../parts/document.ts";
import type { Freshness } from "../parts/freshness.ts";
import { countWord, html, type Markup, shorten } from "../parts/html.ts";
import { mark, momentMs, momentTag, span, when } from "../parts/marks.ts";
import { renderRows } from "../parts/tables.ts";

/** The figures of the largest mirrors take a minute or two. */
const COMPUTED_WITHIN_MS = 300_000;

function renderStep(does: Markup, words: string): Markup {
  const command = `${programName()} ${words}`;
  return html`<li><div>${does}<pre tabindex="0" role="region" aria-label="Command: ${command}">${command}</pre></div></li>`;
}

const renderSteps = () => html`<ol class="steps">
  ${renderStep(html`<strong>See whether all is in order</strong>`, "doctor")}
${renderStep(html`<strong>Read the lists once</strong>`, "sync")}
${renderStep(html`<strong>Keep it fresh:</strong> a sync every night, a look at the builds every minute`, "worker")}
</ol>`;

/** A page of figures before its lists were read once: it shows how far that is, which lists are missing, or how to begin. */
export const drawNeverSynced = async (
  tx: TransactionSql,
  freshness: Freshness,
  address: Address,
): Promise<Draft> => ({ ...(await drawReason(tx, freshness, address)), tab: tabAt(address.path) });

async function drawReason(tx: TransactionSql, freshness: Freshness, address: Address): Promise<Draft> {
  const [sync = null] = await SYNC_PROGRESS(tx, { resources: [...RESOURCES] });
  if (sync?.status === "running") {
    const isNames = address.path === "/projects" && hasProjects(sync);
    return drawFirstSync(sync, address, isNames ? await renderFirstNames(tx) : "");
  }
  if (freshness.asOf !== null) return drawComputing(sync, freshness, address);
  const readsBuilds = sync?.lists.some(({ resource }) => resource === "build") ?? true;
  if (!readsBuilds && freshness.unread.length < RESOURCES.length) return drawPartialMirror(freshness);
  const verdict: Verdict = {
    title: "No data yet",
    tone: "idle",
    ...(sync === null
      ? {
          look: "idle",
          sentence: "Nothing is known yet: no sync has read the list of builds.",
          evidence: `${NEITHER} The first sync of 100,000 records takes some four minutes.`,
        }
      : {
          look: "warn",
          sentence: "The first sync ended before the list of builds was whole.",
          evidence: `${NEITHER} The next sync goes on where that one stopped.`,
        }),
  };
  const main = html`
${renderBlock({ id: "begin", title: sync === null ? "To begin" : "To go on", body: renderSteps() })}
${renderBlock({
  id: "state",
  title: "What the mirror has done",
  body: html`<p class="empty">The database answers and its schema is up to date. ${renderEnd(sync, address.now)}
    ${" "}<a href="/mirror">Mirror</a> shows the runs.</p>`,
})}`;
  return { verdict, main };
}

const NEITHER = "So this page says neither that builds succeed nor that they fail.";

/** Something is under way, or `isLate` and should be looked at. That says nothing of builds, so the icon of the window stays. */
const underWay = (isLate: boolean) =>
  isLate
    ? ({ look: "warn", tone: "idle" } as const)
    : ({ look: "idle", mark: ["run", "Under way"] } as const);

/** The lists are read, and the answers are not computed. That takes seconds after a sync, and is done with it, unless it fails. */
function drawComputing(sync: SyncProgress | null, { failedAt }: Freshness, { now, renews }: Address): Draft {
  const isLate = now.getTime() - momentMs(sync?.finishedAt) > COMPUTED_WITHIN_MS;
  const isUnderWay = failedAt === null && !isLate;
  const [sentence, then] =
    failedAt !== null
      ? [
          "The lists are read, but the figures could not be computed.",
          html`The last try failed at ${momentTag(failedAt, now)}; <code>docmirror doctor</code> says why.`,
        ]
      : isLate
        ? [
            "The lists are read, but the figures have not been computed.",
            html`<code>docmirror report</code> computes them now.`,
          ]
        : [
            "The lists are read; the figures are being computed.",
            "This page renews itself until they are there.",
          ];
  const verdict: Verdict = {
    title: "Figures not computed yet",
    ...underWay(!isUnderWay),
    sentence,
    evidence: html`${NEITHER} ${then}`,
  };
  return { verdict, renewSeconds: renews && isUnderWay ? RENEW_SECONDS : undefined };
}

function renderEnd(sync: SyncProgress | null, now: Date): Markup {
  if (sync === null) return html`<strong>No sync has begun.</strong>`;
  const { runId, status, finishedAt, records } = sync;
  const error = sync.error === null ? "" : `: ${shorten(sync.error, 200)}`;
  return html`<strong>Run ${runId} ended at ${momentTag(finishedAt, now)}, ${status}</strong>${error}. It had read ${grouped(records)} records.`;
}

/** Builds are of versions: without these they could not be read. */
const BUILDS_NEED = ["version", "build"];

/** A page of builds where syncs were told to leave the builds out: it shows which lists are missing, and how to add them. */
function drawPartialMirror(freshness: Freshness): Draft {
  const held = RESOURCES.filter((resource) => !freshness.unread.includes(resource));
  const unread = RESOURCES.filter((resource) => freshness.unread.includes(resource));
  const needed = unread.filter((resource) => BUILDS_NEED.includes(resource));
  const verdict: Verdict = {
    title: "No builds in this mirror",
    look: "idle",
    sentence: `This mirror holds ${listWords(held)}, but not builds.`,
    evidence: html`So nothing here tells whether docs build: its syncs have read ${countWord(held.length)} of the
      ${countWord(RESOURCES.length)} lists.${held.includes("project") && html` <a href="/projects">Projects</a> can be looked up by name.`}
      ${" "}<a href="/mirror">Mirror</a> shows how fresh they are.`,
  };
  const main = html`
${renderBlock({
  id: "add",
  title: "To add the rest",
  body: html`<ul class="either">
${renderWay(html`<strong>Read all that is missing:</strong>`, unread)}
${needed.length < unread.length && renderWay(html`<strong>Or only what this page needs:</strong>`, needed)}
</ul>`,
})}`;
  return { verdict, main };
}

const renderWay = (does: Markup, lists: readonly string[]): Markup =>
  renderStep(html`${does} ${listWords(lists)}`, `sync --resource ${lists.join(",")}`);

const listWords = (resources: readonly string[]): string =>
  resources
    .map((resource) => `${resource}s`)
    .join(", ")
    .replace(/, (?=\w+$)/, " and ");

/** A page asks again so often while a sync or what follows it is under way. */
const RENEW_SECONDS = 15;
/** A page comes every few seconds. A service that asks for a longer pause is worth a look. */
const SILENT_MS = 120_000;

/** A page of figures while the first sync reads the builds: it shows how far that is, and the names of projects, if there are any. */
function drawFirstSync(sync: SyncProgress, address: Address, names: Markup | ""): Draft {
  const share = shareOf(sync);
  const isSilent = sync.silentMs > SILENT_MS;
  const sentence = isSilent
    ? html`First sync: nothing has come for ${span(sync.silentMs)}; ${doneWords(sync, share)}.`
    : html`First sync: ${doneWords(sync, share)}${leftWords(sync)}.`;
  const began = when(sync.startedAt, address.now);
  const verdict: Verdict = {
    title: share === null ? "The first sync is under way" : `${share} % of the first sync`,
    ...underWay(isSilent),
    sentence,
    evidence: html`Until the list of builds is whole this page says neither that builds succeed nor that they fail. Run
      ${sync.runId} began at ${began}${
        isSilent
          ? html`. The service may have asked for a pause, or the process is gone: <code>docmirror sync</code>
            goes on where it stopped, and says so if it is still running`
          : "; nothing has gone wrong so far"
      }. ${
        hasProjects(sync)
          ? html`<a href="/projects">Projects</a> has the names of all projects`
          : html`<a href="/mirror">Mirror</a> shows the run`
      } already.`,
  };
  const main = html`
${renderBlock({
  id: "progress",
  title: sync.lists.length < 2 ? "The lists" : `The ${countWord(sync.lists.length)} lists`,
  note: doneNote(sync),
  body: html`${
    sync.lists.length === 0
      ? html`<p class="empty">The service is being asked which lists it has.</p>`
      : html`<ul class="loads">${sync.lists.map(renderList)}</ul>`
  }${renderRenewal(address)}`,
})}
${names}`;
  const words = share === null ? "under way" : `${share}\u00a0%`;
  const age = html`<a class="fresh ${isSilent ? "warn" : "idle"}" href="/mirror">
${mark(isSilent ? "warn" : "run", "under way")}<span><b>First sync</b> <small>${words}</small></span></a>`;
  return { verdict, main, age, renewSeconds: address.renews ? RENEW_SECONDS : undefined };
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

function doneNote({ records, total, recordsPerSecond }: SyncProgress): string {
  const pace = recordsPerSecond === null ? "" : `, some ${grouped(Math.round(recordsPerSecond))} a second`;
  return total === null
    ? `${counted(records, "record")}${pace}. The service has not said yet how many there are.`
    : `${grouped(records)} of ${counted(total, "record")}${pace}. The totals are the service’s own counts.`;
}

function renderBar(name: string, records: number, total: number): Markup {
  const label = `${name}: ${grouped(records)} of ${grouped(total)} read`;
  // An empty list is read at once.
  return html`<progress value="${total === 0 ? 1 : Math.min(records, total)}" max="${Math.max(1, total)}" aria-label="${label}"></progress>`;
}

function renderList(list: ListProgress): Markup {
  const { resource, records, total } = list;
  const name = listName(resource);
  const [sign, words] = stateOf(list);
  const [bar, of] =
    total === null ? [html`<span></span>`] : [renderBar(name, records, total), ` of ${grouped(total)}`];
  return html`<li>${sign} <b>${name}</b> ${bar} <span class="n">${grouped(records)}${of}</span> <small class="quiet">${words}</small></li>
`;
}

function stateOf({ walk, records, seconds, secondsLeft }: ListProgress): [sign: Markup, words: string] {
  if (walk === "whole" || walk === "head") {
    const took = seconds < 60 ? `${Math.max(1, Math.round(seconds))}\u00a0s` : span(1000 * seconds);
    return [mark("good", "read"), `read in ${took}`];
  }
  if (walk !== null) return [mark("warn", "not whole"), "not read to its end"];
  if (records === 0)
    return [html`<span class="st idle"><span class="unseen">waits</span></span>`, "waits for its first page"];
  return [
    mark("run", "being read"),
    secondsLeft === null ? "being read" : `about ${shortSpan(secondsLeft)} left`,
  ];
}

/** The list of a resource as a heading: `Builds`. */
export const listName = (resource: string): string =>
  `${resource.charAt(0).toUpperCase()}${resource.slice(1)}s`;

function renderRenewal({ path, renews }: Pick<Address, "path" | "renews">): Markup {
  const still = `${path}?renew=no`;
  return renews
    ? html`<p class="more">This page renews itself every ${RENEW_SECONDS}\u00a0s until the builds are read.
      <a href="${still}">Stop that</a> · <a href="${path}">Renew now</a></p>`
    : html`<p class="more">This page stays as it is. <a href="${still}">Renew now</a> ·
      <a href="${path}">Renew every ${RENEW_SECONDS}\u00a0s</a></p>`;
}

/** The names of all projects are stored. */
const hasProjects = ({ lists }: SyncProgress): boolean =>
  lists.some(({ resource, walk }) => resource === "project" && walk === "whole");

interface ListProgress {
  readonly resource: string;
  readonly records: number;
  /** The service's own count; null where it has not said it. */
  readonly total: number | null;
  /** "whole" where it ended and nothing is missing. Null while it goes on. */
  readonly walk: string | null;
  readonly seconds: number;
  /** Null where that is not known. */
  readonly secondsLeft: number | null;
}

/** The newest sync and its lists, in the order in which they are read. */
interface SyncProgress {
  readonly runId: number;
  readonly status: string;
  readonly startedAt: string;
  readonly finishedAt: string | null;
  readonly error: string | null;
  /** Since the last page of a list that is being read; since its process was heard of, with none. */
  readonly silentMs: number;
  readonly lists: readonly ListProgress[];
  readonly records: number;
  /** All that the service counts; null while it has not said it of each list. */
  readonly total: number | null;
  /** Null where nothing can be said yet. */
  readonly recordsPerSecond: number | null;
  /** Lists are read side by side, so it is that of the slowest. Null where that is not known. */
  readonly secondsLeft: number | null;
}

const SYNC_PROGRESS = statement<SyncProgress>("sync_progress", import.meta.url);
const FIRST_NAMES = statement<{ slug: string; name: string; all: number }>("first_names", import.meta.url);
const MOST_NAMES = 500;

/** The names of the projects that are stored while the first sync still reads builds, so that nobody knows their states. */
async function renderFirstNames(tx: TransactionSql): Promise<Markup> {
  const names = await FIRST_NAMES(tx, { most: MOST_NAMES });
  const all = names[0]?.all ?? 0;
  const shown = all > names.length ? `, of which these are the first ${grouped(names.length)}` : "";
  return renderBlock({
    id: "names",
    title: "The projects",
    body: html`<p class="quiet">${counted(all, "name")}${shown}. Whether their docs build is not known yet.</p>
${renderRows(names.map(({ slug, name }) => ({ name: slug, small: name === slug ? "" : name })))}`,
  });
}
