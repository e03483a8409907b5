/**
 * JSON, and the three numbers that Python writes although JSON does not have them: `NaN`, `Infinity` and
 * `-Infinity`. A record with one of them must not cost its page. So such a text is read as Python reads it, and
 * every list and object that holds one is marked, at any depth. Where it is asked for, a number that JavaScript would
 * change, as one beyond 2^53, is kept as it was sent.
 */
import { randomUUID } from "node:crypto";

const FOREIGN_NUMBER = Symbol("a number that JSON does not have");

/** A text with more of them is no JSON: a page has a thousand records. It bounds the memory. */
const MAX_FOREIGN_NUMBERS = 100_000;

/** The values of the tokens, by the character that stands for each while the rest is parsed. */
const VALUES: Readonly<Record<string, number>> = {
  N: Number.NaN,
  I: Number.POSITIVE_INFINITY,
  M: Number.NEGATIVE_INFINITY,
};

/** A number that JavaScript would change. Only `toJson` and `jsonText` write it. */
export class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toJSON(): string {
    return MARK + this.text;
  }
}

/** Nobody can put it into a body on purpose. */
const MARK = randomUUID().slice(-12);
const MARKED = new RegExp(`"${MARK}([-+.\\deE]+)"`, "g");

/** Writes JSON, and each exact number as it was sent. */
export function toJson(value: unknown): string {
  const json = JSON.stringify(value);
  return json?.includes(MARK) ? json.replace(MARKED, "$1") : json;
}

