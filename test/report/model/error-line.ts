import type { RawLog } from "./raw.ts";

const BODIES = ["error", "setup_error", "output", "setup"] as const;
const TAIL_CHARACTERS = 4000;
const LINE_CHARACTERS = 400;
const MARKERS = [
  "error:",
  "fatal:",
  "exception",
  "killed",
  "traceback",
  "out of memory",
  "no space left",
] as const;
const ANSI_SEQUENCE = new RegExp(`${String.fromCharCode(27)}\\[[0-9;?]*[A-Za-z]`, "g");

/**
 * The line that says why a build failed: of the first text that has a line with a marker the last such one, else the last one of the first text
 * that is not blank.
 */
export function findErrorLine(log: RawLog): string | null {
  const bodies = BODIES.map((body) => linesOf(log[body] ?? ""));
  const marked = bodies.map((lines) => lines.findLast(isMarked)).find((line) => line !== undefined);
  const line = marked ?? bodies.find((lines) => lines.length > 0)?.at(-1);
  return line === undefined ? null : [...line].slice(0, LINE_CHARACTERS).join("");
}

/** The lines of a text's end that are not blank, as one may print them. */
function linesOf(text: string): string[] {
  return [...text]
    .slice(-TAIL_CHARACTERS)
    .join("")
    .split("\n")
    .map(toPlain)
    .filter((line) => line !== "");
}

function toPlain(line: string): string {
  return line
    .replace(ANSI_SEQUENCE, "")
    .replace(/\p{Cc}/gu, "")
    .trim();
}

function isMarked(line: string): boolean {
  const lower = line.toLowerCase();
  return MARKERS.some((marker) => lower.includes(marker));
}
