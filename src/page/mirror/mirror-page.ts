import { counted, grouped } from "../../base/text.ts";
import { describeHeld } from "../../mirror/lists/missing-records.ts";
import { askFor } from "../../report/ask.ts";
import { type Asks, countIn, type Found, sumIn } from "../parts/answers.ts";
import { type BlockPage, drawBlocks, filesOf, part } from "../parts/block.ts";
import type { Address, Drawing, Figure, Verdict } from "../parts/document.ts";
import { askForLists, type FreshList, type Freshness, type PageMoment } from "../parts/freshness.ts";
import { countWord, html, listsOf, type Markup, sentences, shorten } from "../parts/html.ts";
import { ago, mark, momentMs, when } from "../parts/marks.ts";
import { drawNeverSynced } from "./never-synced.ts";
import { askForCounts, askForRuns, looks, runs } from "./runs.ts";
import {
  askForQuarantine,
  askForReferences,
  drift,
  lists,
  quarantine,
  type ReferencesRow,
  references,
  walks,
} from "./trust.ts";

const MIRROR: BlockPage<PageMoment> = {
  name: "mirror",
  narrowedBy: {},
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

/** A project of which no notices are sent for a time. */
interface MutedRow {
  readonly project_slug: string;
  readonly until: string;
}

const askForMuted = (): Asks<MutedRow> => askFor("muted_projects");

const askForMirror = (moment: PageMoment) => ({
  lists: askForLists(),
  runs: askForRuns(),
  counts: askForCounts(moment),
  muted: askForMuted(),
  references: askForReferences(),
  quarantine: askForQuarantine(),
});

type Answers = Found<ReturnType<typeof askForMirror>>;

const CURRENT = { title: "✓ The mirror is current", look: "good", mark: ["good", "Current"] } as const;
const WAS_CURRENT = { title: "The mirror was current", look: "flat", mark: ["flat", "Was current"] } as const;

/** Null before the builds were counted. */
const mirrorVerdict = part({
  asks: askForMirror,
  draw(answers, moment) {
    const { now, freshness } = moment;
    const trouble = troubleOf(freshness, answers.lists, now);
    const cautions = cautionsOf(answers, freshness, now).map(
      (caution) => html`${mark("warn", "Look here")} ${withCode(caution)} `,
    );
    const verdict: Verdict = {
      ...(trouble !== null
        ? { title: "! Look at the mirror", look: "warn", sentence: trouble }
        : {
            ...(moment.isFile ? WAS_CURRENT : CURRENT),
            sentence: currentWords(answers.lists, moment),
          }),
      evidence: html`${cautions}${notesOf(answers, now)}`,
      figures: figuresOf(answers, now),
    };
    return { verdict, runs: countIn(answers.counts[0], "runs") };
  },
});

/** The page of the mirror: whether the rest can be trusted. */
export const mirrorPage = (address: Address): Drawing => ({
  key: ["mirror"],
  needs: [],
  files: filesOf(MIRROR, (_tx, moment) => moment),
  async draw(tx, moment) {
    const { verdict: said, draw } = await drawBlocks(tx, MIRROR, mirrorVerdict, moment);
    const blocks = await draw(undefined);
    if (moment.freshness.uncounted.includes("build")) {
      const never = await drawNeverSynced(tx, moment.freshness, address);
      return { ...never, main: html`${never.main}${said.runs > 0 && blocks}` };
    }
    return {
      verdict: said.verdict,
      main: html`
${blocks}`,
      tab: "/mirror",
    };
  },
});

function withCode(text: string): Markup {
  return html`${text.split("`").map((part, place) => (place % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}

function figuresOf({ lists, runs, references, quarantine }: Answers, now: Date): Figure[] {
  const sync = runs.find(({ kind, status }) => kind !== "watch" && status !== "running");
  const stored = sumIn(quarantine, "records");
  const began = ago(sync?.started_at, now);
  return [
    {
      label: "Records",
      value: grouped(sumIn(lists, "records")),
      note: `${grouped(sumIn(lists, "deleted_records"))} more are gone upstream`,
    },
    {
      label: "Could not be stored",
      value: grouped(stored),
      note: html`<a href="#quarantine">${stored === 0 ? "none waits in quarantine" : "wait in quarantine"}</a>`,
    },
    {
      label: "Broken references",
      value: grouped(sumIn(references, "broken")),
      note: html`<a href="#references">${referenceWords(references)}</a>`,
    },
    {
      label: "Last sync",
      labelRest: began === null ? "" : html`, ${began}`,
      ...(sync === undefined
        ? { value: "–", note: "none is known" }
        : {
            value: grouped(countIn(sync, "requests")),
            unit: sync.requests === 1 ? "request" : "requests",
            note: `${grouped(countIn(sync, "inserted"))} new, ${grouped(countIn(sync, "updated"))} changed, ${grouped(countIn(sync, "deleted"))} gone`,
          }),
    },
  ];
}

function referenceWords(rows: readonly ReferencesRow[]): string {
  if (rows.length === 0) return "all lead to records";
  const target = rows[0]?.target_resource;
  if (rows.every((row) => row.status === "gone" && row.target_resource === target) && target)
    return `all to ${target}s that are gone`;
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

function currentWords(lists: readonly FreshList[], { now, isFile }: PageMoment): Markup | string {
  const through = momentMs(lists[0]?.mirror_current_through);
  const isWhole = lists.every(({ last_walk }) => last_walk === "whole");
  const is = isFile ? "was" : "is";
  const read = `The mirror ${is} current: all ${countWord(lists.length)} lists were read ${isWhole ? "to their end" : "as far as they had changed"}`;
  if (Number.isNaN(through)) return `${read}.`;
  return html`${read} ${isWhole ? "at" : "up to"} ${when(through, now)} UTC${!isFile && html`, ${ago(through, now)}`}.`;
}

const isHeld = ({ held_records }: FreshList): boolean => (held_records ?? 0) > 0;

const wordsOfHeld = ({ resource, held_records, held_since, held_until }: FreshList): string =>
  describeHeld({
    resource,
    records: held_records ?? 0,
    since: String(held_since),
    until: held_until,
  });

/** Says why the mirror is not current; null where it is. */
function troubleOf(
  { asOf, unread, overdue }: Freshness,
  lists: readonly FreshList[],
  now: Date,
): Markup | string | null {
  if (asOf !== null && Number.isNaN(asOf.getTime()))
    return "Not current: a wrong clock hides when the builds were last read.";
  if (unread.length > 0) return `Not whole: no sync has read ${listsOf(unread)} to the end.`;
  if (overdue.length > 0) {
    const oldest = lists.find(({ resource }) => resource === overdue[0]);
    const read = ago(oldest?.current_through, now) ?? "at an unknown time";
    return html`Not current: ${listsOf(overdue)} ${overdue.length === 1 ? "was" : "were"} last read ${read}.`;
  }
  const held = lists.filter(isHeld).map(({ resource, held_records }) => counted(held_records ?? 0, resource));
  return held.length === 0
    ? null
    : `Deletions are held back: ${held.join(", ")} are here that the service no longer lists.`;
}

/** Says what is well, or does no harm. */
function notesOf({ lists, muted: [silent, ...others] }: Answers, now: Date): Markup {
  const [first] = lists;
  const computed = ago(first?.refreshed_at, now);
  const checked = ago(first?.facts_checked_at, now);
  const check = checked && html`, and every one was compared with its record ${checked}`;
  const nights = Math.max(...lists.map(({ check_nights }) => check_nights ?? 0));
  const equal = `${grouped(sumIn(lists, "checked_equal"))} of ${grouped(sumIn(lists, "checked"))} records`;
  const more = others.length === 0 ? "" : `, and of ${counted(others.length, "other project")}`;
  return sentences(
    computed === null
      ? "The figures have not been computed yet."
      : html`The figures were computed ${computed}${check}.`,
    nights > 0 && `Compared with the service: ${equal} equal in ${counted(nights, "night")}.`,
    silent && `No notices of ${silent.project_slug} until ${when(silent.until, now)} UTC${more}.`,
  );
}

/** Says what deserves a look. */
function cautionsOf({ lists, runs }: Answers, { trouble }: Freshness, now: Date): string[] {
  const watch = runs.find(({ kind }) => kind === "watch");
  const watched = momentMs(watch?.ended_at);
  const silentMs = now.getTime() - watched;
  // A head that counts fewer has a deletion that a search will find.
  const gaps = lists.filter(
    (list) => !isHeld(list) && list.deficit && list.deficit > (list.is_whole ? -Infinity : 0),
  );
  const repaired = countIn(lists[0], "facts_repaired");
  const ahead = sumIn(lists, "builds_dated_ahead");
  const held = lists.filter(isHeld).map(wordsOfHeld);
  const wrong = sumIn(lists, "wrong");
  const cautions = [
    ...held.map((words) => `${words}.`),
    trouble !== null &&
      !held.some((words) => trouble === `partial: ${words}`) &&
      `The last run did not succeed: ${shorten(trouble, ERROR_LENGTH)}.`,
    watch === undefined && `Nothing watches the builds: ${UNWATCHED}`,
    silentMs > WATCH_LATE_MS && `Nothing has watched the builds since ${when(watched, now)}: ${UNWATCHED}`,
    ...gaps.map(({ resource, records, deficit }) => {
      const here = records ?? 0;
      return `The service counts ${counted(here + (deficit ?? 0), resource)}, and ${grouped(here)} are here.`;
    }),
    repaired > 0 &&
      `That comparison found ${counted(repaired, "wrong figure")}, and computed them again: a fault of docmirror, or of who wrote to its tables.`,
    wrong > 0 && `A check found ${counted(wrong, "wrong record")}: \`docmirror status\` names them.`,
    ahead > 0 &&
      `${grouped(ahead)} ${ahead === 1 ? "build is" : "builds are"} dated beyond tomorrow, and ${ahead === 1 ? "counts" : "count"} as undated.`,
  ];
  return cautions.filter((caution) => caution !== false);
}
