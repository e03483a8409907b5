import { counted, grouped } from "../../base/text.ts";
import { askFor } from "../../report/ask.ts";
import { agoWords, clockWords, momentMs, span, when } from "../parts/age.ts";
import { type BlockPage, drawBlocks, filesOf, part, type Row } from "../parts/block.ts";
import type { Address, Drawing } from "../parts/document.ts";
import { countWord, html, listsOf, type Markup, shorten } from "../parts/html.ts";
import { mark, type Tone } from "../parts/marks.ts";
import type { Freshness, PageMoment } from "../parts/page-moment.ts";
import { renderFigures, renderVerdict } from "../parts/verdict.ts";
import { lists } from "./lists.ts";
import { drawNeverSynced } from "./never-synced.ts";
import { askForCounts, askForRuns, looks, runs } from "./runs.ts";
import { drift, quarantine, references, walks } from "./trust.ts";

const MIRROR: BlockPage<PageMoment> = {
  name: "mirror",
  layout: [
    looks,
    lists,
    runs,
    [
      [walks, references],
      [quarantine, drift],
    ],
  ],
  kept: () => ({}),
};

const facts = part({
  asks: (moment: PageMoment) => ({
    lists: askFor("freshness"),
    runs: askForRuns(),
    counts: askForCounts(moment),
    muted: askFor("muted_projects"),
    references: askFor("broken_references"),
    quarantine: askFor("quarantine"),
  }),
  draw: (answers) => answers,
});

type Answers = ReturnType<(typeof facts)["draw"]>;

/** The page of the mirror: whether the rest can be trusted. */
export const mirrorPage = (address: Address): Drawing => ({
  key: ["mirror"],
  needs: [],
  files: filesOf(MIRROR, (_tx, moment) => moment),
  async draw(tx, moment) {
    const { now, freshness } = moment;
    const { verdict: answers, draw } = await drawBlocks(tx, MIRROR, facts, moment);
    const blocks = draw();
    if (freshness.uncounted.includes("build")) {
      const never = await drawNeverSynced(tx, freshness, address);
      const hasRuns = Number(answers.counts[0]?.runs ?? 0) > 0;
      return { ...never, facts: { ...never.facts, main: html`${never.facts.main}${hasRuns && blocks}` } };
    }
    const watch = answers.runs.find(({ kind }) => kind === "watch");
    const verdict = judgeMirror({ freshness, lists: answers.lists, watch, muted: answers.muted, now });
    const main = html`${renderMirrorVerdict(verdict, renderMirrorFigures(answers, now))}
${blocks}`;
    return { status: 200, facts: { title: verdict.title, tone: verdict.tone, tab: "/mirror", main } };
  },
});

function renderMirrorVerdict({ look, sentence, notes, cautions }: MirrorVerdict, figures: Markup): Markup {
  return renderVerdict({
    look,
    ...(look === "good" && { mark: { kind: "good", word: "Current" } }),
    sentence,
    evidence: html`${cautions.map((caution) => html`${mark("warn", "Look here")} ${withCode(caution)} `)}${notes.join(" ")}`,
    figures,
  });
}

