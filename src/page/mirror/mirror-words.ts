import { counted, grouped } from "../../base/text.ts";
import { agoWords, clockWords, momentMs, span, when } from "../parts/age.ts";
import type { Tone } from "../parts/icon.ts";
import type { Freshness } from "../parts/page-moment.ts";
import type { Row } from "../parts/row.ts";
import { countWord, listsOf, shorten } from "../parts/words.ts";

/** Whether the rest can be trusted, in a sentence, and what speaks against it. */
export interface MirrorVerdict {
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

export interface MirrorFacts {
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
export function judgeMirror(facts: MirrorFacts): MirrorVerdict {
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

/** What makes the figures wrong or old; null where nothing does. */
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

/** When the figures were computed and checked. */
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
