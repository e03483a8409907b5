/**
 * JSON, and the three numbers that Python writes although JSON does not have them: `NaN`, `Infinity` and
 * `-Infinity`. A record with one of them must not cost its page. So such a text is read as Python reads it, and
 * every list and object that holds one is marked, at any depth.
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

/** Parses JSON and these three numbers. Throws a SyntaxError for anything else. Takes linear time. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // Nobody can put it into a body on purpose.
    const mark = randomUUID().slice(-12);
    const replaced = replaceForeignNumbers(text, mark);
    if (replaced === null) throw error;
    return restoreForeignNumbers(JSON.parse(replaced), mark);
  }
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
function replaceForeignNumbers(text: string, mark: string): string | null {
  const pieces: string[] = [];
  const start = /["NI]/g;
  let done = 0;
  for (let found = start.exec(text); found; found = start.exec(text)) {
    const at = found.index;
    if (found[0] === '"') {
      start.lastIndex = endOfString(text, at);
      continue;
    }
    const token = found[0] === "N" ? "NaN" : "Infinity";
    if (!text.startsWith(token, at) || pieces.length >= 2 * MAX_FOREIGN_NUMBERS) return null;
    const isNegative = token === "Infinity" && at > done && text[at - 1] === "-";
    const key = isNegative ? "M" : token[0];
    pieces.push(text.slice(done, isNegative ? at - 1 : at), `"${mark}${key}"`);
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

/** Puts the numbers back. It does not recurse, so deep nesting is safe. */
function restoreForeignNumbers(root: unknown, mark: string): unknown {
  const top = [root];
  const open: { holder: unknown[] | Record<string, unknown>; members: Iterator<string | number> }[] = [];
  const enter = (holder: object) => {
    const members = Array.isArray(holder) ? holder.keys() : Object.keys(holder).values();
    open.push({ holder: holder as Record<string, unknown>, members });
  };
  enter(top);
  for (let inner = open.at(-1); inner; inner = open.at(-1)) {
    const holder = inner.holder as Record<string | number, unknown>;
    const { done, value: key } = inner.members.next();
    if (done) {
      open.pop();
      const token = foreignNumberIn(holder);
      const outer = open.at(-1);
      if (token !== null && outer) markHolder(outer.holder, token);
      continue;
    }
    if (typeof key === "string" && key.startsWith(mark)) throw new SyntaxError("a number is no key");
    const value = holder[key];
    if (typeof value === "string" && value.startsWith(mark)) {
      const number = VALUES[value.slice(mark.length)];
      holder[key] = number;
      markHolder(holder, String(number));
    } else if (typeof value === "object" && value !== null) enter(value);
  }
  return top[0];
}

/** The mark is none of the value's own keys, so that nobody stores or prints it. */
function markHolder(holder: object, token: string): void {
  if (foreignNumberIn(holder) === null) Object.defineProperty(holder, FOREIGN_NUMBER, { value: token });
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

/** Whether a record holds characters in the place of bytes that did not fit the charset of its reply. */
export function isDamaged(record: unknown): boolean {
  return typeof record === "object" && record !== null && DAMAGED in record;
}

function recordsOf(reply: unknown): readonly unknown[] {
  const objects = (reply as { objects?: unknown } | null)?.objects;
  return Array.isArray(objects) ? objects : [reply];
}

/** It does not recurse, so deep nesting is safe. */
function holdsReplacement(value: unknown): boolean {
  const open: Iterator<unknown>[] = [[value].values()];
  for (let inner = open.at(-1); inner; inner = open.at(-1)) {
    const { done, value: one } = inner.next();
    if (done) open.pop();
    else if (typeof one === "string" && one.includes("\uFFFD")) return true;
    else if (Array.isArray(one)) open.push(one.values());
    else if (typeof one === "object" && one !== null) {
      if (Object.keys(one).some((key) => key.includes("\uFFFD"))) return true;
      open.push(Object.values(one).values());
    }
  }
  return false;
}

/** Whether a value is a JSON object, neither an array nor null. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
