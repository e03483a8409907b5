import { isUtf8 } from "node:buffer";
import { parseJson } from "../../resources/parse-json.ts";

/** More than the `meta` of any page takes, and what may stand behind its records. */
const MOST_HEAD = 4096;
const MOST_TAIL = 64;

const SPACE = "[ \\t\\n\\r]*";
const HEAD = new RegExp(
  `^${["\\{", '"meta"', ":", "(\\{[^{}]*\\})", ",", '"objects"', ":"].map((part) => SPACE + part).join("")}${SPACE}(?=\\[)`,
);
const TAIL = /\]([ \t\n\r]*\}[ \t\n\r]*)$/;

/** A reply as `{"meta": …, "objects": […]}`, with the bytes of its `objects` as they came. */
export type SplitReply = { meta: unknown; objects: Buffer[] };

/**
 * Splits a reply in UTF-8 into its `meta` and its `objects`. Null for any other form, such as another order of the keys.
 * Nothing looks whether `objects` is JSON. If it is, the whole reply is, and has these two members and no others: what
 * stands around them is matched to the last character, and `meta` is JSON by itself.
 */
export function splitReply(pieces: readonly Buffer[]): SplitReply | null {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const head = HEAD.exec(textOf(pieces, 0, Math.min(length, MOST_HEAD)));
  const tail = TAIL.exec(textOf(pieces, Math.max(0, length - MOST_TAIL), length));
  if (!head?.[1] || tail?.[1] === undefined) return null;
  const meta = Buffer.from(head[1], "latin1");
  if (!isUtf8(meta)) return null;
  try {
    return {
      meta: parseJson(meta.toString("utf8")),
      objects: cut(pieces, head[0].length, length - tail[1].length),
    };
  } catch {
    return null;
  }
}

function textOf(pieces: readonly Buffer[], from: number, end: number): string {
  return cut(pieces, from, end)
    .map((piece) => piece.toString("latin1"))
    .join("");
}

function cut(pieces: readonly Buffer[], from: number, end: number): Buffer[] {
  const parts: Buffer[] = [];
  let at = 0;
  for (const piece of pieces) {
    const part = piece.subarray(Math.max(0, from - at), Math.max(0, end - at));
    if (part.length > 0) parts.push(part);
    at += piece.length;
  }
  return parts;
}