/** Finds a page that may hold a number that JavaScript would change: one with 16 digits, or a large exponent. */
const MAY_CHANGE = /(?:^|[:,[\s])-?\d(?:[\d.]{15}|[\d.]*[eE][-+]?\d{3})/;
/** Postgres writes all places of a number. One with more of them is read as JavaScript reads it. */
const MAX_PLACES = 1000;

/**
 * Parses JSON and these three numbers. Throws a SyntaxError for anything else. Takes linear time. `isExact`: numbers that
 * JavaScript would change become `ExactNumber`. It takes longer for a text that may hold one, and no longer for others.
 */
export function parseJson(text: string, { isExact = false } = {}): unknown {
  const mayChange = isExact && MAY_CHANGE.test(text);
  try {
    if (!mayChange) return JSON.parse(text);
  } catch {
    // It may hold one of the three.
  }
  const replaced = replaceNumbers(text, mayChange);
  return replaced === null ? JSON.parse(text) : restoreNumbers(JSON.parse(replaced));
}

/** JavaScript would change the number that a text spells. */
function isChanged(text: string): boolean {
  const [sent, read] = [digitsOf(text), digitsOf(String(Number(text)))];
  return (
    sent !== null &&
    Math.abs(sent.exponent) + sent.digits.length <= MAX_PLACES &&
    (sent.digits !== read?.digits || sent.exponent !== read.exponent)
  );
}

/** The digits of a number without zeros at both ends, and the power of ten for the last one. Null for no number. */
function digitsOf(text: string): { digits: string; exponent: number } | null {
  const [, whole, fraction = "", power = 0] =
    /^-?(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(text) ?? [];
  if (whole === undefined) return null;
  const all = (whole + fraction).replace(/^0+/, "");
  const digits = all.replace(/0+$/, "");
  const exponent = Number(power) - fraction.length + all.length - digits.length;
  return { digits, exponent: digits === "" ? 0 : exponent };
}

/**
 * The first number in a list or object, at any depth, that JSON does not have, such as "NaN"; null when there is
 * none. Knows only what `parseJson` read.
 */
export function foreignNumberIn(value: unknown): string | null {
  if (typeof value !== "object" || value === null) return null;
  return (value as { [FOREIGN_NUMBER]?: string })[FOREIGN_NUMBER] ?? null;
}

/** The text with a string in the place of each such number. Null when it has none outside its strings. */
function replaceNumbers(text: string, isExact: boolean): string | null {
  const pieces: string[] = [];
  const start = isExact ? /["NI]|-?\d[-+.\deE]*/g : /["NI]/g;
  let done = 0;
  for (let found = start.exec(text); found; found = start.exec(text)) {
    const at = found.index;
    if (found[0] === '"') {
      start.lastIndex = endOfString(text, at);
      continue;
    }
    if (!/[NI]/.test(found[0])) {
      if (!isChanged(found[0])) continue;
      pieces.push(text.slice(done, at), `"${MARK}${found[0]}"`);
      done = start.lastIndex;
      if (pieces.length > 2 * MAX_FOREIGN_NUMBERS) return null;
      continue;
    }
    const token = found[0] === "N" ? "NaN" : "Infinity";
    if (!text.startsWith(token, at) || pieces.length >= 2 * MAX_FOREIGN_NUMBERS) return null;
    const isNegative = token === "Infinity" && at > done && text[at - 1] === "-";
    const key = isNegative ? "M" : token[0];
    pieces.push(text.slice(done, isNegative ? at - 1 : at), `"${MARK}${key}"`);
    done = at + token.length;
    start.lastIndex = done;
  }
  return pieces.length === 0 ? null : [...pieces, text.slice(done)].join("");
}

/** The place behind a string that begins at `from`. */
function endOfString(text: string, from: number): number {
  for (let end = text.indexOf('"', from + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text[end - 1 - escapes] === "\\") escapes += 1;
    if (escapes % 2 === 0) return end + 1;
  }
  return text.length;
}

/** Puts the numbers back. */
function restoreNumbers(root: unknown): unknown {
  const top = [root];
  for (const { holder, key, around } of membersOf(top)) {
    if (typeof key === "string" && key.startsWith(MARK)) throw new SyntaxError("a number is no key");
    const value = holder[key];
    if (typeof value !== "string" || !value.startsWith(MARK)) continue;
    const token = value.slice(MARK.length);
    const number = VALUES[token];
    holder[key] = number ?? new ExactNumber(token);
    if (number !== undefined) markHolders(around, String(number));
  }
  return top[0];
}

/** Each list and object around a number keeps its first one. The mark is none of its own keys, so that nobody stores or prints it. */
function markHolders(around: readonly Open[], token: string): void {
  const marked = around.findLastIndex(({ holder }) => foreignNumberIn(holder) !== null);
  for (const { holder } of around.slice(marked + 1))
    Object.defineProperty(holder, FOREIGN_NUMBER, { value: token });
}

interface Open {
  holder: Record<string | number, unknown>;
  keys: Iterator<string | number>;
}

/**
 * Each member of a list or object, at any depth, in its order. `around` are the lists and objects that hold it, the innermost
 * last. It does not recurse, so deep nesting is safe.
 */
function* membersOf(root: object) {
  const around: Open[] = [];
  const enter = (value: object) => {
    const keys = Array.isArray(value) ? value.keys() : Object.keys(value).values();
    around.push({ holder: value as Open["holder"], keys });
  };
  enter(root);
  for (let inner = around.at(-1); inner; inner = around.at(-1)) {
    const { holder, keys } = inner;
    const { done, value: key } = keys.next();
    if (done) {
      around.pop();
      continue;
    }
    yield { holder, key, around };
    const value = holder[key];
    if (typeof value === "object" && value !== null) enter(value);
  }
}

/** Records of a reply with bytes that do not fit its charset: the characters in their place are U+FFFD. */

const DAMAGED = Symbol("holds U+FFFD in the place of bytes that do not fit");

/**
 * Marks the records of a reply that hold such characters. `damaged` is the same reply, in which no other U+FFFD is
 * left. A reply without `objects` is one record.
 */
export function markDamaged(reply: unknown, damaged: unknown): void {
  const [records, copies] = [recordsOf(reply), recordsOf(damaged)];
  for (const [place, record] of records.entries()) {
    if (typeof record !== "object" || record === null || !holdsReplacement(copies[place])) continue;
    // None of its own keys, so that nobody stores or prints it.
    Object.defineProperty(record, DAMAGED, { value: true });
  }
}

/** The record holds characters in the place of bytes that did not fit the charset of its reply. */
export function isDamaged(record: unknown): boolean {
  return typeof record === "object" && record !== null && DAMAGED in record;
}

function recordsOf(reply: unknown): readonly unknown[] {
  const objects = (reply as { objects?: unknown } | null)?.objects;
  return Array.isArray(objects) ? objects : [reply];
}

function holdsReplacement(copy: unknown): boolean {
  for (const { holder, key } of membersOf([copy]))
    if ([key, holder[key]].some((text) => typeof text === "string" && text.includes("\uFFFD"))) return true;
  return false;
}

/** A JSON object, neither an array nor null. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
