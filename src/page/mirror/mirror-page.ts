import { counted, grouped } from "../../base/text.ts";
import { describeHeld } from "../../mirror/lists/missing-records.ts";
import { askFor } from "../../report/ask.ts";
import type { Resource } from "../../resources/resources.ts";
import { type Row, sumIn } from "../parts/answers.ts";
import { type BlockPage, drawBlocks, filesOf, part } from "../parts/block.ts";
import type { Address, Drawing, Figure } from "../parts/document.ts";
import type { Freshness, PageMoment } from "../parts/freshness.ts";
import { countWord, html, listsOf, type Markup, shorten } from "../parts/html.ts";
import { agoWords, clockWords, DAY_MS, mark, momentMs, span, when } from "../parts/marks.ts";
import { drawNeverSynced } from "./never-synced.ts";
import { askForCounts, askForRuns, looks, runs } from "./runs.ts";
import { drift, lists, quarantine, references, walks } from "./trust.ts";

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

type Answers = Awaited<ReturnType<Awaited<ReturnType<(typeof facts)["read"]>>["draw"]>>;

/** The page of the mirror: whether the rest can be trusted. */
export const mirrorPage = (address: Address): Drawing => ({
  key: ["mirror"],
  needs: [],
  files: filesOf(MIRROR, (_tx, moment) => moment),
  async draw(tx, moment) {
    const { now, freshness } = moment;
    const { verdict: answers, draw } = await drawBlocks(tx, MIRROR, facts, moment);
    const blocks = await draw(undefined);
    if (freshness.uncounted.includes("build")) {
      const never = await drawNeverSynced(tx, freshness, address);
      const hasRuns = Number(answers.counts[0]?.runs ?? 0) > 0;
      return { ...never, main: html`${never.main}${hasRuns && blocks}` };
    }
    const trouble = troubleOf(freshness, answers.lists, now);
    const [look, title] = trouble
      ? (["warn", "! Look at the mirror"] as const)
      : (["good", "✓ The mirror is current"] as const);
    const cautions = cautionsOf(answers, freshness, now).map(
      (caution) => html`${mark("warn", "Look here")} ${withCode(caution)} `,
    );
    return {
      verdict: {
        title,
        look,
        ...(look === "good" && { mark: { kind: "good", word: "Current" } }),
        sentence: trouble ?? currentWords(answers.lists, now),
        evidence: html`${cautions}${notesOf(answers, now).join(" ")}`,
        figures: figuresOf(answers, now),
      },
      main: html`
${blocks}`,
      tab: "/mirror",
    };
  },
});

