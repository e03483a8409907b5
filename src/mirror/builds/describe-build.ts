/** The story of a build as lines of pieces, each with what it is: a terminal and a page only dress them. */
import { VANISHED } from "../load/record-transitions.ts";
import {
  type ExplainedBuild,
  type ExplainedChange,
  type ExplainedReference,
  type ExplainedSighting,
  type ExplainedTransition,
  endOf,
  type QuarantinedBuild,
} from "./explain-build.ts";
import { formatBetween, formatSpan, formatTime } from "./format-span.ts";

/** A plain string is our own text; all others may contain anything that users typed, and are not cut. */
export type Piece =
  | string
  | { kind: "foreign" | "uri" | "value" | "moment" | "run" | "request"; text: string };

export type Line = readonly Piece[];

/** A label with one line or more: first the answer, then the reason and the source. */
export interface Entry {
  label: string;
  lines: readonly Line[];
}

export interface Section {
  title: string;
  entries: readonly Entry[];
}

export const foreignPiece = (text: string): Piece => ({ kind: "foreign", text });
export const momentPiece = (at: string): Piece => ({ kind: "moment", text: formatTime(at) });

export function runPiece({ id, kind, started_at }: ExplainedSighting["run"]): Piece {
  const began = started_at === null ? "" : `, began ${formatTime(started_at)}`;
  return { kind: "run", text: `run ${id} (${kind ?? "pruned"}${began})` };
}

export const requestPiece = (path: string | null): Piece => ({
  kind: "request",
  text: path === null ? "the request was not stored" : `GET ${path}`,
});

/** A larger difference is more likely another time zone setting at that time than a wrong clock. */
const CLOCK_MS = 600_000;

/** Explains the lower bound of a transition. */
export function whyNotBefore(transition: ExplainedTransition): string {
  const from = stateName(transition.from_state);
  // The build's date only bounds its first state.
  if (transition.rule === "unknown" && transition.seq > 1)
    return `unknown: our clock was set back after it was seen ${from}`;
  switch (transition.rule) {
    case "date":
      return whyDate(transition);
    case "last_seen": {
      const seen = transition.from_state === VANISHED ? "it before it was gone" : `it ${from}`;
      const sent = `when the last request that showed ${seen} was sent`;
      const isMoved = transition.anomalies.includes("clock");
      return isMoved ? `${sent}, moved back because our clock was set back since then` : sent;
    }
    case "predecessor":
      return `our clock was set back after it was seen ${from}, so the bound of its first state is used`;
    case "unknown":
      return "unknown: the build had no date, or its date was in the future";
  }
}

function whyDate({ before_date_ms: movedMs, anomalies }: ExplainedTransition): string {
  const date = "the build's own date";
  if (movedMs === null || movedMs === 0) return date;
  if (movedMs > 0 && (movedMs <= CLOCK_MS || anomalies.includes("clock")))
    return `${date}, moved back by ${formatSpan(movedMs)} because the service's clock may have been ahead by that much`;
  const way = movedMs > 0 ? "later" : "earlier";
  return `${date}, as it was read then; today's reading is ${formatSpan(Math.abs(movedMs))} ${way}`;
}

const ANOMALIES: Record<string, string> = {
  backward: "backward: the service returned it to an earlier state",
  no_date: "no_date: the build had no date that could be read",
  future_date: "future_date: its date was in the future when it was seen",
  repeated_hour:
    "repeated_hour: its date is in the hour that the end of summer time repeats; the earlier reading is used",
  skipped_hour:
    "skipped_hour: its date is in the hour that the start of summer time skips; the earlier reading is used",
  clock: "clock: a clock was wrong, so the bound was moved back",
};

export const anomalyWords = (name: string) => ANOMALIES[name] ?? name;

/** The states of a reference whose record is not in the mirror (`mirror.unresolved_references`). */
const MISSING: Record<string, string> = {
  pending: "not here: not requested yet, or the service did not answer",
  gone: "not here: the service has no such record",
  foreign: "leads outside the API of the service",
  malformed: "does not name a record of this kind",
};

