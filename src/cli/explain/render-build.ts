import type { BuildDescription } from "../../mirror/builds/describe-build.ts";
import { type Entry, type Line, type Piece, pieceText } from "../../mirror/builds/piece.ts";
import { breakLines } from "../output/output.ts";

/** The column where texts begin. */
const INDENT = 13;
/** Texts are at least this wide. */
const LEAST_TEXT_WIDTH = 40;
/** So many of each kind are shown, the newest ones; `--json` has all. */
const MAX_SHOWN = 20;
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
  const list = (name: string, entries: readonly Entry[]) =>
    entries.length === 0 ? [] : [section(`${name} (${entries.length})`, newest(entries, name, noteEntry))];
  return [
    section(`build ${id}: ${state} (times in UTC)`, facts),
    ...newest(
      states.map(({ title, entries }) => section(title, entries)),
      "transitions",
      (note) => `${note}\n`,
    ),
    ...list("changes", changes),
    ...list("quarantine", quarantine),
  ].join("\n");
}

function renderEntry({ label, lines }: Entry, columns: number): string {
  const text = lines.map(lineText).join("\n");
  return breakLines(text, Math.max(LEAST_TEXT_WIDTH, columns - INDENT))
    .map((line, index) => `${(index === 0 ? `  ${label}` : "").padEnd(INDENT - 1)} ${line}\n`)
    .join("");
}

const lineText = (line: Line): string => line.map(shortText).join("");

function shortText(piece: Piece): string {
  const text = pieceText(piece);
  const isLong = typeof piece !== "string" && piece.kind === "value" && text.length > MAX_VALUE_LENGTH;
  return isLong ? `${text.slice(0, MAX_VALUE_LENGTH).toWellFormed()}…` : text;
}

/** The newest ones, after a note that says how many are left out. */
function newest<T>(all: readonly T[], name: string, toNote: (words: string) => T): T[] {
  if (all.length <= MAX_SHOWN) return [...all];
  const left = `${all.length - MAX_SHOWN} earlier ${name} are left out; --json has all`;
  return [toNote(left), ...all.slice(-MAX_SHOWN)];
}

const noteEntry = (words: string): Entry => ({ label: "", lines: [[words]] });