function withCode(text: string): Markup {
  return html`${text.split("`").map((part, place) => (place % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}

function figuresOf(answers: Answers, now: Date): Figure[] {
  const sync = answers.runs.find(({ kind, status }) => kind !== "watch" && status !== "running");
  const stored = sumIn(answers.quarantine, "records");
  const broken = sumIn(answers.references, "broken");
  const ago = agoWords(sync?.started_at, now);
  return [
    {
      label: "Records",
      value: grouped(sumIn(answers.lists, "records")),
      note: `${grouped(sumIn(answers.lists, "deleted_records"))} more are gone upstream`,
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
  ];
}

function referenceWords(rows: readonly Row[]): string {
  if (rows.length === 0) return "all lead to records";
  const target = rows[0]?.target_resource;
  if (rows.every((row) => row.status === "gone" && row.target_resource === target) && target !== null)
    return `all to ${String(target)}s that are gone`;
  const pending = sumIn(
    rows.filter(({ status }) => status === "pending"),
    "broken",
  );
  return pending === 0 ? counted(rows.length, "kind") : `${grouped(pending)} not asked for yet`;
}

const WATCH_LATE_MS = 600_000;
const ERROR_LENGTH = 200;

const UNWATCHED =
  "what broke is seen by the next sync only, and how long builds take stays vague. `docmirror worker` does both.";

/** A moment of the last day by the clock, an earlier one with its day. */
const clockOrDay = (ms: number, now: Date): string =>
  now.getTime() - ms < DAY_MS ? clockWords(ms) : when(ms, now);

function currentWords(lists: readonly Row[], now: Date): string {
  const through = momentMs(lists[0]?.mirror_current_through);
  const isWhole = lists.every(({ last_walk }) => last_walk === "whole");
  const read = `The mirror is current: all ${countWord(lists.length)} lists were read ${isWhole ? "to their end" : "as far as they had changed"}`;
  if (Number.isNaN(through)) return `${read}.`;
  return `${read} ${isWhole ? "at" : "up to"} ${clockOrDay(through, now)} UTC, ${span(now.getTime() - through)} ago.`;
}

const isHeld = ({ held_records }: Row): boolean => Number(held_records) > 0;

const wordsOfHeld = ({ resource, held_records, held_since, held_until }: Row): string =>
  describeHeld({
    ...{ resource: resource as Resource, records: Number(held_records), since: String(held_since) },
    until: held_until === null ? null : String(held_until),
  });

/** Why the mirror is not current; null where it is. */
function troubleOf({ asOf, unread, overdue }: Freshness, lists: readonly Row[], now: Date): string | null {
  if (asOf !== null && Number.isNaN(asOf.getTime()))
    return "Not current: a wrong clock hides when the builds were last read.";
  if (unread.length > 0) return `Not whole: no sync has read ${listsOf(unread)} to the end.`;
  if (overdue.length > 0) {
    const oldest = lists.find(({ resource }) => resource === overdue[0]);
    const ago = agoWords(oldest?.current_through, now);
    return `Not current: ${listsOf(overdue)} ${overdue.length === 1 ? "was" : "were"} last read ${ago === null ? "at an unknown time" : `${ago} ago`}.`;
  }
  const held = lists
    .filter(isHeld)
    .map(({ resource, held_records: records }) => counted(Number(records), String(resource)));
  if (held.length > 0)
    return `Deletions are held back: ${held.join(", ")} are here that the service no longer lists.`;
  return null;
}

/** What is well, or does no harm. */
function notesOf({ lists, muted }: Answers, now: Date): string[] {
  const [first] = lists;
  const computed = agoWords(first?.refreshed_at, now);
  const checked = agoWords(first?.facts_checked_at, now);
  const check = checked === null ? "" : `, and every one was compared with its record ${checked} ago`;
  const figures =
    computed === null
      ? "The figures have not been computed yet."
      : `The figures were computed ${computed} ago${check}.`;
  const nights = Math.max(...lists.map(({ check_nights }) => Number(check_nights ?? 0)));
  const equal = `${grouped(sumIn(lists, "checked_equal"))} of ${grouped(sumIn(lists, "checked"))} records`;
  const compared = `Compared with the service: ${equal} equal in ${counted(nights, "night")}.`;
  const notes = nights > 0 ? [figures, compared] : [figures];
  const [silent] = muted;
  if (silent === undefined) return notes;
  const more = muted.length === 1 ? "" : `, and of ${counted(muted.length - 1, "other project")}`;
  const until = when(momentMs(silent.until), now);
  return [...notes, `No notices of ${String(silent.project_slug)} until ${until} UTC${more}.`];
}

/** What deserves a look. */
function cautionsOf({ lists, runs }: Answers, { trouble }: Freshness, now: Date): string[] {
  const watch = runs.find(({ kind }) => kind === "watch");
  const watched = momentMs(watch?.ended_at);
  const silentMs = now.getTime() - watched;
  // A head that counts fewer has a deletion that a search will find.
  const gaps = lists.filter(
    (list) =>
      Number(list.deficit ?? 0) > (list.is_whole ? -Infinity : 0) && Number(list.deficit) && !isHeld(list),
  );
  const repaired = Number(lists[0]?.facts_repaired ?? 0);
  const ahead = sumIn(lists, "builds_dated_ahead");
  const held = lists.filter(isHeld).map(wordsOfHeld);
  const wrong = sumIn(lists, "wrong");
  const cautions = [
    ...held.map((words) => `${words}.`),
    trouble !== null &&
      !held.some((words) => trouble === `partial: ${words}`) &&
      `The last run did not succeed: ${shorten(trouble, ERROR_LENGTH)}.`,
    watch === undefined && `Nothing watches the builds: ${UNWATCHED}`,
    silentMs > WATCH_LATE_MS &&
      `Nothing has watched the builds since ${clockOrDay(watched, now)}, ${span(silentMs)} ago: ${UNWATCHED}`,
    ...gaps.map(({ resource, records, deficit }) => {
      const all = counted(Number(records ?? 0) + Number(deficit), String(resource));
      return `The service counts ${all}, and ${grouped(Number(records ?? 0))} are here.`;
    }),
    repaired > 0 &&
      `That comparison found ${counted(repaired, "wrong figure")}, and computed them again: a fault of docmirror, or of who wrote to its tables.`,
    wrong > 0 && `A check found ${counted(wrong, "wrong record")}: \`docmirror status\` names them.`,
    ahead > 0 &&
      `${grouped(ahead)} ${ahead === 1 ? "build is" : "builds are"} dated beyond tomorrow, and ${ahead === 1 ? "counts" : "count"} as undated.`,
  ];
  return cautions.filter((caution) => caution !== false);
}
