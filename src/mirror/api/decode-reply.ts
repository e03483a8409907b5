import { isUtf8 } from "node:buffer";
import { charsetIn, charsetNamed, decodeCharset } from "./charset.ts";

export interface DecodedReply {
  text: string;
  /** Null when all bytes fit. Else the text with U+FFFD for the others alone: `?` is each that was sent. */
  damaged: string | null;
}

/**
 * The charset of a reply, as the Encoding Standard names it, such as "windows-1252" for ISO-8859-1. JSON without one
 * is UTF-8. `unknown` is a declared charset that nobody knows; UTF-8 takes its place.
 */
export function charsetOf(contentType: string | undefined): { name: string; unknown: string | null } {
  const label = charsetIn(contentType ?? "");
  if (label === undefined || /^utf-?8$/i.test(label)) return { name: "utf-8", unknown: null };
  const name = charsetNamed(label);
  return { name: name ?? "utf-8", unknown: name === null ? label : null };
}

/** Decodes a body. A byte order mark is left out. Bytes that do not fit become U+FFFD. Takes linear time. */
export function decodeReply(body: Buffer, charset: string): DecodedReply {
  if (charset !== "utf-8" && !(charset === NEVER_FAILING && isUtf8(body))) return decodeOther(body, charset);
  const text = withoutMark(body.toString("utf8"));
  if (!text.includes("\uFFFD") || isUtf8(body)) return { text, damaged: null };
  const copy = Buffer.from(body);
  // U+FFFD in UTF-8. Its first byte is never the middle of another character.
  for (let at = copy.indexOf(REPLACEMENT); at >= 0; at = copy.indexOf(REPLACEMENT, at + 3))
    copy.fill("?", at, at + 3);
  return { text, damaged: withoutEscapes(withoutMark(copy.toString("utf8"))) };
}

/**
 * All bytes fit it, so a wrong declaration would never be seen. It is a default of servers, while JSON is UTF-8
 * (RFC 8259). Accented text in it is hardly ever UTF-8 by accident.
 */
const NEVER_FAILING = "windows-1252";

const REPLACEMENT = Buffer.from("\uFFFD");

function decodeOther(body: Buffer, charset: string): DecodedReply {
  try {
    return { text: decodeCharset(body, charset, { fatal: true }), damaged: null };
  } catch {
    const text = decodeCharset(body, charset);
    return { text, damaged: withoutEscapes(text) };
  }
}

function withoutMark(text: string): string {
  return text.startsWith("\uFEFF") ? text.slice(1) : text;
}

/** An escape is a character that was sent. A backslash that is escaped itself begins none. */
function withoutEscapes(text: string): string {
  return text.replace(/\\(?:\\|ufffd)/gi, (found) => (found === "\\\\" ? found : "?"));
}