const missingWords = (status: string) => MISSING[status] ?? status;

const stateName = (state: string | null) => state ?? "without a state";

/** The newest of many, and how many earlier ones are left out. */
export type Newest<T> = { shown: readonly T[]; left: number };

/** The story of a build, what is known of it and how: `docmirror explain` and the page of a build only dress it. */
export interface BuildDescription {
  /** State, outcome, type, and whether it is deleted. */
  state: string;
  facts: Entry[];
  /** For each state that it entered: the two bounds, and the reason for each. */
  states: Newest<Section>;
  /** The changes of its record. */
  changes: Newest<Entry>;
  /** Replies that could not be stored. */
  quarantine: Newest<Entry>;
}

/** The story of a build, the oldest first; of each list the newest `most`. */
export function describeBuild(
  build: ExplainedBuild,
  quarantine: readonly QuarantinedBuild[],
  most: number,
): BuildDescription {
  const { transitions, changes } = build;
  const newest = <T>(all: readonly T[]): Newest<T> => {
    return { shown: all.slice(-most), left: Math.max(0, all.length - most) };
  };
  return {
    state: describeState(build),
    facts: describeFacts(build),
    states: newest(transitions.map((one, index) => describeTransition(one, endOf(transitions, index)))),
    changes: newest(changes.map(describeChange)),
    quarantine: newest(quarantine.map(describeQuarantined)),
  };
}

function describeState({ state, stage, success, type, deleted_at }: ExplainedBuild): string {
  const words = [stateName(state)];
  // `success` means nothing before the build has finished, and where it was cancelled.
  if (stage === "result" && success !== null) words.push(success ? "success" : "failure");
  if (type !== null) words.push(type);
  if (deleted_at !== null) words.push("deleted");
  return words.join(", ");
}

function describeFacts(build: ExplainedBuild): Entry[] {
  const { changed_at, first_seen_at, deleted_at, archived_log: log, open, duration } = build;
  const { changes_pruned_before: pruned } = build;
  const entries = [...build.references.map(describeReference), describeDate(build)];
  const add = (...given: Parameters<typeof entry>) => void entries.push(entry(...given));
  add("first seen", [momentPiece(first_seen_at)]);
  if (build.life > 1)
    add("life", [
      `${build.life}: the service has given this id again; mirror.past_transitions has the builds before`,
    ]);
  if (changed_at !== first_seen_at) add("changed", ["last at ", momentPiece(changed_at)]);
  if (deleted_at !== null)
    add("deleted", [momentPiece(deleted_at), ": missing in a whole walk, and its detail is gone"]);
  if (log !== null) {
    const place = ["it is in ", foreignPiece(`${log.folder}/${log.path}`)];
    add("log", ["removed ", momentPiece(log.removed_at)], place);
  }
  if (pruned !== null) add("pruned", ["changes before ", momentPiece(pruned)]);
  if (open !== null) entries.push(...describeOpen(open));
  if (duration !== null) add("took", [`${formatBetween(duration)} from the trigger to the finish`]);
  return entries;
}

function describeReference(reference: ExplainedReference): Entry {
  const { field, uri, status, id, slug, deleted_at, checked_at } = reference;
  if (status === "none") return entry(field, ["none"]);
  const name = [foreignPiece(`${id}`), ...(slug === null ? [] : [", ", foreignPiece(slug)])];
  const answer =
    status === "found"
      ? [...name, ...(deleted_at === null ? [] : [", deleted ", momentPiece(deleted_at)])]
      : [missingWords(status), ...(checked_at === null ? [] : [", asked ", momentPiece(checked_at)])];
  return entry(field, answer, ...(uri === null ? [] : [[{ kind: "uri", text: uri }, " as sent"] as Line]));
}