function withCode(text: string): Markup {
  return html`${text.split("`").map((part, place) => (place % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}

function renderMirrorFigures(answers: Answers, now: Date): Markup {
  const sync = answers.runs.find(({ kind, status }) => kind !== "watch" && status !== "running");
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

interface MirrorVerdict {
  readonly look: "good" | "warn";
  readonly tone: Tone;
  readonly title: string;
  readonly sentence: string;
  /** What is well, or does no harm. */
  readonly notes: readonly string[];
  /** What deserves a look. */
  readonly cautions: readonly string[];
}

const WATCH_LATE_MS = 600_000;
const ERROR_LENGTH = 200;

interface MirrorFacts {
  readonly freshness: Freshness;
  /** The rows of `report.freshness`. */
  readonly lists: readonly Row[];
  /** The newest group of rounds of the watch. */
  readonly watch: Row | undefined;
  /** The projects of which no notice is noted. */
  readonly muted: readonly Row[];
  readonly now: Date;
}

const UNWATCHED =
  "what broke is seen by the next sync only, and how long builds take stays vague. `docmirror worker` does both.";

/** A moment of the last day by the clock, an earlier one with its day. */
const clockOrDay = (ms: number, now: Date): string =>
  now.getTime() - ms < 86_400_000 ? clockWords(ms) : when(ms, now);

/** Judges the mirror. The lists have been read at least once. */
function judgeMirror(facts: MirrorFacts): MirrorVerdict {
  const { freshness, lists, now } = facts;
  const trouble = troubleOf(freshness, lists, now);
  const through = momentMs(lists[0]?.mirror_current_through);
  const isWhole = lists.every(({ last_walk }) => last_walk === "whole");
  const at = Number.isNaN(through)
    ? ""
    : ` ${isWhole ? "at" : "up to"} ${clockOrDay(through, now)} UTC, ${span(now.getTime() - through)} ago`;
  const sentence =
    trouble ??
    `The mirror is current: all ${countWord(lists.length)} lists were read ${isWhole ? "to their end" : "as far as they had changed"}${at}.`;
  return {
    look: trouble === null ? "good" : "warn",
    tone: trouble === null ? "good" : "warn",
    title: trouble === null ? "✓ The mirror is current" : "! Look at the mirror",
    sentence,
    notes: [...notesOf(lists, now), ...mutedNotes(facts)],
    cautions: cautionsOf(facts),
  };
}

function troubleOf({ asOf, unread, overdue }: Freshness, lists: readonly Row[], now: Date): string | null {
  if (asOf !== null && Number.isNaN(asOf.getTime()))
    return "Not current: a wrong clock hides when the builds were last read.";
  if (unread.length > 0) return `Not whole: no sync has read ${listsOf(unread)} to the end.`;
  if (overdue.length > 0) {
    const oldest = lists.find(({ resource }) => resource === overdue[0]);
    const ago = agoWords(oldest?.current_through, now);
    return `Not current: ${listsOf(overdue)} ${overdue.length === 1 ? "was" : "were"} last read ${ago === null ? "at an unknown time" : `${ago} ago`}.`;
  }
  return null;
}

function notesOf([first]: readonly Row[], now: Date): string[] {
  const computed = agoWords(first?.refreshed_at, now);
  const checked = agoWords(first?.facts_checked_at, now);
  if (computed === null) return ["The figures have not been computed yet."];
  const check = checked === null ? "" : `, and every one was compared with its record ${checked} ago`;
  return [`The figures were computed ${computed} ago${check}.`];
}

function mutedNotes({ muted, now }: MirrorFacts): string[] {
  const [first] = muted;
  if (first === undefined) return [];
  const more = muted.length === 1 ? "" : `, and of ${counted(muted.length - 1, "other project")}`;
  return [
    `No notices of ${String(first.project_slug)} until ${when(momentMs(first.until), now)} UTC${more}.`,
  ];
}

function cautionsOf({ freshness, lists, watch, now }: MirrorFacts): string[] {
  const cautions: string[] = [];
  if (freshness.trouble !== null)
    cautions.push(`The last run did not succeed: ${shorten(freshness.trouble, ERROR_LENGTH)}.`);
  const watched = momentMs(watch?.ended_at);
  if (watch === undefined) cautions.push(`Nothing watches the builds: ${UNWATCHED}`);
  else if (!Number.isNaN(watched) && now.getTime() - watched > WATCH_LATE_MS)
    cautions.push(
      `Nothing has watched the builds since ${clockOrDay(watched, now)}, ${span(now.getTime() - watched)} ago: ${UNWATCHED}`,
    );
  const missed = lists.filter(({ deficit }) => Number(deficit ?? 0) > 0);
  if (missed.length > 0)
    cautions.push(
      `The service counted more than the mirror has: ${missed.map(({ resource, deficit }) => counted(Number(deficit), String(resource))).join(", ")}.`,
    );
  const repaired = Number(lists[0]?.facts_repaired ?? 0);
  if (repaired > 0)
    cautions.push(
      `That comparison found ${counted(repaired, "wrong figure")}, and computed them again: a fault of docmirror, or of who wrote to its tables.`,
    );
  const ahead = lists.reduce((sum, { builds_dated_ahead: count }) => sum + Number(count ?? 0), 0);
  if (ahead > 0)
    cautions.push(
      `${grouped(ahead)} ${ahead === 1 ? "build is" : "builds are"} dated beyond tomorrow, and ${ahead === 1 ? "counts" : "count"} as undated.`,
    );
  return cautions;
}
