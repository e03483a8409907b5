import { counted, grouped } from "../../base/text.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { agoWords } from "../parts/age.ts";
import { askEach } from "../parts/ask-all.ts";
import type { Address, Draft, Drawing } from "../parts/drawing.ts";
import { html } from "../parts/html.ts";
import { mark } from "../parts/mark.ts";
import { offerFiles } from "../parts/offers.ts";
import type { PageMoment } from "../parts/page-moment.ts";
import type { Row } from "../parts/row.ts";
import { renderFigures, renderVerdict } from "../parts/verdict-bar.ts";
import type { Markup } from "../parts/words.ts";
import { renderLists, renderRuns } from "./mirror-lists.ts";
import { renderLooks } from "./mirror-looks.ts";
import { MIRROR_FILES, mirrorBlocks, mirrorQuestions } from "./mirror-questions.ts";
import { renderChanges, renderQuarantine, renderReferences, renderWalks } from "./mirror-trust.ts";
import { judgeMirror, type MirrorVerdict } from "./mirror-words.ts";
import { drawNeverSynced } from "./never-synced.ts";

/** The page of the mirror: whether the rest can be trusted. */
export function mirrorPage(address: Address): Drawing {
  return {
    key: ["mirror"],
    needs: [],
    draw: (tx, moment) => draw(tx, moment, address),
    files: {
      parameters: MIRROR_FILES,
      ask: async (_tx, { now }) => mirrorBlocks(mirrorQuestions(now), now),
    },
  };
}

async function draw(tx: TransactionSql, { now, freshness }: PageMoment, address: Address): Promise<Draft> {
  const questions = mirrorQuestions(now);
  const answers = await askEach(tx, questions);
  const { lists, runs, walks, references, quarantine, changes } = answers;
  const [counts] = answers.counts;
  const total = Number(counts?.runs ?? 0);
  const offers = offerFiles("mirror", {}, mirrorBlocks(questions, now), MIRROR_FILES);
  const done = html`${renderLooks(runs, offers.looks, now)}
${renderLists(lists, offers.lists, freshness, now)}
${renderRuns(runs, total, offers.runs, now)}`;
  const lacks = html`<div class="pair">
<div class="col">
${renderWalks(walks, counts, offers.walks, now)}
${renderReferences(references, offers.references, now)}
</div>
<div class="col">
${renderQuarantine(quarantine, offers.quarantine, total, now)}
${renderChanges(changes, offers.drift, now)}
</div>
</div>`;
  if (freshness.uncounted.includes("build")) {
    const never = await drawNeverSynced(tx, freshness, address);
    const main = html`${never.facts.main}${total === 0 ? "" : html`${done}${lacks}`}`;
    return { ...never, facts: { ...never.facts, main } };
  }
  const watch = runs.find(({ kind }) => kind === "watch");
  const sync = runs.find(({ kind, status }) => kind !== "watch" && status !== "running");
  const verdict = judgeMirror({ freshness, lists, watch, muted: answers.muted, now });
  const main = html`${renderMirrorVerdict(verdict, renderMirrorFigures(answers, sync, now))}
${done}
${lacks}`;
  return { status: 200, facts: { title: verdict.title, tone: verdict.tone, tab: "/mirror", main } };
}

function renderMirrorVerdict({ look, sentence, notes, cautions }: MirrorVerdict, figures: Markup): Markup {
  return renderVerdict({
    look,
    ...(look === "good" && { mark: { kind: "good", word: "Current" } }),
    sentence,
    evidence: html`${cautions.map((caution) => html`${mark("warn", "Look here")} ${withCode(caution)} `)}${notes.join(" ")}`,
    figures,
  });
}

/** Words between backticks as code. */
function withCode(text: string): Markup {
  return html`${text.split("`").map((part, place) => (place % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}

type Answers = Readonly<Record<keyof ReturnType<typeof mirrorQuestions>, readonly Row[]>>;

function renderMirrorFigures(answers: Answers, sync: Row | undefined, now: Date): Markup {
  const sum = (rows: readonly Row[], name: string) =>
    rows.reduce((all, row) => all + Number(row[name] ?? 0), 0);
  const stored = sum(answers.quarantine, "records");
  const broken = sum(answers.references, "broken");
  const ago = agoWords(sync?.started_at, now);
  return renderFigures(
    [
      {
        label: "Records",
        value: grouped(sum(answers.lists, "records")),
        note: `${grouped(sum(answers.lists, "deleted_records"))} more are gone upstream`,
      },
      {
        label: "Could not be stored",
        value: grouped(stored),
        note: html`<a href="#quarantine">${stored === 0 ? "none waits in quarantine" : "wait in quarantine"}</a>`,
      },
      {
        label: "Broken references",
        value: grouped(broken),
        note: html`<a href="#references">${referenceWords(answers.references)}</a>`,
      },
      {
        label: "Last sync",
        labelRest: ago === null ? "" : `, ${ago} ago`,
        value: sync === undefined ? "–" : grouped(Number(sync.requests)),
        ...(sync !== undefined && { unit: Number(sync.requests) === 1 ? "request" : "requests" }),
        note:
          sync === undefined
            ? "none is known"
            : `${grouped(Number(sync.inserted))} new, ${grouped(Number(sync.updated))} changed, ${grouped(Number(sync.deleted))} gone`,
      },
    ],
    true,
  );
}

function referenceWords(rows: readonly Row[]): string {
  if (rows.length === 0) return "all lead to records";
  const [first] = rows;
  const target = first?.target_resource;
  if (rows.every((row) => row.status === "gone" && row.target_resource === target) && target !== null)
    return `all to ${String(target)}s that are gone`;
  const pending = rows
    .filter(({ status }) => status === "pending")
    .reduce((all, { broken }) => all + Number(broken), 0);
  return pending === 0 ? counted(rows.length, "kind") : `${grouped(pending)} not asked for yet`;
}