function describeDate({ date, date_read: read }: ExplainedBuild): Entry {
  const sent: Line =
    date === null ? ["none, or not readable"] : [foreignPiece(date), " as sent, without a zone"];
  if (read === null) return entry("date", sent);
  const { earliest, latest, hour, zone } = read;
  const other: Line =
    hour === null
      ? []
      : [" or ", momentPiece(latest), `: summer time ${hour === "repeated" ? "repeats" : "skips"} that hour`];
  return entry("date", sent, [momentPiece(earliest), ...other, `, read in ${zone}`]);
}

function describeOpen({ since, last_seen, vanished_at }: NonNullable<ExplainedBuild["open"]>): Entry[] {
  const asked = last_seen.asked_at === null ? [] : [momentPiece(last_seen.asked_at)];
  const entries = [
    entry("open", ["in its state since ", momentPiece(since)]),
    entry("last seen", [...asked, ", when the request was sent"], ...sourceOf(last_seen)),
  ];
  if (vanished_at === null) return entries;
  const why = ": its detail answered that it is gone; the next whole walk shows whether it is deleted";
  return [...entries, entry("vanished", [momentPiece(vanished_at), why])];
}

function describeTransition(transition: ExplainedTransition, end: ExplainedTransition | undefined): Section {
  const { seq, from_state, to_state, width_ms, lasted, first_seen, predecessor_last_seen } = transition;
  const isKnown = width_ms !== null;
  const entries = [
    entry(
      "after",
      [isKnown ? momentPiece(transition.not_before) : "unknown"],
      [foreignPiece(whyNotBefore(transition))],
      ...(predecessor_last_seen === null ? [] : sourceOf(predecessor_last_seen)),
    ),
    entry(
      "by",
      [momentPiece(transition.not_after)],
      ["when the first reply that showed it arrived"],
      ...sourceOf(first_seen),
    ),
    entry("within", [isKnown ? formatSpan(width_ms) : "unknown"]),
  ];
  if (lasted !== null) {
    const left = foreignPiece(stateName(end?.to_state ?? null));
    entries.push(entry("lasted", [`${formatBetween(lasted)}, until it became `, left]));
  }
  entries.push(...transition.anomalies.map((name) => entry("odd", [foreignPiece(anomalyWords(name))])));
  const title =
    seq === 1 ? `first seen ${stateName(to_state)}` : `${stateName(from_state)} → ${stateName(to_state)}`;
  return { title: `${seq}. ${title}`, entries };
}

function sourceOf({ run, request }: ExplainedSighting): Line[] {
  return [[runPiece(run)], [requestPiece(request)]];
}

function describeChange({ kind, observed_at, run_id, before, after }: ExplainedChange): Entry {
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const lines = fields.map((field): Line => {
    const [was, is] = [before, after].map((row) => describeValue(row?.[field]));
    return [foreignPiece(field), ": ", was ?? "", " → ", is ?? ""];
  });
  return entry(kind, [momentPiece(observed_at), `, run ${run_id}`], ...lines);
}

/** Changes hold the texts of the log as hashes. */
function describeValue(value: unknown): Piece {
  const { md5, bytes } = (value ?? {}) as { md5?: unknown; bytes?: unknown };
  if (typeof md5 === "string" && typeof bytes === "number")
    return foreignPiece(`${bytes} bytes, md5 ${md5.slice(0, 8)}`);
  return { kind: "value", text: JSON.stringify(value ?? null) };
}

function describeQuarantined(record: QuarantinedBuild): Entry {
  const { id, run_id, reason, request, created_at, resolved_at } = record;
  const resolved = resolved_at === null ? ["not resolved"] : ["resolved ", momentPiece(resolved_at)];
  return entry(
    `row ${id}`,
    [momentPiece(created_at), `, run ${run_id}, `, ...resolved],
    [foreignPiece(reason)],
    ...(request === null ? [] : [[requestPiece(request)]]),
  );
}

function entry(label: string, ...lines: readonly Line[]): Entry {
  return { label, lines };
}
