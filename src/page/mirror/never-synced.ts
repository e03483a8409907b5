import { programName } from "../../base/config/program.ts";
import { grouped } from "../../base/text.ts";
import { RESOURCES } from "../../resources/resources.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { momentMs, momentTag } from "../parts/age.ts";
import { renderBlock } from "../parts/block.ts";
import { type Address, type Draft, tabAt } from "../parts/document.ts";
import { countWord, html, type Markup, shorten } from "../parts/html.ts";
import type { Freshness } from "../parts/page-moment.ts";
import { renderVerdict } from "../parts/verdict.ts";
import {
  drawFirstSync,
  findSyncProgress,
  hasProjects,
  RENEW_SECONDS,
  renderFirstNames,
  type SyncProgress,
} from "./first-sync.ts";

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

/** What every page of figures shows before its lists were read once: how far that is, what is missing, or how to begin. */
export async function drawNeverSynced(
  tx: TransactionSql,
  freshness: Freshness,
  address: Address,
): Promise<Draft> {
  const draft = await drawReason(tx, freshness, address);
  return { ...draft, facts: { ...draft.facts, tab: tabAt(address.path) } };
}

async function drawReason(tx: TransactionSql, freshness: Freshness, address: Address): Promise<Draft> {
  const sync = await findSyncProgress(tx);
  if (sync?.status === "running") {
    const isNames = address.path === "/projects" && hasProjects(sync);
    return drawFirstSync(sync, address, isNames ? await renderFirstNames(tx) : "");
  }
  if (freshness.asOf !== null) return drawComputing(sync, address);
  const readsBuilds = sync?.lists.some(({ resource }) => resource === "build") ?? true;
  if (!readsBuilds && freshness.unread.length < RESOURCES.length) return drawPartialMirror(freshness);
  const [sentence, goesOn] =
    sync === null
      ? [
          "Nothing is known yet: no sync has read the list of builds.",
          "The first sync of 100,000 records takes some four minutes.",
        ]
      : [
          "The first sync ended before the list of builds was whole.",
          "The next sync goes on where that one stopped.",
        ];
  const evidence = `So this page says neither that builds succeed nor that they fail. ${goesOn}`;
  const main = html`${renderVerdict({ look: sync === null ? "idle" : "warn", sentence, evidence })}
${renderBlock({
  id: "begin",
  title: sync === null ? "To begin" : "To go on",
  body: renderSteps(),
})}
${renderBlock({
  id: "state",
  title: "What the mirror has done",
  body: html`<p class="empty">The database answers and its schema is up to date. ${renderEnd(sync, address.now)}
    ${" "}<a href="/mirror">Mirror</a> shows the runs.</p>`,
})}`;
  return { status: 200, facts: { title: "No data yet", main } };
}

/** The lists are read, and the answers are not computed. That takes seconds after a sync, and is done with it. */
function drawComputing(sync: SyncProgress | null, { now, renews }: Address): Draft {
  const isLate = now.getTime() - momentMs(sync?.finishedAt) > COMPUTED_WITHIN_MS;
  const main = renderVerdict({
    look: isLate ? "warn" : "idle",
    ...(!isLate && { mark: { kind: "run", word: "Under way" } }),
    sentence: isLate
      ? "The lists are read, but the figures have not been computed."
      : "The lists are read; the figures are being computed.",
    evidence: html`So this page says neither that builds succeed nor that they fail.
      ${isLate ? html`<code>docmirror report</code> computes them now.` : "It renews itself until they are there."}`,
  });
  const facts = { title: "Figures not computed yet", main };
  return { status: 200, facts, ...(renews && !isLate && { renewSeconds: RENEW_SECONDS }) };
}

function renderEnd(sync: SyncProgress | null, now: Date): Markup {
  if (sync === null) return html`<strong>No sync has begun.</strong>`;
  const { runId, status, finishedAt, records } = sync;
  const error = sync.error === null ? "" : `: ${shorten(sync.error, 200)}`;
  return html`<strong>Run ${runId} ended at ${momentTag(finishedAt, now)}, ${status}</strong>${error}. It had read ${grouped(records)} records.`;
}

/** What the builds are of. Without it they could not be read. */
const BUILDS_NEED = ["version", "build"];

/** What a page of builds shows where syncs were told to leave the builds out: what is missing, and how to add it. */
function drawPartialMirror(freshness: Freshness): Draft {
  const held = RESOURCES.filter((resource) => !freshness.unread.includes(resource));
  const unread = RESOURCES.filter((resource) => freshness.unread.includes(resource));
  const needed = unread.filter((resource) => BUILDS_NEED.includes(resource));
  const main = html`${renderVerdict({
    look: "idle",
    sentence: `This mirror holds ${listWords(held)}, but not builds.`,
    evidence: html`So nothing here tells whether docs build: its syncs have read ${countWord(held.length)} of the
      ${countWord(RESOURCES.length)} lists.${held.includes("project") ? html` <a href="/projects">Projects</a> can be looked up by name.` : ""}
      ${" "}<a href="/mirror">Mirror</a> shows how fresh they are.`,
  })}
${renderBlock({
  id: "add",
  title: "To add the rest",
  body: html`<ul class="either">
${renderWay(html`<strong>Read all that is missing:</strong>`, unread)}
${needed.length === unread.length ? "" : renderWay(html`<strong>Or only what this page needs:</strong>`, needed)}
</ul>`,
})}`;
  return { status: 200, facts: { title: "No builds in this mirror", main } };
}

const renderWay = (does: Markup, lists: readonly string[]): Markup =>
  renderStep(html`${does} ${listWords(lists)}`, `sync --resource ${lists.join(",")}`);

const listWords = (resources: readonly string[]): string =>
  resources
    .map((resource) => `${resource}s`)
    .join(", ")
    .replace(/, (?=\w+$)/, " and ");
