import type { RawLog } from "./raw.ts";

const BODIES = ["error", "setup_error", "output", "setup"] as const;
const TAIL_CHARACTERS = 4000;
/** Lines and colours of all texts together. */
const COSTLY_PARTS = 1000;
const LINE_CHARACTERS = 400;
const MARKERS = [
  ...["error:", "fatal:", "exception", "killed", "traceback", "out of memory", "no space left"],
];
const LINE_END = /\r\n|\r|\n/;
const ESCAPE = String.fromCharCode(27);
const ANSI_SEQUENCE = new RegExp(`${ESCAPE}\\[[0-9;?]*[A-Za-z]`, "g");

/** Where the error line is: in which text, and in which of its lines, from 1. */
export interface ErrorPlace {
  body: (typeof BODIES)[number];
  line: number;
  /** The line that it announces, where it ends in a colon. */
  message: number | null;
  excerpt: string;
}

interface Candidate extends ErrorPlace {
  rank: "marked" | "announced nothing" | "any";
}

export function findErrorLine(log: RawLog): string | null {
  return findErrorPlace(log)?.excerpt ?? null;
}

/**
 * The line that says why a build failed: of the first text that has a line with a marker the last such one, else the last one of the first text
 * that is not blank. Lines that end in a colon and announce nothing are better than the latter alone.
 */
export function findErrorPlace(log: RawLog): ErrorPlace | null {
  const candidates: Candidate[] = [];
  let room = COSTLY_PARTS;
  for (const body of BODIES) {
    const text = log[body] ?? "";
    const tail = lastOf(text, TAIL_CHARACTERS).replace(/\r\n?/g, "\n");
    if (tail === "" || (candidates.length > 0 && !isMarked(tail))) continue;
    const parts = tail.split("\n").length + tail.split(ESCAPE).length;
    candidates.push(...candidatesOf(body, text, parts > room ? lastOf(tail, room) : tail));
    room = Math.max(room - parts, 0);
  }
  const best =
    candidates.find(({ rank }) => rank === "marked") ??
    candidates.find(({ rank }) => rank === "announced nothing") ??
    candidates[0];
  if (best === undefined) return null;
  const { rank: _, ...place } = best;
  return place;
}

/** The lines at the end of a text that come into question, the last one first. */
function candidatesOf(body: ErrorPlace["body"], text: string, tail: string): Candidate[] {
  const read = tail.split("\n").map(toPlain);
  const unread = text.split(LINE_END).length - read.length;
  const numbered = read.map((line, index) => ({ line, number: unread + index + 1 }));
  return numbered.toReversed().flatMap(({ line, number }) => {
    const marked = trim(line);
    if (marked === "") return [];
    const place = { body, line: number, message: null, excerpt: cut(marked) };
    if (!isMarked(marked)) return { ...place, rank: "any" };
    if (!marked.endsWith(":")) return { ...place, rank: "marked" };
    const isOfTrace = marked.toLowerCase().includes("traceback");
    const message = numbered.find(
      (below) =>
        below.number > number && trim(below.line) !== "" && !(isOfTrace && below.line.startsWith(" ")),
    );
    if (message === undefined) return { ...place, rank: "announced nothing" };
    const excerpt = cut(`${marked} ${trim(message.line)}`);
    return { ...place, message: message.number, excerpt, rank: "marked" };
  });
}

const lastOf = (text: string, characters: number): string =>
  characters === 0 ? "" : [...text].slice(-characters).join("");
const cut = (line: string): string => [...line].slice(0, LINE_CHARACTERS).join("");
const trim = (line: string): string => line.replace(/^ +| +$/g, "");

function toPlain(line: string): string {
  return line.replace(ANSI_SEQUENCE, "").replace(/\p{Cc}+/gu, " ");
}

function isMarked(line: string): boolean {
  const lower = line.toLowerCase();
  return MARKERS.some((marker) => lower.includes(marker));
}

const FILE = "[\\w.@+%~-]+";
const DATE = /\b\d{4}-\d\d-\d\d([Tt ]\d\d:\d\d(:\d\d([.,]\d+)?)?([Zz]|[+-]\d\d:?\d\d)?)?/g;
const TIME = /(?<![:\w])\d{1,2}:\d\d(:\d\d([.,]\d+)?)?(?!\w)/g;
const UUID = /\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi;
const HASH = /\b(0x[0-9a-f]+|(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,})\b/gi;
const ABSOLUTE = new RegExp(`^(~|\\.{1,2})?(/${FILE})+/?`);
const DEEP = new RegExp(`^${FILE}((/${FILE}){2,}/?|/[\\w@+%~-]*\\.[a-zA-Z]\\w*)`);
const NUMBER = /(?<![\w./=~<>!@'"`-])\d+(,\d+)*(\.\d+)?(?=([kmg]i?b|m?s|%)?([^\w.]|\.\D|\.?$))/gi;
const FILE_LINE = /(?<![\w/.@+-])\w[\w+-]*(\.[\w+-]+)*\.[a-z_]\w*(?=:\d)/gi;

export function maskPlaces(line: string): string {
  const undated = line.replace(UUID, "‹hash›").replace(DATE, "‹date›").replace(TIME, "‹date›");
  return maskFolders(undated)
    .replace(FILE_LINE, "‹path›")
    .replace(HASH, "‹hash›")
    .replace(NUMBER, "‹number›")
    .replace(/\s+/g, " ")
    .trim()
    .replace(/‹path›(,? (and |or )?‹path›)+/g, "‹path›")
    .replace(/‹number›(,? (and |or )?‹number›)+/g, "‹number›");
}

/** Each place at which a path may begin is looked at, from left to right. */
function maskFolders(line: string): string {
  let masked = "";
  for (let at = 0; at < line.length; ) {
    const before = line[at - 1] ?? " ";
    const rest = line.slice(at);
    const path = /[\w/.@+%~<-]/.test(before)
      ? null
      : (ABSOLUTE.exec(rest) ?? (before === ":" ? null : DEEP.exec(rest)));
    masked += path === null ? line[at] : "‹path›";
    at += path?.[0].length ?? 1;
  }
  return masked;
}
