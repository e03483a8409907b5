import type { BuildDescription, Entry, Newest, Piece } from "../../mirror/builds/describe-build.ts";
import { breakLines } from "../output/output.ts";

/** The column where texts begin. */
const INDENT = 13;
/** Texts are at least this wide. */
const LEAST_TEXT_WIDTH = 40;
const MAX_VALUE_LENGTH = 60;

/** Renders what is known about a build for a terminal; ends with a newline. Times are in UTC. */
export function renderBuild(
  id: string,
  { state, facts, states, changes, quarantine }: BuildDescription,
  { colour, columns }: { colour: boolean; columns: number },
): string {
  const bold = (text: string) => (colour ? `\u001b[1m${text}\u001b[0m` : text);
  const section = (title: string, entries: readonly Entry[]) =>
    `${breakLines(title, columns).map(bold).join("\n")}\n${entries.map((entry) => renderEntry(entry, columns)).join("")}`;
  const list = (name: string, { shown, left }: Newest<Entry>) => {
    const note = left === 0 ? [] : [{ label: "", lines: [[leftWords(left, name)]] }];
    return shown.length === 0 ? [] : [section(`${name} (${left + shown.length})`, [...note, ...shown])];
  };
  return [
    section(`build ${id}: ${state} (times in UTC)`, facts),
    ...(states.left === 0 ? [] : [`${leftWords(states.left, "transitions")}\n`]),
    ...states.shown.map(({ title, entries }) => section(title, entries)),
    ...list("changes", changes),
    ...list("quarantine", quarantine),
  ].join("\n");
}

function renderEntry({ label, lines }: Entry, columns: number): string {
  const text = lines.map((line) => line.map(shortText).join("")).join("\n");
  return breakLines(text, Math.max(LEAST_TEXT_WIDTH, columns - INDENT))
    .map((line, index) => `${(index === 0 ? `  ${label}` : "").padEnd(INDENT - 1)} ${line}\n`)
    .join("");
}

function shortText(piece: Piece): string {
  if (typeof piece === "string") return piece;
  const { kind, text } = piece;
  const isLong = kind === "value" && text.length > MAX_VALUE_LENGTH;
  return isLong ? `${text.slice(0, MAX_VALUE_LENGTH).toWellFormed()}…` : text;
}

const leftWords = (left: number, name: string) => `${left} earlier ${name} are left out; --json has all`;
