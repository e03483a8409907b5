import {
  anomalyWords,
  missingWords,
  sightingWords,
  stateName,
  whyNotBefore,
} from "../../builds/bound-words.ts";
import type {
  BuildExplanation,
  ExplainedBuild,
  ExplainedChange,
  ExplainedReference,
  ExplainedTransition,
  QuarantinedSighting,
} from "../../builds/explain-build.ts";
import { formatBetween, formatSpan, formatTime } from "../../builds/format-span.ts";
import { breakLines } from "../break-lines.ts";

/** Where texts begin, and what they may be wide at least. */
const INDENT = 13;
const LEAST_TEXT_WIDTH = 40;
/** Of each kind the newest so many are shown; `--json` has all. */
const MAX_SHOWN = 20;
const MAX_VALUE_LENGTH = 60;

type Entry = [label: string, text: string];

/** What is known about a build, for a terminal of so many columns; ends with a newline. Times are in UTC. */
export function renderBuild(
  build: ExplainedBuild,
  quarantine: BuildExplanation["quarantine"],
  { colour, columns }: { colour: boolean; columns: number },
): string {
  const bold = (text: string) => (colour ? `\u001b[1m${text}\u001b[0m` : text);
  const section = (title: string, entries: readonly Entry[]) =>
    `${breakLines(title, columns).map(bold).join("\n")}\n${entries.map((entry) => renderEntry(entry, columns)).join("")}`;
  return [
    section(`build ${build.id}: ${stateWords(build)} (times in UTC)`, factsOf(build)),
    ...newest(build.transitions, "transitions").flatMap((shown) =>
      typeof shown === "string"
        ? [`${shown}\n`]
        : [section(titleOf(shown), boundsOf(shown, build.transitions))],
    ),
    ...listOf("changes", build.changes, changeEntry, section),
    ...listOf("quarantine", quarantine, quarantineEntry, section),
  ].join("\n");
}

function renderEntry([label, text]: Entry, columns: number): string {
  const lines = breakLines(text, Math.max(LEAST_TEXT_WIDTH, columns - INDENT));
  return lines
    .map((line, index) => `${(index === 0 ? `  ${label}` : "").padEnd(INDENT - 1)} ${line}\n`)
    .join("");
}

function listOf<T>(
  name: string,
  all: readonly T[],
  entryOf: (one: T) => Entry[],
  section: (title: string, entries: readonly Entry[]) => string,
): string[] {
  if (all.length === 0) return [];
  const entries = newest(all, name).flatMap((one) =>
    typeof one === "string" ? [["", one] as Entry] : entryOf(one),
  );
  return [section(`${name} (${all.length})`, entries)];
}

/** The newest ones, after a line that says how many stand before them. */
function newest<T>(all: readonly T[], name: string): (T | string)[] {
  if (all.length <= MAX_SHOWN) return [...all];
  return [`${all.length - MAX_SHOWN} earlier ${name} are left out; --json has all`, ...all.slice(-MAX_SHOWN)];
}

function stateWords({ state, success, type, deleted_at }: ExplainedBuild): string {
  // Before a build has finished, `success` says nothing.
  const outcome = state !== "finished" || success === null ? [] : [success ? "success" : "failure"];
  return [
    stateName(state),
    ...outcome,
    ...(type === null ? [] : [type]),
    ...(deleted_at ? ["deleted"] : []),
  ].join(", ");
}

function factsOf(build: ExplainedBuild): Entry[] {
  const { date, date_read: read, open, duration, changes_pruned_before: pruned } = build;
  const hour = read?.hour
    ? ` or ${formatTime(read.latest)}: summer time ${read.hour === "repeated" ? "repeats" : "skips"} that hour`
    : "";
  return [
    ...build.references.map((reference): Entry => [reference.field, referenceWords(reference)]),
    ["date", date === null ? "none that can be read" : `${date} as sent, without a zone`],
    ...(read ? [["", `${formatTime(read.earliest)}${hour}, read in ${read.zone}`] as Entry] : []),
    ["first seen", formatTime(build.first_seen_at)],
    ...(build.changed_at === build.first_seen_at
      ? []
      : [["changed", `${formatTime(build.changed_at)} for the last time`] as Entry]),
    ...(build.deleted_at
      ? [
          [
            "deleted",
            `${formatTime(build.deleted_at)}: a whole walk missed it and its detail was gone`,
          ] as Entry,
        ]
      : []),
    ...(pruned ? [["pruned", `changes before ${formatTime(pruned)}`] as Entry] : []),
    ...(open ? openEntries(open) : []),
    ...(duration ? [["took", `${formatBetween(duration)} from the trigger to the finish`] as Entry] : []),
  ];
}

function openEntries({ since, last_seen, vanished_at }: NonNullable<ExplainedBuild["open"]>): Entry[] {
  const asked = last_seen.asked_at === null ? "" : formatTime(last_seen.asked_at);
  return [
    ["open", `in its state since ${formatTime(since)}`],
    ["last seen", `${asked}, when the request was sent\n${sightingWords(last_seen)}`],
    ...(vanished_at
      ? [
          [
            "vanished",
            `${formatTime(vanished_at)}: its detail answered that it is not there; a whole walk will tell whether it is deleted`,
          ] as Entry,
        ]
      : []),
  ];
}

function referenceWords({ uri, status, id, slug, deleted_at, checked_at }: ExplainedReference): string {
  if (status === "none") return "none";
  const sent = uri === null ? "" : `\n${uri} as sent`;
  if (status === "found") {
    const gone = deleted_at === null ? "" : `, deleted ${formatTime(deleted_at)}`;
    return `${id}${slug === null ? "" : `, ${slug}`}${gone}${sent}`;
  }
  const asked = checked_at === null ? "" : `, asked ${formatTime(checked_at)}`;
  return `${missingWords(status)}${asked}${sent}`;
}

function titleOf({ seq, from_state, to_state }: ExplainedTransition): string {
  return seq === 1
    ? `1. first seen ${stateName(to_state)}`
    : `${seq}. ${stateName(from_state)} → ${stateName(to_state)}`;
}

function boundsOf(transition: ExplainedTransition, all: readonly ExplainedTransition[]): Entry[] {
  const { not_before, not_after, width_ms, anomalies, first_seen, predecessor_last_seen, lasted } =
    transition;
  const next = all.find(({ seq }) => seq === transition.seq + 1);
  const before = width_ms === null ? "unknown" : formatTime(not_before);
  const source = predecessor_last_seen ? `\n${sightingWords(predecessor_last_seen)}` : "";
  return [
    ["after", `${before}\n${whyNotBefore(transition)}${source}`],
    [
      "by",
      `${formatTime(not_after)}\nwhen the reply was here that first showed it\n${sightingWords(first_seen)}`,
    ],
    ["within", width_ms === null ? "unknown" : formatSpan(width_ms)],
    ...(lasted
      ? [
          [
            "lasted",
            `${formatBetween(lasted)}, until it became ${stateName(next?.to_state ?? null)}`,
          ] as Entry,
        ]
      : []),
    ...anomalies.map((name): Entry => ["odd", anomalyWords(name)]),
  ];
}

function changeEntry({ kind, observed_at, run_id, before, after }: ExplainedChange): Entry[] {
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const lines = fields.map(
    (field) => `${field}: ${valueText(before?.[field])} → ${valueText(after?.[field])}`,
  );
  return [[kind, [`${formatTime(observed_at)}, run ${run_id}`, ...lines].join("\n")]];
}

/** Texts of the log stand there by their hash. */
function valueText(value: unknown): string {
  const { md5, bytes } = (value ?? {}) as { md5?: unknown; bytes?: unknown };
  if (typeof md5 === "string" && typeof bytes === "number") return `${bytes} bytes, md5 ${md5.slice(0, 8)}`;
  const text = JSON.stringify(value ?? null);
  return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH).toWellFormed()}…` : text;
}

function quarantineEntry({
  id,
  run_id,
  reason,
  request,
  created_at,
  resolved_at,
}: QuarantinedSighting): Entry[] {
  const resolved = resolved_at === null ? "not resolved" : `resolved ${formatTime(resolved_at)}`;
  const asked = request === null ? [] : [`GET ${request}`];
  return [
    [`row ${id}`, [`${formatTime(created_at)}, run ${run_id}, ${resolved}`, reason, ...asked].join("\n")],
  ];
}
